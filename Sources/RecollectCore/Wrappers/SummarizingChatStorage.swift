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
/// `fetch` then returns the summary, a message with the role `system`, followed by every message not covered by it.
/// So does `window`, where the summary is an instruction; pinned messages covered by it are not returned.
/// `fetchAllChats` returns the original messages without summaries. A turn is a message of the user with everything
/// up to the user's next message. It is summarized as a whole, so no tool exchange is split and no input is
/// separated from its reply.
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
/// **Storage.** Summaries are stored in the wrapped store, so a restart does not pay for them again: in the same
/// session, for an agent whose ID is `reservedPrefix` followed by the original agent's ID. Such IDs, of agents and
/// messages, are reserved: saving and fetching with one throws `invalidArgument`. Other views of the same history
/// show that agent's two messages, a heading and the summary. Two processes may pay for the same summary at the
/// same time; no messages are lost, and the last summary saved stays.
///
/// **Changes of the history.** Editing or deleting covered messages leaves the summary in use if the last covered
/// message is still there, or if the history begins with one of the messages that followed it, as after a trim.
/// Otherwise (after a branch or a deletion) the summary is ignored, and the remaining messages are summarized
/// again. Messages inserted between the last 256 covered ones, for example by a chat UI, count as not covered. A summary
/// is not saved if its messages were deleted while it was made. A deletion in the few milliseconds between this check
/// and the save is not noticed. After a merge of two sessions, the messages of the old session come first, so the new
/// session's summary seems to cover them: `fetch` leaves them out, and `fetchAllChats` returns them. The budget of a
/// save is forwarded and trims the original messages; messages trimmed before a summary covers them are lost. Pass no
/// budget, or one far above the size of `triggerAt` turns.
public final class SummarizingChatStorage: ChatStorage {
    /// The prefix of the reserved agent IDs, whose scopes hold summaries.
    public static let reservedPrefix = StoredSummary.prefix

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
    ///   - logger: The logger for failures. Message bodies are never logged.
    ///   - summarizer: The function for the summaries. Calls for different scopes may run at the same time, calls
    ///     for one scope do not. An empty summary is a failure.
    public convenience init(
        wrapping storage: any ChatStorage, triggerAt: Int = 20, keepLast: Int = 2, maxWait: Duration = .seconds(30),
        logger: Logger = Logger(label: "recollect"), summarizer: @escaping ChatSummarizer
    ) {
        self.init(
            wrapping: storage, triggerAt: triggerAt, keepLast: keepLast, logger: logger,
            pause: { try await Task.sleep(for: maxWait) }, summarizer: summarizer)
    }

    /// Creates a wrapper with `pause` as the waiting time of a `fetch`.
    package init(
        wrapping storage: any ChatStorage, triggerAt: Int = 20, keepLast: Int = 2,
        logger: Logger = Logger(label: "recollect"), pause: @escaping @Sendable () async throws -> Void,
        summarizer: @escaping ChatSummarizer
    ) {
        self.storage = storage
        events = StoreEvents(logger: logger)
        generator = SummaryGenerator(
            storage: storage, triggerAt: triggerAt, keepLast: keepLast, events: events, pause: pause,
            summarizer: summarizer)
    }

    /// Returns the summary of a scope, if it has one, and the last messages not covered by it.
    ///
    /// `maxMessages` does not count the summary, so the result may have one more message. If it is less than the
    /// number of uncovered messages, the oldest of them are left out. 1 or less returns an empty array.
    /// - Throws: `invalidArgument` for a reserved agent ID; `CancellationError`; errors of the store.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = try Self.scope(userId, sessionId, agentId)
        if MessageWindow.size(for: maxMessages) == 0 { return [] }
        return try await generator.chat(of: scope).given(maxMessages: maxMessages)
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
            !StoredSummary.isReserved($0.id)
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
        guard StoredSummary.isReserved(id) else { return }
        throw RecollectError(
            .invalidArgument,
            "IDs beginning with \(reservedPrefix) are reserved for summaries; give the \(owner) another ID")
    }
}
