import Foundation
import Recollect

/// Saves and loads one chat with Recollect and with libraries for agents in Python, in alternating processes. A library
/// is skipped if it is not installed for `python3`, or for the program named by `RECOLLECT_PEERS`.
func peerLines(turns: Int, rounds: Int) async throws -> [Line] {
    var lines: [Line] = []
    for library in ["openai-agents", "google-adk", "langgraph"] {
        lines += try await peerLines(library, turns: turns, rounds: rounds)
    }
    return lines
}

private func peerLines(_ library: String, turns: Int, rounds: Int) async throws -> [Line] {
    var (ours, theirs) = (PeerTimes(), PeerTimes())
    for _ in 0..<rounds {
        let folder = try Folder()
        let python = ProcessInfo.processInfo.environment["RECOLLECT_PEERS"] ?? "python3"
        let output: String
        do {
            output = try ChildProcess.run(
                python, [script, library, folder.url.path, "\(turns)", Turn.question, Turn.answer]
            ).output
        } catch {
            return [Line(work: "a chat in \(library)", ours: "skipped: it does not run (\(error))")]
        }
        // The program may print warnings first.
        theirs.add(
            try JSONDecoder().decode(PeerTimes.self, from: Data((output.split(separator: "\n").last ?? "").utf8)))
        ours.add(try await times(turns: turns))
    }
    func line(_ work: String, _ times: KeyPath<PeerTimes, [UInt64]>) -> Line {
        let (ours, theirs) = (Samples(ours[keyPath: times]), Samples(theirs[keyPath: times]))
        return Line(
            work: work, ours: Line.text(ours.median), worst: Line.text(ours.worst), baseline: Line.text(theirs.median),
            ratio: Samples.ratio(ours, theirs, stretches: rounds))
    }
    return [
        line("save a 2-message turn, of \(turns), compared with \(library)", \.save),
        line("load the last 100 of \(2 * turns) messages, compared with \(library)", \.load),
    ]
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

private func times(turns: Int) async throws -> PeerTimes {
    let folder = try Folder()
    let history = SQLiteHistoryStore(directory: folder.url)
    let store = DeviceChatStorage(history: history, userId: "bench")
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
    await history.close()
    return times
}

private let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../peers.py").standardizedFileURL.path
