import Foundation
import Recollect
import RecollectTranscripts

/// Searches of a list in real histories, by class: the number with a relevant message among the first five hits.
///
/// The list is `searches.json` beside the package. Its relevant messages were chosen before any search was run. The histories are
/// Claude Code transcripts in one history, and conversations of LoCoMo in one history each.
func listedSearchLines(folder: String?) async throws -> [Line] {
    let work = "searches of a list with a relevant message among the first five hits"
    guard let folder, FileManager.default.fileExists(atPath: folder + "/claude-code") else {
        return [
            Line(work: work, ours: "skipped: no folder with `claude-code` and `locomo` given (`RECOLLECT_SHARED_DATA`)")
        ]
    }
    let list = try JSONDecoder().decode([ListedSearch].self, from: Data(contentsOf: ListedSearch.file))
    let stores = try Folder()
    var histories: [String: SQLiteHistoryStore] = [:]
    let transcripts = SQLiteHistoryStore(directory: stores.url.appendingPathComponent("claude-code"))
    _ = try await TranscriptImporter(history: transcripts, userId: "bench").run([folder + "/claude-code"])
    histories["claude-code"] = transcripts
    for file in try Conversation.files(in: URL(fileURLWithPath: folder)) {
        let number = file.deletingPathExtension().lastPathComponent.suffix(2)
        let history = SQLiteHistoryStore(directory: stores.url.appendingPathComponent("locomo-\(number)"))
        try await JSONDecoder().decode(Conversation.self, from: Data(contentsOf: file)).save(in: history)
        histories["locomo-\(number)"] = history
    }
    var classes: [String: (right: Int, all: Int)] = [:]
    for search in list {
        guard let history = histories[search.corpus] else { continue }
        let hits = try await history.search(SearchQuery(userId: "bench", text: search.query, limit: 5)).elements
        let isRight = hits.contains { search.relevant.contains($0.messageId) }
        if !isRight, ProcessInfo.processInfo.environment["RECOLLECT_LIST_MISSES"] != nil {
            print("missed (\(search.class)): \(search.query)")
            for id in search.relevant {
                for session in try await history.sessions(SessionQuery(userId: "bench"), page: PageRequest(limit: 1000))
                    .elements
                {
                    if let message = try await history.message(id, in: session.id)?.message {
                        print("    wanted: \(message.text.prefix(160))")
                    }
                }
            }
            for hit in hits { print("    found: \(hit.snippet.text)") }
        }
        classes[search.class, default: (0, 0)].right += isRight ? 1 : 0
        classes[search.class, default: (0, 0)].all += 1
    }
    for history in histories.values { await history.close() }
    let (right, all) = classes.values.reduce((0, 0)) { ($0.0 + $1.right, $0.1 + $1.all) }
    let each = classes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.right)/\($0.value.all)" }
    return [
        Line(work: work, ours: "\(right)/\(all)", target: "≥ 92 %", isMet: 100 * right >= 92 * all),
        Line(work: "the same, by class", ours: each.joined(separator: "; ")),
    ]
}

/// A search of the list.
private struct ListedSearch: Decodable {
    let `class`: String
    let corpus: String
    let query: String
    let relevant: [String]

    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../searches.json").standardizedFileURL
}
