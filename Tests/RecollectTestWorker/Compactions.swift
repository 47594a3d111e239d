import RecollectCore

/// `compact STORE AGENT WRITER COUNT`: compacts the first turn not covered of user `u`, session `s`, again and again, and
/// prints `saved SUMMARY` after each compaction, and `done` without a turn left. Conflicts with other processes are tried
/// again.
func compact(_ arguments: [String]) async throws {
    let store = store(at: arguments[0], sameRole: .keep)
    for number in 0..<(Int(arguments[3]) ?? 0) {
        while true {
            let chat = try await store.compactedMessages(userId: "u", sessionId: "s", agentId: arguments[1])
            guard chat.messages.count >= 2 else { return say("done") }
            let summary = "\(arguments[2])-\(number)"
            do {
                try await store.compact(
                    Array(chat.messages.prefix(2)), into: summary, by: arguments[2], after: chat.compaction?.id,
                    userId: "u", sessionId: "s", agentId: arguments[1])
                say("saved \(summary)")
                break
            } catch let error as RecollectError where error.code == .conflict || error.code == .notFound {
                continue
            }
        }
    }
}
