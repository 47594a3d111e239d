import ArgumentParser
import Foundation
import Recollect
import RecollectTranscripts

/// Imports and indexes a folder of Claude Code transcripts, in alternating whole processes: Recollect, and Python with `json.loads`
/// and `executemany` of the same rows into the same tables and FTS5 index.
func importLines(folder transcripts: String?, runs: Int) async throws -> [Line] {
    let work =
        "import of a folder of Claude Code transcripts with search index, whole processes; the baseline is Python"
    guard let transcripts else {
        return [
            Line(
                work: work, ours: "skipped: no folder given (`--transcripts`, `RECOLLECT_SHARED_DATA`)", target: "≥ 1")
        ]
    }
    let folder = try Folder()
    var (ours, baseline) = (Samples(), Samples())
    var peak = 0
    for run in 0..<runs {
        let mine = try ChildProcess.run(
            CommandLine.arguments[0], ["import-once", transcripts, folder.path("ours \(run)")])
        let tables = folder.url.appendingPathComponent("baseline \(run)")
        try await SQLiteHistoryStore(directory: tables).indexed()
        let theirs = try ChildProcess.run(
            "python3", [script, transcripts, tables.appendingPathComponent("history.sqlite").path])
        ours.add(mine.nanoseconds)
        baseline.add(theirs.nanoseconds)
        let reported = mine.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        let expected = Int(theirs.output.trimmingCharacters(in: .whitespacesAndNewlines))
        guard reported.count == 2, reported[0] == expected else {
            throw ChildProcess.Failure(description: "not the same messages: \(mine.output) instead of \(theirs.output)")
        }
        peak = max(peak, reported[1])
    }
    let ratio = Samples.ratio(baseline, ours, stretches: runs)
    return [
        Line(
            work: work, ours: Line.text(ours.median), worst: Line.text(ours.worst),
            baseline: Line.text(baseline.median),
            ratio: ratio, target: "≥ 1", isMet: ratio >= 1),
        Line(
            work: "the same, peak resident memory", ours: megabytes(peak), target: "≤ 150 MB",
            isMet: peak <= 150 << 20),
    ]
}

private let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../import_baseline.py").standardizedFileURL.path

/// One import, for a process of its own.
struct ImportOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-once", abstract: "Imports, indexes, and prints how many messages, and the memory's peak.",
        shouldDisplay: false)

    @Argument var transcripts: String
    @Argument var store: String

    func run() async throws {
        let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: store))
        let report = try await TranscriptImporter(history: history, userId: "bench").run([transcripts])
        try await history.indexed()
        print(report.addedCount, ChildProcess.peakMemory)
    }
}

extension SQLiteHistoryStore {
    /// Creates the database and indexes the missing messages, like the first search.
    fileprivate func indexed() async throws {
        _ = try await search(SearchQuery(userId: "bench", text: "anything"))
    }
}
