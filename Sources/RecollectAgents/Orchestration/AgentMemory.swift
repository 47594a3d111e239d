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
    func history() async throws -> [ConversationMessage] {
        guard let store else { return [] }
        let history = try await fetch(from: store)
        guard history.last?.role == .user, let drafting = store as? any DraftingChatStorage else { return history }
        // The question was asked by a process that may have ended in the middle of the reply.
        _ = try await drafting.repliesInFlight(userId: scope.userId, sessionId: scope.sessionId)
        return try await fetch(from: store)
    }

    /// At least the last exchange, also where the agent is given nothing: a question without a reply must be seen.
    private func fetch(from store: any ChatStorage) async throws -> [ConversationMessage] {
        try await fetch(from: store, last: maxMessages.map { max($0, 2) })
    }

    private func fetch(from store: any ChatStorage, last count: Int?) async throws -> [ConversationMessage] {
        try await store.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: count)
    }

    /// The kept reply to an input; `nil` if it is interrupted or empty.
    func answer(to input: AgentInput, in history: [ConversationMessage]) -> ConversationMessage? {
        guard input.hasGivenId, let question = history.lastIndex(where: isQuestion(of: input)),
            let reply = history[question...].first(where: { $0.role == .assistant }),
            !reply.isInterrupted, !reply.parts.isEmpty
        else { return nil }
        return reply
    }

    /// The last message in the agent's history with an id of the input.
    func question(of input: AgentInput) async throws -> ConversationMessage? {
        guard isKept, let store else { return nil }
        return try await fetch(from: store, last: nil).last(where: isQuestion(of: input))
    }

    /// Tells the messages that are this input: under its id, or under that of a copy.
    private func isQuestion(of input: AgentInput) -> (ConversationMessage) -> Bool {
        let ids = Set(ids(of: input.message).map(ByteString.init))
        return { $0.role == .user && ids.contains(ByteString($0.id)) }
    }

    /// The ids of a message and its copies, its own first. Each new attempt needs a new id.
    private func ids(of message: ConversationMessage) -> [String] {
        [message.id, message.copyId(from: scope.agentId)]
            + (2...Self.mostCopies).map { message.copyId(from: "\(scope.agentId)\u{0}\($0)") }
    }

    /// The number of attempts found by the id.
    private static let mostCopies = 32

    // MARK: What is said now

    /// Saves the user's message behind what was said before, and gives what the agent is given: what was said before, without any
    /// half of a tool exchange.
    ///
    /// The budget is left to the reply: a question that trims alone would leave a window that begins with an answer. Cancellation does
    /// not reach this: what a user has said in a turn that has begun is kept.
    func save(_ input: AgentInput, after history: [ConversationMessage]) async throws -> [ConversationMessage] {
        var before = history
        var isAsked = false
        if let last = history.last, last.role == .user {
            isAsked = isQuestion(of: input)(last)
            if isAsked {
                before.removeLast()
            } else {
                before = try await close(last, of: history)
            }
        }
        if !isAsked { try await saveQuestion(input, after: history) }
        return MessageWindow.size(for: maxMessages) == 0 ? [] : before.wholeExchanges()
    }

    /// Saves the user's message under the first free id of its copies, else under a new id.
    ///
    /// A store drops a message with a known id: an earlier attempt, or a message outside the window. The reply would then follow another
    /// reply, and be dropped too.
    private func saveQuestion(_ input: AgentInput, after history: [ConversationMessage]) async throws {
        guard isKept, let store else { return }
        guard input.hasGivenId else { return try await save(input.message, maxMessages: nil) }
        let taken = Set(history.map { ByteString($0.id) })
        let free = ids(of: input.message).filter { !taken.contains(ByteString($0)) }
        for id in free + [UUID().uuidString] {
            try await save(input.message.with(id: id), maxMessages: nil)
            let last = try await uncancelled { try await fetch(from: store, last: 2).last }
            if last?.role == .user { return }
        }
    }

    /// Gives a message that never got a reply an empty, interrupted one; returns the history with it, within the budget.
    private func close(
        _ message: ConversationMessage, of history: [ConversationMessage]
    ) async throws -> [ConversationMessage] {
        let closing = Self.closing(message)
        guard isKept, let store else { return history + [closing] }
        try await save(closing, maxMessages: nil)
        return try await uncancelled { try await fetch(from: store) }
    }

    /// The reply to a message that never got one: empty and interrupted. Its id is made of the message's, so that two who close it
    /// at once close it once.
    private static func closing(_ message: ConversationMessage) -> ConversationMessage {
        var closing = ConversationMessage(
            id: message.copyId(from: "interrupted reply"), role: .assistant, parts: [],
            timestamp: message.timestamp)
        closing.isInterrupted = true
        return closing
    }

    /// Saves a reply, and trims to the budget.
    func saveReply(_ message: ConversationMessage) async throws {
        try await save(message, maxMessages: maxMessages)
    }

    /// Begins a reply that comes in pieces, which the store keeps meanwhile where it can.
    func beginReply(_ message: ConversationMessage) async -> ReplyDraft {
        await beginDraft(message) ?? ReplyDraft(message, scope: scope, keeper: ReplySaving(memory: self))
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
    private func save(_ message: ConversationMessage, maxMessages: Int?) async throws {
        guard isKept, let store else { return }
        try await uncancelled { [scope] in
            try await store.save(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        }
    }

    /// Runs work where cancellation does not reach it: in a task of its own. Begun once, since a store may have taken what it then
    /// says was cancelled.
    private func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws
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
    private let memory: AgentMemory
    private let isTried = Locked(false)

    init(memory: AgentMemory) {
        self.memory = memory
    }

    func keep(_ text: String?, behind parts: [ContentPart]?) async throws {}

    func finish(_ message: ConversationMessage) async throws {
        let isFirst = isTried.withLock { isTried in
            defer { isTried = true }
            return !isTried
        }
        if isFirst { try await memory.saveReply(message) }
    }
}
