import Foundation
import RecollectCore

/// The messages of one agent in a session, in any store. Without a store, nothing is saved.
struct AgentMessageStore: Sendable {
    let store: (any ChatStorage)?
    let scope: Scope
    let maxMessages: Int?
    let tokenWindow: TokenWindow?
    /// Whether this agent's turns are saved.
    let savesMessages: Bool

    init(of agent: any AgentProtocol, id: String, in turn: Turn) {
        store = turn.store
        scope = turn.context.session.scope(agentId: id)
        maxMessages = turn.maxMessages
        tokenWindow = turn.tokenWindow
        savesMessages = agent.saveChat
    }

    // MARK: Reading

    /// Returns the past messages. A reply of an ended process is included as far as it was saved.
    func history() async throws -> AgentHistory {
        guard let store else { return AgentHistory() }
        let messages = try await fetch(from: store)
        guard messages.last?.role == .user else { return AgentHistory(messages: messages) }
        // The reply to this message may be streaming, or its process may have ended. In that case, the store saves
        // it as an interrupted reply when its streaming replies are read.
        let streaming = try await streamingReplies()
        return AgentHistory(messages: try await fetch(from: store), streaming: streaming)
    }

    /// Returns the IDs of the agent's streaming replies, in this process or another.
    func streamingReplies() async throws -> Set<ByteString> {
        guard let store else { return [] }
        let replies = try await store.streamingReplies(userId: scope.userId, sessionId: scope.sessionId)
        return Set(replies.filter { $0.agentId.hasSameBytes(as: scope.agentId) }.map { ByteString($0.message.id) })
    }

    /// Returns the window, but at least the last two messages: a question without a reply must be found even if the
    /// agent gets no history.
    func fetch(from store: any ChatStorage) async throws -> [ConversationMessage] {
        try await fetch(from: store, last: maxMessages.map { max($0, 2) })
    }

