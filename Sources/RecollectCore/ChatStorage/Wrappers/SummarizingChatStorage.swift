import Logging

/// Gives a new summary: the summary so far, where there is one, with the messages folded in that follow it.
public typealias ChatSummarizer =
    @Sendable (_ summary: String?, _ messages: [ConversationMessage]) async throws -> String

/// Keeps everything that was said, and gives agents a summary of it with the last turns.
///
/// Once a scope has more than `triggerAt` pairs that no summary covers, all but the last `keepLast` are folded into the summary. Then
/// `fetch` gives the summary, a message of the role `system`, and behind it every message that it does not cover, to the last.
/// `fetchAllChats` gives what was said and no summaries. A pair is what the user says with all that follows, up to what they
/// say next; it is folded whole, so no tool exchange is split, nor a question from its answer.
///
/// **When.** A save that brings a pair too many begins the summary in the background and does not wait, so that it grows while
/// the reply streams. A `fetch` of more answered pairs than `triggerAt` waits for it, at most `patience`. Calls at the same time
/// share one summary; a caller that is cancelled stops waiting, and the summary is made all the same. More than 100 pairs,
/// of a history that was long before, are folded 100 at a time, each time saved.
///
/// **When the summarizer fails** or takes too long, `fetch` gives all that no summary covers, as far as `maxMessages` goes: an agent rather
/// gets too much than nothing. `events` tells of each failure. It is tried again with what the user says next, and until it
/// succeeds no `fetch` waits for it.
///
/// **Where it is kept.** In the storage itself, so that a restart does not pay again: in the same session, for an agent whose id is
/// `reservedPrefix` and the agent's own. Such ids, of agents and messages, belong to this wrapper: saving and fetching under one
/// throws `invalidArgument`. Other views of the same history show that agent's messages, a heading and the summary. Two
/// processes at once may both pay for a summary and lose nothing; the last one saved stays.
///
/// **When the history changes.** Messages that a summary covers may be edited or deleted and it stays, as long as the last one that
/// it covers is there, or the history begins with one of those that followed it when it was made, as a trim leaves it. Otherwise
/// (a branch, a deletion) it is not given any more, and what is there is summarised anew. The budget of a save is
/// passed on: it trims what was said, and what is trimmed before a summary covers it is gone. Give none, or one far above what
/// `triggerAt` pairs take.
public final class SummarizingChatStorage: DraftingChatStorage, VersionedChatStorage {
    /// What the ids of agents begin with whose scopes hold summaries.
    public static let reservedPrefix = StoredSummary.prefix

    /// Where failures of the summarizer are told.
    public let events: StoreEvents

    private let storage: any ChatStorage
    private let folding: SummaryFolding

    /// Wraps a storage.
    /// - Parameters:
    ///   - storage: The storage that keeps the messages and the summaries.
    ///   - triggerAt: How many pairs without a summary are at most given; less than `keepLast` is taken for `keepLast`.
    ///   - keepLast: How many pairs are left out of a summary when it is made; less than 1 is taken for 1.
    ///   - patience: How long a `fetch` waits for a summary that is being made.
    ///   - logger: Where failures are logged; never a message's body.
    ///   - summarizer: Makes the summaries: for many scopes at the same time, for one scope once at a time. An empty one is a
    ///     failure.
    public convenience init(
        wrapping storage: any ChatStorage, triggerAt: Int = 20, keepLast: Int = 2, patience: Duration = .seconds(30),
        logger: Logger = Logger(label: "recollect"), summarizer: @escaping ChatSummarizer
    ) {
        self.init(
            wrapping: storage, triggerAt: triggerAt, keepLast: keepLast, logger: logger,
            pause: { try await Task.sleep(for: patience) }, summarizer: summarizer)
    }

    /// The same where `pause` waits as long as a `fetch` has patience.
    package init(
        wrapping storage: any ChatStorage, triggerAt: Int = 20, keepLast: Int = 2,
        logger: Logger = Logger(label: "recollect"), pause: @escaping @Sendable () async throws -> Void,
        summarizer: @escaping ChatSummarizer
    ) {
        self.storage = storage
        events = StoreEvents(logger: logger)
        folding = SummaryFolding(
            storage: storage, triggerAt: triggerAt, keepLast: keepLast, events: events, pause: pause,
            summarizer: summarizer)
    }

    /// The summary of a scope, where it has one, and the last messages that it does not cover.
    ///
    /// `maxMessages` counts messages without the summary, so that one more may come; where it is less than the messages that no summary
    /// covers, those between are not given. 1 or less gives nothing.
    /// - Throws: `invalidArgument` for a reserved agent id; `CancellationError`; what the storage throws.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = try Self.scope(userId, sessionId, agentId)
        if MessageWindow.size(for: maxMessages) == 0 { return [] }
        return try await folding.chat(of: scope).given(maxMessages: maxMessages)
    }

    /// Saves one message as a batch of one.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch: passed on. A summary that it makes due is begun afterwards, in the background.
    /// - Throws: `invalidArgument` for a reserved id; what the storage throws.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        let scope = try Self.scope(userId, sessionId, agentId)
        try messages.forEach { try Self.checkId($0.id, of: "message") }
        try await storage.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        folding.note(messages, in: scope)
    }

    /// All messages of a session as they were said, without summaries.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await storage.fetchAllChats(userId: userId, sessionId: sessionId).filter {
            !StoredSummary.isReserved($0.id)
        }
    }

    /// Begins a reply: passed on.
    /// - Throws: `invalidArgument` for a reserved agent id; what the storage throws.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> ReplyDraft? {
        _ = try Self.scope(userId, sessionId, agentId)
        return try await (storage as? any DraftingChatStorage)?.beginReply(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// The replies in flight of a session: passed on.
    public func repliesInFlight(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)] {
        try await (storage as? any DraftingChatStorage)?.repliesInFlight(userId: userId, sessionId: sessionId) ?? []
    }

    /// The session's version: passed on. A new summary is a change of the session.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await (storage as? any VersionedChatStorage)?.version(userId: userId, sessionId: sessionId)
    }

    private static func scope(_ userId: String, _ sessionId: String, _ agentId: String) throws -> Scope {
        try checkId(agentId, of: "agent")
        return Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    private static func checkId(_ id: String, of owner: String) throws {
        guard StoredSummary.isReserved(id) else { return }
        throw RecollectError(
            .invalidArgument,
            "ids that begin with \(reservedPrefix) are kept for summaries; give the \(owner) another one")
    }
}
