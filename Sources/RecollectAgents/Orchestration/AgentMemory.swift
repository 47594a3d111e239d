import Foundation
import RecollectCore

/// What is kept of one agent's part in a session, over any store; without a store, nothing.
struct AgentMemory: Sendable {
    let store: (any ChatStorage)?
    let scope: Scope
    let maxMessages: Int?
    /// Whether this agent's turns are kept.
    let isKept: Bool

    init(of agent: any AgentProtocol, id: String, in turn: Turn) {
        store = turn.store
        scope = turn.context.conversation.scope(agentId: id)
        maxMessages = turn.maxMessages
        isKept = agent.saveChat
    }

    // MARK: What was said

    /// What was said before. Replies whose process has ended are there as far as they had come.
    func history() async throws -> AgentPast {
        guard let store else { return AgentPast() }
        let messages = try await fetch(from: store)
        guard messages.last?.role == .user, let drafting = store as? any DraftingChatStorage else {
            return AgentPast(messages: messages)
        }
        // Who asked that may have ended in the middle of the reply, or be at it still.
        let replies = try await drafting.repliesInFlight(userId: scope.userId, sessionId: scope.sessionId)
        return AgentPast(
            messages: try await fetch(from: store),
            inFlight: Set(
                replies.filter { $0.agentId.hasSameBytes(as: scope.agentId) }.map { ByteString($0.message.id) }))
    }

    /// At least the last exchange, also where the agent is given nothing: a question without a reply must be seen.
    func fetch(from store: any ChatStorage) async throws -> [ConversationMessage] {
        try await fetch(from: store, last: maxMessages.map { max($0, 2) })
    }

    func fetch(from store: any ChatStorage, last count: Int?) async throws -> [ConversationMessage] {
        try await store.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: count)
    }

    // MARK: What is said now

    /// Saves the reply to a question, and trims to the budget.
    /// - Throws: `notKept` if the store drops it because somebody else's reply was saved meanwhile; what the store throws.
    func saveReply(_ message: ConversationMessage, to question: AskedQuestion) async throws {
        try await save(message, maxMessages: maxMessages)
        guard isKept, let store, question.isStored else { return }
        let tail = try await uncancelled { try await fetch(from: store, last: Self.tail) }
        // Nothing is left in a window without room. Right behind its question, a reply was left out on purpose.
        guard let last = tail.last, !last.id.hasSameBytes(as: question.message.id),
            !tail.contains(where: { $0.id.hasSameBytes(as: message.id) })
        else { return }
        throw RecollectError(
            .notKept,
            "the reply was not kept: another reply was saved in session \(scope.sessionId) at the same time; ask again, share one "
                + "orchestrator, or make the store with sameRole: .keep")
    }

    /// Begins the reply to a question, which the store keeps while it comes where it can. It is said after the question, whatever the
    /// clock says.
    func beginReply(to question: AskedQuestion) async -> ReplyDraft {
        let message = ConversationMessage(
            id: replyId(to: question.message), role: .assistant, parts: [],
            timestamp: max(Date(), question.message.timestamp))
        if let draft = await beginDraft(message) { return draft }
        // A store without drafts keeps the first content of an id: that of whoever has closed the question meanwhile.
        return ReplyDraft(
            message.with(id: UUID().uuidString), scope: scope, keeper: ReplySaving(to: question, in: self))
    }

    /// A reply that the store keeps while it streams; `nil` where it does not.
    private func beginDraft(_ message: ConversationMessage) async -> ReplyDraft? {
        guard isKept, let drafting = store as? any DraftingChatStorage else { return nil }
        // Where this fails the reply goes on, and the save at its end tells what still fails then.
        return try? await uncancelled { [scope, maxMessages] in
            try await drafting.beginReply(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        }
    }

    /// Saves a message, past any cancellation.
    func save(_ message: ConversationMessage, maxMessages: Int?) async throws {
        guard isKept, let store else { return }
        try await uncancelled { [scope] in
            try await store.save(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        }
    }

    /// Runs work where cancellation does not reach it: in a task of its own. Begun once, since a store may have taken what it then
    /// says was cancelled.
    func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await Task { try await work() }.value
    }
}

/// Keeps a reply in memory until its end, and then saves it as a message like any other.
///
/// That is tried once. A draft that is released tries again in the background, and this one must not: the turn is over then, and the
/// store may have taken what it says it has not.
private final class ReplySaving: ReplyKeeping {
    private let question: AskedQuestion
    private let memory: AgentMemory
    private let isTried = Locked(false)

    init(to question: AskedQuestion, in memory: AgentMemory) {
        self.question = question
        self.memory = memory
    }

    func keep(_ text: String?, behind parts: [ContentPart]?) async throws {}

    func finish(_ message: ConversationMessage) async throws {
        let isFirst = isTried.withLock { isTried in
            defer { isTried = true }
            return !isTried
        }
        if isFirst { try await memory.saveReply(message, to: question) }
    }
}
