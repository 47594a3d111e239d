import Foundation
import Recollect

/// The last 100 messages of a session of a million, by the chat storage and from a plain table of the same size.
func windowLines(messages count: Int, rounds: Int) async throws -> [Line] {
    let folder = try Folder()
    let configuration = HistoryConfiguration(durability: .relaxed, indexesInBackground: false)
    let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
    let scope = Scope(userId: "bench", sessionId: "session", agentId: "agent")
    for start in stride(from: 0, to: count / 2, by: 2500) {
        try await history.append((start..<min(count / 2, start + 2500)).flatMap(Turn.messages), to: scope)
    }
    let bare = try BareHistory(path: folder.path("bare.sqlite"), synchronous: "NORMAL")
    try bare.fill(session: "session", turns: count / 2)

    let store = DeviceChatStorage(history: history, userId: "bench")
    var (ours, baseline) = (Samples(), Samples())
    var read = (messages: 0, bytes: 0)
    for _ in 0..<rounds {
        for _ in 0..<50 {
            ours.add(
                try await time {
                    read.messages += try await store.fetch(
                        userId: "bench", sessionId: "session", agentId: "agent", maxMessages: 100
                    ).count
                })
        }
        for _ in 0..<50 { baseline.add(time { read.bytes += bare.readLast(session: "session") }) }
    }
    precondition(read.messages == rounds * 50 * 100 && read.bytes > 0)
    let warm = Line(
        "load the last 100 from a session of \(count) messages", ours, baseline, stretches: rounds, atMost: 2)
    // The log is moved into the database, so that each opening finds the same files.
    await history.close()
    return [warm]
        + (try await freshLines(folder.url, bare: folder.path("bare.sqlite"), messages: count, rounds: rounds))
}

/// The same with a handle opened and closed for it, and the first page of sessions with such a handle.
private func freshLines(
    _ folder: URL, bare path: String, messages count: Int, rounds: Int
) async throws -> [Line] {
    let configuration = HistoryConfiguration(durability: .relaxed, indexesInBackground: false)
    var (ours, baseline, page) = (Samples(), Samples(), Samples())
    var read = 0
    for _ in 0..<rounds {
        for _ in 0..<5 {
            let history = SQLiteHistoryStore(directory: folder, configuration: configuration)
            let store = DeviceChatStorage(history: history, userId: "bench")
            ours.add(
                try await time {
                    read += try await store.fetch(
                        userId: "bench", sessionId: "session", agentId: "agent", maxMessages: 100
                    ).count
                })
            await history.close()
        }
        for _ in 0..<5 {
            baseline.add(
                try time {
                    read += try BareHistory(path: path, synchronous: "NORMAL").readLast(session: "session") > 0 ? 1 : 0
                })
        }
        let history = SQLiteHistoryStore(directory: folder, configuration: configuration)
        page.add(
            try await time {
                read += try await history.sessions(of: "bench", page: PageRequest(limit: 50)).elements.count
            })
        await history.close()
    }
    precondition(read == rounds * (5 * 100 + 5 + 1))
    return [
        Line("the same with a newly opened handle", ours, baseline, stretches: rounds, atMost: 3),
        Line(
            work: "the first page of sessions with a newly opened handle, of \(count) messages",
            ours: Line.text(page.median), worst: Line.text(page.worst), target: "≤ 10 ms",
            isMet: page.median <= 10_000),
    ]
}
