import Foundation
import RecollectCore

/// A reply as it comes: what the agent's events add up to, kept while it streams.
///
/// Used by its turn alone, one call at a time.
final class Reply {
    /// The id of the message that it becomes.
    let id: String

    private let beginning: ConversationMessage
    private let memory: AgentMemory
    private var draft: ReplyDraft?
    private var thinking = ""
    private var whole: ConversationMessage?

    /// A reply of which nothing has come yet. It is said after what it answers, whatever the clock says.
    init(to input: AgentInput, in memory: AgentMemory) {
        id = UUID().uuidString
        beginning = ConversationMessage(
            id: id, role: .assistant, parts: [], timestamp: max(Date(), input.message.timestamp))
        self.memory = memory
    }

    /// Takes what an agent tells; returns whether it is to be told on.
    func take(_ event: AgentEvent) async throws -> Bool {
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
            await streaming { $0.append(text) }
        case .toolCall(let id, let name, let arguments):
            await streaming { $0.append(.toolCall(id: id, name: name, arguments: arguments)) }
        case .toolResult(let id, let content):
            await streaming { $0.append(.toolResult(id: id, content: content)) }
        }
        return whole == nil
    }

    private func streaming(_ add: (ReplyDraft) -> Void) async {
        guard whole == nil else { return }
        let draft = await begun()
        closeThinking(in: draft)
        add(draft)
    }

    private func begun() async -> ReplyDraft {
        if let draft { return draft }
        let draft = await memory.beginReply(beginning)
        self.draft = draft
        return draft
    }

    /// Pieces of reasoning are one part, as long as nothing else comes between.
    private func closeThinking(in draft: ReplyDraft) {
        if let part = takeThinking() { draft.append(part) }
    }

    private func takeThinking() -> ContentPart? {
        guard !thinking.isEmpty else { return nil }
        defer { thinking = "" }
        return .thinking(thinking, signature: nil)
    }

    /// Saves the reply: what the agent said it is, else what its pieces add up to. Gives it as it was saved.
    func finish() async throws -> ConversationMessage {
        try await end { pieces in whole.map { message(of: $0, pieces: pieces.parts) } ?? pieces }
    }

    /// Saves the reply as far as it has come. One that had already been told whole is whole.
    func interrupt() async throws -> ConversationMessage {
        guard whole == nil else { return try await finish() }
        return try await end(\.asInterrupted)
    }

    /// Ends the reply with what `last` makes of its pieces.
    private func end(_ last: (ConversationMessage) -> ConversationMessage) async throws -> ConversationMessage {
        if let draft {
            closeThinking(in: draft)
            try await draft.finish(last(draft.message))
            return draft.message
        }
        // Nothing was kept meanwhile: it is saved as the question was.
        var pieces = beginning
        if let part = takeThinking() { pieces.parts.append(part) }
        var message = last(pieces)
        message.isInFlight = false
        try await memory.saveReply(message)
        return message
    }

    /// The agent's own message of the reply, under the reply's id. An agent may leave the parts to the pieces.
    private func message(of whole: ConversationMessage, pieces: [ContentPart]) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: whole.parts.isEmpty ? pieces : whole.parts, timestamp: beginning.timestamp,
            metadata: whole.metadata, unknownFields: whole.unknownFields)
    }
}