    func fetch(from store: any ChatStorage, last count: Int?) async throws -> [ConversationMessage] {
        try await store.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: count)
    }

    // MARK: Saving

    /// Saves the reply to a question and trims to the limit.
    /// - Throws: `verificationFailed` if the store drops the reply because of another reply saved meanwhile; errors of the
    ///   store.
    func saveReply(_ message: ConversationMessage, to question: SavedInput) async throws {
        // In a window of one message or less, no reply can be found.
        let isWindowEmpty = maxMessages.map { $0 < 2 } ?? false
        try await save(message, maxMessages: isWindowEmpty ? nil : maxMessages)
        try await verify(message, to: question)
        if isWindowEmpty { try await save(message, maxMessages: maxMessages) }
    }

    /// Checks that the store has a reply.
    private func verify(_ message: ConversationMessage, to question: SavedInput) async throws {
        guard savesMessages, let store, question.isStored else { return }
        let tail = try await uncancelled { try await fetch(from: store, last: Self.tail) }
        // If the question is still the last message, the store omitted the reply on purpose.
        guard let last = tail.last, !last.id.hasSameBytes(as: question.message.id),
            try await saved(message.id, after: question.message.id, in: tail) == nil
        else { return }
        throw RecollectError(
            .verificationFailed,
            "the reply was not saved: another reply was saved in session \(scope.sessionId) at the same time; send the input again, share one "
                + "orchestrator, or create the store with sameRole: .keep")
    }

    /// Returns the saved message of an ID; `nil` if the store does not have it. All messages are read only if other writers
    /// have saved so many since that the newest ones begin after it.
    /// - Parameters:
    ///   - earlier: The ID of an earlier message; `nil` if there was none. If a message with the given ID is before it,
    ///     the store has dropped the new message as known.
    ///   - tail: The newest messages.
    func saved(
        _ id: String, after earlier: String?, in tail: [ConversationMessage]
    ) async throws -> ConversationMessage? {
        func newer(in messages: [ConversationMessage]) -> ArraySlice<ConversationMessage>? {
            guard let earlier else { return messages[...] }
            return messages.lastIndex { $0.id.hasSameBytes(as: earlier) }.map { messages[($0 + 1)...] }
        }
        func message(in messages: ArraySlice<ConversationMessage>) -> ConversationMessage? {
            messages.first { $0.id.hasSameBytes(as: id) }
        }
        let inTail = newer(in: tail)
        if let message = message(in: inTail ?? tail[...]) { return message }
        guard let store, earlier == nil ? tail.count == Self.tail : inTail == nil else { return nil }
        let all = try await uncancelled { try await fetch(from: store, last: nil) }
        return message(in: newer(in: all) ?? all[...])
    }

    /// Begins the reply to a question. The store may save it while it streams. Its timestamp is never before the
    /// question's, whatever the clock says.
    /// - Throws: `invalidArgument` if another turn is streaming its reply to the same question, or has just completed it;
    ///   errors of the store.
    func beginReply(to question: SavedInput) async throws -> StreamingReply {
        let ids = replyIDs(to: question.message)
        let message = ConversationMessage(
            id: ids.derived, role: .assistant, parts: [],
            timestamp: max(Date(), question.message.timestamp))
        let begun = try await beginReply(message)
        if let reply = begun.reply { return reply }
        if savesMessages, try await isAnswered(question.message, with: ids.derived, isRefused: begun.isRefused) {
            throw answeredElsewhere(question.message)
        }
        // The derived ID may be another message's.
        if let reply = try await beginReply(message.with(id: ids.new())).reply { return reply }
        // A store without streaming replies keeps the first content of an ID, possibly an empty reply from another
        // writer closing the question. A new ID avoids this.
        return StreamingReply(
            message.with(id: ids.new()), scope: scope, writer: ChatReplyWriter(to: question, in: self))
    }

    /// Returns the error for an input that another turn answers.
    func answeredElsewhere(_ question: ConversationMessage) -> RecollectError {
        RecollectError(
            .invalidArgument,
            "another turn is answering message \(question.id) of session \(scope.sessionId); request its reply again when "
                + "that turn has ended")
    }

    /// Begins a streaming reply in the store. Without support for it, there is no reply. A store may refuse it.
    private func beginReply(
        _ message: ConversationMessage
    ) async throws -> (reply: StreamingReply?, isRefused: Bool) {
        guard savesMessages, let store else { return (nil, false) }
        // On failure the turn continues. If the failure persists, the save at the end of the reply throws it.
        do {
            let reply = try await uncancelled { [scope, maxMessages] in
                try await store.beginReply(
                    message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                    maxMessages: maxMessages)
            }
            return (reply, false)
        } catch let error as RecollectError where error.code == .leaseLost {
            throw error
        } catch {
            return (nil, true)
        }
    }

    /// Whether the reply of an ID to a question is streaming, or has been completed since the store refused it. A reply
    /// before the question answered an earlier one of its ID, deleted since.
    private func isAnswered(
        _ question: ConversationMessage, with id: String, isRefused: Bool
    ) async throws -> Bool {
        try await uncancelled {
            if try await streamingReplies().contains(ByteString(id)) { return true }
            guard isRefused, let store else { return false }
            let tail = try await fetch(from: store, last: Self.tail)
            let asked = tail.lastIndex { $0.role == .user && $0.id.hasSameBytes(as: question.id) }
            return tail.dropFirst(asked ?? 0).contains {
                $0.role == .assistant && $0.id.hasSameBytes(as: id) && $0.isAnswer
            }
        }
    }

    /// Saves a message, unaffected by cancellation.
    func save(_ message: ConversationMessage, maxMessages: Int?) async throws {
        guard savesMessages, let store else { return }
        try await uncancelled { [scope] in
            try await store.save(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        }
    }

    /// Runs work in a task of its own, unaffected by cancellation. Interrupting and repeating it is no alternative:
    /// a store may have saved a message and still report a cancellation.
    func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await Task { try await work() }.value
    }
}

/// Holds a reply in memory until its end, then saves it as an ordinary message.
///
/// The save is tried once. On its release, a streaming reply tries again in the background. Here this must not happen: the
/// turn is over by then, and the store may have saved the message despite its error.
private final class ChatReplyWriter: ReplyWriter {
    private let question: SavedInput
    private let memory: AgentMessageStore
    private let isTried = Locked(false)

    init(to question: SavedInput, in memory: AgentMessageStore) {
        self.question = question
        self.memory = memory
    }

    func save(_ text: String?, behind parts: [ContentPart]?) async throws {}

    func finish(_ message: ConversationMessage, isAppended: Bool) async throws {
        let isFirst = isTried.withLock { isTried in
            defer { isTried = true }
            return !isTried
        }
        if isFirst { try await memory.saveReply(message, to: question) }
    }
}

/// The messages of an agent in a session before a turn.
struct AgentHistory: Sendable {
    /// The window, oldest message first.
    var messages: [ConversationMessage] = []
    /// The IDs of the agent's streaming replies, in this process or another. They are read only if the last message
    /// is a user's.
    var streaming: Set<ByteString> = []
}

/// The user's message of a turn, as saved.
struct SavedInput: Sendable {
    let message: ConversationMessage
    /// Whether the store has the message. Some stores omit messages on purpose.
    let isStored: Bool
    /// The past messages for the agent, without incomplete tool exchanges.
    let before: [ConversationMessage]
}
