/// Remembers what was read from a slow storage: windows and merged views, as they were asked for.
///
/// A storage that tells versions (`VersionedChatStorage`: a history, files, memory) is asked for the session's version before every
/// read, and what is remembered is given only while that is the same: so another process's write is seen by the next read, and
/// nothing old is ever given. Of any other storage, what is remembered is given for a second at most: so long another writer's
/// work may stay unseen. What is saved through this wrapper is seen at once in either case.
///
/// It pays where reading is much slower than asking for a version: a storage on a server, long windows, files. A
/// history on the device answers nearly as fast by itself. Replies in flight are not remembered.
///
/// At most `capacity` messages are remembered; the session that was not read for longest goes first. May be used from any task;
/// reads of the same thing at the same time are each passed on.
public final class CachingChatStorage: DraftingChatStorage, VersionedChatStorage {
    private let storage: any ChatStorage
    private let memory: Locked<ReadSessions>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Wraps a storage.
    /// - Parameters:
    ///   - storage: The storage that keeps the messages.
    ///   - capacity: How many messages are remembered at most.
    ///   - lifetime: How long something is remembered of a storage without versions.
    public convenience init(
        wrapping storage: any ChatStorage, capacity: Int = 10_000, lifetime: Duration = .seconds(1)
    ) {
        self.init(wrapping: storage, capacity: capacity, lifetime: lifetime, now: { .now })
    }

    /// The same with a clock of the caller's.
    package init(
        wrapping storage: any ChatStorage, capacity: Int = 10_000, lifetime: Duration = .seconds(1),
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.storage = storage
        self.now = now
        memory = Locked(ReadSessions(capacity: capacity, lifetime: lifetime))
    }

    /// The messages of one scope, remembered or read.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let conversation = ConversationID(userId: userId, sessionId: sessionId)
        return try await read(.window(agent: ByteString(agentId), maxMessages: maxMessages), of: conversation) {
            try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// Saves one message: passed on.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch: passed on. The session is forgotten before and after, whether the save succeeds or fails: what is read while
    /// it runs may be older than the save.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        let conversation = ConversationID(userId: userId, sessionId: sessionId)
        memory.withLock { $0.forget(conversation) }
        defer { memory.withLock { $0.forget(conversation) } }
        try await storage.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// All messages of a session, remembered or read.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await read(.merged, of: ConversationID(userId: userId, sessionId: sessionId)) {
            try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    /// Begins a reply: passed on. Its end is another's write: a storage without versions shows it after `lifetime`.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> ReplyDraft? {
        try await (storage as? any DraftingChatStorage)?.beginReply(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// The replies in flight of a session: passed on.
    public func repliesInFlight(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)] {
        try await (storage as? any DraftingChatStorage)?.repliesInFlight(userId: userId, sessionId: sessionId) ?? []
    }

    /// The session's version: passed on.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await (storage as? any VersionedChatStorage)?.version(userId: userId, sessionId: sessionId)
    }

    private func read(
        _ what: ReadSessions.View, of conversation: ConversationID,
        _ readBelow: () async throws -> [ConversationMessage]
    ) async throws -> [ConversationMessage] {
        // The version goes first: what is read after it is never older.
        let version = try await version(userId: conversation.userId, sessionId: conversation.sessionId)
        let moment = now()
        let (known, reading) = memory.withLock { memory in
            let reading = memory.begin(conversation, version: version, at: moment)
            return (memory.messages(of: what, in: conversation), reading)
        }
        if let known { return known }
        let messages = try await readBelow()
        memory.withLock { $0.remember(messages, as: what, in: conversation, of: reading) }
        return messages
    }
}
