import Foundation
import RecollectCore
import RecollectSQLite

private let scope = Scope(userId: "u", sessionId: "s", agentId: "a")

/// `stream FOLDER ID THOUGHTS`: streams a reply for ever, a piece every 10 ms, and says after each when it was appended, in
/// milliseconds since 1970. The pieces are these numbers; each THOUGHTS-th is a thought, the others are prose; none is where that is 0.
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

/// `reply FOLDER ID COUNT`: begins replies with ids `ID0`, `ID1`, …, says `kept` once what it said in each is kept, and goes on living
/// until it is killed.
func reply(_ arguments: [String]) async throws {
    // Nothing goes on in the background: a worker that is stopped must not hold the database just then.
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

/// `recover FOLDER`: opens the history, looks for replies in flight, and says the ids of those that it saved as interrupted.
func recover(_ arguments: [String]) async throws {
    let history = try await SQLiteHistoryStore(directory: URL(fileURLWithPath: arguments[0])).open()
    _ = try await history.streamingReplies(in: scope.session)
    for event in history.events.takeUndelivered() where event.kind == .interruptedReply {
        say(event.messageId ?? "")
    }
}
