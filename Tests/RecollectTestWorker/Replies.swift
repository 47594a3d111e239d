import Foundation
import RecollectCore
import RecollectSQLite

private let scope = Scope(userId: "u", sessionId: "s", agentId: "a")

/// `stream FOLDER ID THOUGHTS`: streams a reply forever, a piece every 10 ms, and prints after each the time of its
/// append, in milliseconds since 1970. The pieces are these numbers. Each THOUGHTS-th piece is thinking, and the others
/// are text; if THOUGHTS is 0, all are text.
func stream(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: arguments[0]))
    let reply = try await history.beginReply(
        ConversationMessage(id: arguments[1], role: .assistant, text: ""), in: scope)
    let thoughts = Int(arguments[2]) ?? 0
    for count in 1... {
        let now = String(Int(Date().timeIntervalSince1970 * 1000))
        let isThought = thoughts > 0 && count.isMultiple(of: thoughts)
        reply.append(isThought ? .thinking(now, signature: nil) : .text(now + " "))
        say(now)
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// `reply FOLDER ID COUNT`: begins replies with IDs `ID0`, `ID1`, …, prints `kept` once the text of each is saved, and
/// runs until it is killed.
func reply(_ arguments: [String]) async throws {
    // No background work, because a stopped worker must not hold the database.
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    let text = "as far as it came"
    var replies: [StreamingReply] = []
    for number in 0..<(Int(arguments[2]) ?? 0) {
        let message = ConversationMessage(id: "\(arguments[1])\(number)", role: .assistant, text: "")
        replies.append(try await history.beginReply(message, in: scope))
    }
    for reply in replies { reply.append(text) }
    while try await history.streamingReplies(in: scope.session).contains(where: { $0.message.text != text }) {
        try await Task.sleep(for: .milliseconds(20))
    }
    say("kept")
    while true { try await Task.sleep(for: .seconds(3600)) }
}

/// `recover FOLDER`: opens the history, checks for streaming replies, and prints the IDs of those saved as interrupted.
func recover(_ arguments: [String]) async throws {
    let history = try await SQLiteHistoryStore(directory: URL(fileURLWithPath: arguments[0])).open()
    _ = try await history.streamingReplies(in: scope.session)
    for event in history.events.takeUndelivered() where event.kind == .interruptedReply {
        say(event.messageId ?? "")
    }
}
