import Logging

/// A function that returns a new summary from the previous one, if any, and the messages after it.
public typealias ChatSummarizer =
    @Sendable (_ summary: String?, _ messages: [ConversationMessage]) async throws -> String

/// A store of all messages that gives agents a summary and the last turns.
///
/// ```swift
/// let store = SummarizingChatStorage(wrapping: history, summarizer: LLMSummarizer(model: client).summarize)
/// ```
///
/// When a scope has more than `triggerAt` turns without a summary, all but the last `keepLast` are summarized.
/// `fetch` then returns the instructions, the summary (a message with the role `system`), the pinned turns covered by it,
/// and every message not covered. So does `window`. `fetchAllChats` returns the original messages without summaries. A turn
/// is a message of the user with everything up to the user's next message. It is summarized as a whole, so no tool exchange
/// is split and no input is separated from its reply. The instructions are not summarized.
///
/// **When.** A save that exceeds `triggerAt` starts the summary in the background and returns without waiting, so
/// the summary is made while the reply streams. A `fetch` of more than `triggerAt` answered turns waits for the
/// summary, at most `maxWait`. Simultaneous calls share one summary. A canceled caller stops waiting, and the
/// summary continues. More than 100 turns, in a history that was already long, are summarized 100 at a time, with a
/// save after each step.
///
/// **When the summarizer fails** or exceeds `maxWait`, `fetch` returns the last summary and all messages not
/// covered by it, within `maxMessages`: too much content is better for an agent than none. `events` reports each
/// failure. The next message of the user triggers another attempt; until one succeeds, no `fetch` waits.
///
/// **Storage.** Each summary is a `Compaction` of the wrapped store, so a restart does not pay for it again, and it can be
/// removed with `removeCompaction`. A history keeps compactions apart from its messages. Another store keeps them as messages
/// of an agent of the same session, whose ID is `reservedPrefix` followed by the original agent's ID; other views of that store
/// show this agent. Such IDs, of agents and messages, are reserved: saving and fetching with one throws `invalidArgument`.
///
/// **Changes of the history.** A summary is not saved if its messages were edited or deleted while it was made, or if another
/// process has saved one; the messages are then summarized again if there are still too many. Two processes may pay for
/// the same summary at the same time. `HistoryStore.compact` describes the compactions of a history after edits, deletions,
/// branches, forks and moves. In another store, a summary is ignored if its last covered message is missing, unless the
/// history begins with one of the messages that followed it, as after a trim. The budget of a save is forwarded and trims
/// the original messages; messages trimmed before a summary covers them are lost. Pass no budget, or one far above the size
/// of `triggerAt` turns.
public final class SummarizingChatStorage: ChatStorage {
    /// The prefix of reserved IDs: of summaries as messages, and of agents with summaries in a store without compactions.
    public static let reservedPrefix = Compaction.messagePrefix

    /// The events of this store, about failures of the summarizer.
    public let events: StoreEvents

    private let storage: any ChatStorage
    private let generator: SummaryGenerator

    /// Creates a wrapper around a store.
    /// - Parameters:
    ///   - storage: The store of the messages and the summaries.
    ///   - triggerAt: The maximum number of turns without a summary. Values less than `keepLast` are raised to
    ///     `keepLast`.
    ///   - keepLast: The number of turns left out of a new summary. Values less than 1 are raised to 1.
    ///   - maxWait: The longest time for which a `fetch` waits for a summary.
    ///   - author: The writer of the summaries, saved with each of them: the name of the model, for example.
    ///   - logger: The logger for failures. Message bodies are never logged.
    ///   - summarizer: The function for the summaries. Calls for different scopes may run at the same time, calls
    ///     for one scope do not. An empty summary is a failure.
    public convenience init(
        wrapping storage: any ChatStorage, triggerAt: Int = 20, keepLast: Int = 2, maxWait: Duration = .seconds(30),
        author: String = "SummarizingChatStorage", logger: Logger = Logger(label: "recollect"),
        summarizer: @escaping ChatSummarizer
    ) {
        self.init(
            wrapping: storage, triggerAt: triggerAt, keepLast: keepLast, author: author, logger: logger,
            pause: { try await Task.sleep(for: maxWait) }, summarizer: summarizer)
    }

