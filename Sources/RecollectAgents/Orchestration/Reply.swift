import Foundation
import RecollectCore

/// A reply as it comes: what the agent's events add up to, kept while it streams.
///
/// Used by its turn alone, one call at a time.
final class Reply {
    private let draft: ReplyDraft
    private var thinking = ""
    private var whole: ConversationMessage?

    /// A reply of which nothing has come yet.
    init(_ draft: ReplyDraft) {
        self.draft = draft
    }

    /// The id of the message that it becomes.
    var id: String { draft.id }

    /// Takes what an agent tells; returns whether it is to be told on.
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
            thinking += text
        case .textDelta(let text):
            streaming { draft.append(text) }
        case .toolCall(let id, let name, let arguments):
            streaming { draft.append(.toolCall(id: id, name: name, arguments: arguments)) }
        case .toolResult(let id, let content):
            streaming { draft.append(.toolResult(id: id, content: content)) }
        }
        return whole == nil
    }

    private func streaming(_ add: () -> Void) {
        guard whole == nil else { return }
        closeThinking()
        add()
    }

    /// Pieces of reasoning are one part, as long as nothing else comes between.
    private func closeThinking() {
        guard !thinking.isEmpty else { return }
        draft.append(.thinking(thinking, signature: nil))
        thinking = ""
    }

    /// Saves the reply: what the agent said it is, else what its pieces add up to. Gives it as it was saved.
    func finish() async throws -> ConversationMessage {
        try await end { pieces in whole.map { message(of: $0, pieces: pieces) } ?? pieces }
    }

    /// Saves the reply as far as it has come. One that had already been told whole is whole.
    func interrupt() async throws -> ConversationMessage {
        guard whole == nil else { return try await finish() }
        return try await end(\.asInterrupted)
    }

    /// Ends the reply with what `last` makes of its pieces.
    private func end(_ last: (ConversationMessage) -> ConversationMessage) async throws -> ConversationMessage {
        closeThinking()
        try await draft.finish(last(draft.message))
        return draft.message
    }

    /// The agent's own message of the reply, under the reply's id. An agent may leave the parts to the pieces.
    private func message(of whole: ConversationMessage, pieces: ConversationMessage) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: whole.parts.isEmpty ? pieces.parts : whole.parts,
            timestamp: pieces.timestamp, metadata: whole.metadata, unknownFields: whole.unknownFields)
    }
}
