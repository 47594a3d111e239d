import Foundation
import Recollect

/// The last 100 messages of a session of a million, through the chat storage and from a bare table of as many.
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
    var (ours, floor) = (Samples(), Samples())
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
        for _ in 0..<50 { floor.add(time { read.bytes += bare.readLast(session: "session") }) }
    }
    await history.close()
    precondition(read.messages == rounds * 50 * 100 && read.bytes > 0)
    return [Line("load the last 100 from a session of \(count) messages", ours, floor, stretches: rounds, atMost: 5)]
}