    /// Creates a wrapper with `pause` as the waiting time of a `fetch`.
    package init(
        wrapping storage: any ChatStorage, triggerAt: Int = 20, keepLast: Int = 2,
        author: String = "SummarizingChatStorage", logger: Logger = Logger(label: "recollect"),
        pause: @escaping @Sendable () async throws -> Void,
        summarizer: @escaping ChatSummarizer
    ) {
        self.storage = storage
        events = StoreEvents(logger: logger)
        generator = SummaryGenerator(
            storage: storage, triggerAt: triggerAt, keepLast: keepLast, author: author, events: events, pause: pause,
            summarizer: summarizer)
    }

    /// Returns the instructions, the summary and the pinned turns covered by it, and the last messages not covered.
    ///
    /// `maxMessages` counts only the messages not covered, unless there is no summary: the result may have more messages. If it
    /// is less than the number of these messages, the oldest of them are left out. 1 or less returns an empty array.
    /// - Throws: `invalidArgument` for a reserved agent ID; `CancellationError`; errors of the store.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = try Self.scope(userId, sessionId, agentId)
        if MessageWindow.size(for: maxMessages) == 0 { return [] }
        return try await generator.chat(of: scope).window(maxMessages: maxMessages)
    }

    /// Returns the messages for a model from the wrapped store, after waiting for a due summary as `fetch` does.
    /// - Throws: `invalidArgument` for a reserved agent ID; `CancellationError`; errors of the store.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        if tokens <= 0 { return [] }
        _ = try await generator.chat(of: Self.scope(userId, sessionId, agentId))
        return try await storage.window(
            userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: counter)
    }

    /// Returns the messages of a scope with the last summary. Waits for no summary.
    /// - Throws: `invalidArgument` for a reserved agent ID; errors of the store.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        _ = try Self.scope(userId, sessionId, agentId)
        return try await storage.compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves a compaction in the wrapped store, as a summary of this one.
    /// - Throws: `invalidArgument` for a reserved agent ID; errors of the store.
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        _ = try Self.scope(userId, sessionId, agentId)
        return try await storage.compact(
            messages, into: summary, by: author, after: previousId, userId: userId, sessionId: sessionId,
            agentId: agentId)
    }

    /// Returns the compactions of a scope from the wrapped store.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await storage.compactions(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Removes a compaction from the wrapped store. The messages are summarized again when there are too many.
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        try await storage.removeCompaction(id, userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves one message, as a batch of one.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch in the wrapped store, then starts a summary in the background if one is due.
    /// - Throws: `invalidArgument` for a reserved ID; errors of the store.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        let scope = try Self.scope(userId, sessionId, agentId)
        try messages.forEach { try Self.checkId($0.id, of: "message") }
        try await storage.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        generator.note(messages, in: scope)
    }

    /// Returns all original messages of a session, without summaries.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await storage.fetchAllChats(userId: userId, sessionId: sessionId).filter {
            !StoredCompaction.isReserved($0.id)
        }
    }

    /// Begins a streaming reply in the wrapped store.
    /// - Throws: `invalidArgument` for a reserved agent ID or message ID; errors of the store.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        _ = try Self.scope(userId, sessionId, agentId)
        try Self.checkId(message.id, of: "message")
        return try await storage.beginReply(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Returns the streaming replies of a session from the wrapped store.
    public func streamingReplies(
        userId: String, sessionId: String
    ) async throws -> [AgentMessage] {
        try await storage.streamingReplies(userId: userId, sessionId: sessionId)
    }

    /// Waits for the lease of a session in the wrapped store.
    public func lease(userId: String, sessionId: String) async throws -> TurnLease? {
        try await storage.lease(userId: userId, sessionId: sessionId)
    }

    /// Returns the session's version from the wrapped store. A new summary changes it.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await storage.version(userId: userId, sessionId: sessionId)
    }

    /// The value of the wrapped store.
    public var preservesContent: Bool { storage.preservesContent }

    private static func scope(_ userId: String, _ sessionId: String, _ agentId: String) throws -> Scope {
        try checkId(agentId, of: "agent")
        return Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    private static func checkId(_ id: String, of owner: String) throws {
        guard StoredCompaction.isReserved(id) else { return }
        throw RecollectError(
            .invalidArgument,
            "IDs beginning with \(reservedPrefix) are reserved for summaries; give the \(owner) another ID")
    }
}
