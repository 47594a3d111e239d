import Foundation
import RecollectCore

/// A reply assembled from an agent's events, and saved while it streams.
///
/// Used only by its turn, one call at a time.
final class Reply {
    private let reply: StreamingReply
    private var whole: ConversationMessage?

    /// Creates an empty reply.
    init(_ reply: StreamingReply) {
        self.reply = reply
    }

    /// The ID of the reply's message.
    var id: String { reply.id }

    /// Adds an agent's event to the reply. Returns whether the turn forwards the event.
    func take(_ event: AgentEvent) -> Bool {
        switch event {
        case .began:
            return false
        case .final(let message):
            whole = message
            return false
        case .error:
            return true
        case .thinking(let text):
            streaming { reply.append(thinking: text) }
        case .textDelta(let text):
            streaming { reply.append(text) }
        case .toolCall(let id, let name, let arguments):
            streaming { reply.append(.toolCall(id: id, name: name, arguments: arguments.fromOutside)) }
        case .toolResult(let id, let content):
            streaming { reply.append(.toolResult(id: id, content: content.fromOutside)) }
        }
        return whole == nil
    }

    private func streaming(_ add: () -> Void) {
        if whole == nil { add() }
    }

    /// Saves the reply and returns it as saved: the agent's `final` message, otherwise the streamed parts.
    func finish() async throws -> ConversationMessage {
        try await end { pieces in whole.map { message(of: $0, pieces: pieces) } ?? pieces }
    }

    /// Saves the reply as far as it was received, marked as interrupted. After the agent's `final`, saves the
    /// complete reply instead.
    func interrupt() async throws -> ConversationMessage {
        guard whole == nil else { return try await finish() }
        return try await end(\.asInterrupted)
    }

    /// Ends the reply with the message returned by `last` for the streamed parts.
    private func end(_ last: (ConversationMessage) -> ConversationMessage) async throws -> ConversationMessage {
        try await reply.finish(last(reply.message))
        return reply.message
    }

    /// Returns the agent's `final` message under the reply's ID. If it has no parts, the streamed parts are used.
    private func message(of whole: ConversationMessage, pieces: ConversationMessage) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: whole.parts.isEmpty ? pieces.parts : whole.parts,
            timestamp: pieces.timestamp, metadata: whole.metadata, unknownFields: whole.unknownFields)
    }
}
