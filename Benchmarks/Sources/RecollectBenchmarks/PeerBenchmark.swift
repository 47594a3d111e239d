import Foundation
import Recollect

/// Saves and loads one chat with Recollect and with libraries for agents in Python, in alternating processes. A library
/// is skipped if it is not installed for `python3`, or for the program named by `RECOLLECT_PEERS`.
func peerLines(turns: Int, rounds: Int) async throws -> [Line] {
    try await peerLines("", turns: turns, rounds: rounds) { body in
        let ours = try Folder()
        let theirs = try Folder()
        let history = SQLiteHistoryStore(directory: ours.url)
        try await body(history, theirs.url.path)
        await history.close()
    }
}

/// Compares with each library.
/// - Parameters:
///   - place: The name of the database in the table, with a space after it.
///   - prepare: Calls its argument with an empty history, and with an empty folder or database for the library.
func peerLines(
    _ place: String, turns: Int, rounds: Int,
    prepare: (_ body: (_ history: any HistoryStore, _ location: String) async throws -> Void) async throws -> Void
) async throws -> [Line] {
    var lines: [Line] = []
    for library in ["openai-agents", "google-adk", "langgraph"] {
        lines += try await peerLines(place, library, turns: turns, rounds: rounds, prepare: prepare)
    }
    return lines
}

private func peerLines(
    _ place: String, _ library: String, turns: Int, rounds: Int,
    prepare: (_ body: (any HistoryStore, String) async throws -> Void) async throws -> Void
) async throws -> [Line] {
    var (ours, theirs) = (PeerTimes(), PeerTimes())
    do {
        for _ in 0..<rounds {
            try await prepare { history, location in
                theirs.add(try peerTimes(library, location, turns: turns))
                ours.add(try await times(of: history, turns: turns))
            }
        }
    } catch let failure as ChildProcess.Failure {
        return [Line(work: "\(place)a chat in \(library)", ours: "skipped: it does not run (\(failure))")]
    }
    func line(_ work: String, _ times: KeyPath<PeerTimes, [UInt64]>) -> Line {
        let (ours, theirs) = (Samples(ours[keyPath: times]), Samples(theirs[keyPath: times]))
        return Line(
            work: place + work, ours: Line.text(ours.median), worst: Line.text(ours.worst),
            baseline: Line.text(theirs.median), ratio: Samples.ratio(ours, theirs, stretches: rounds))
    }
    return [
        line("save a 2-message turn, of \(turns), compared with \(library)", \.save),
        line("load the last 100 of \(2 * turns) messages, compared with \(library)", \.load),
    ]
}

/// Runs a library in a process of its own. The program may print warnings before its times.
private func peerTimes(_ library: String, _ location: String, turns: Int) throws -> PeerTimes {
    let python = ProcessInfo.processInfo.environment["RECOLLECT_PEERS"] ?? "python3"
    let output = try ChildProcess.run(
        python, [script, library, location, "\(turns)", Turn.question, Turn.answer]
    ).output
    return try JSONDecoder().decode(PeerTimes.self, from: Data((output.split(separator: "\n").last ?? "").utf8))
}

/// The times of one process or of several, in nanoseconds.
private struct PeerTimes: Decodable {
    var save: [UInt64] = []
    var load: [UInt64] = []

    mutating func add(_ other: PeerTimes) {
        save += other.save
        load += other.load
    }
}

private func times(of history: any HistoryStore, turns: Int) async throws -> PeerTimes {
    let store = HistoryChatStorage(history: history, userId: "bench")
    var times = PeerTimes()
    for turn in 0..<turns {
        let messages = Turn.messages(turn)
        times.save.append(
            try await time {
                try await store.saveMessages(
                    messages, userId: "bench", sessionId: "session", agentId: "agent", maxMessages: nil)
            })
    }
    for _ in 0..<20 {
        times.load.append(
            try await time {
                let loaded = try await store.fetch(
                    userId: "bench", sessionId: "session", agentId: "agent", maxMessages: 100)
                precondition(loaded.count == 100)
            })
    }
    return times
}

private let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../peers.py").standardizedFileURL.path
