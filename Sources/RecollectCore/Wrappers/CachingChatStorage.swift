/// A cache of windows and merged views in front of a slow store.
///
/// ```swift
/// let store = LoggingChatStorage(wrapping: CachingChatStorage(wrapping: server, lifetime: .seconds(5)))
/// ```
///
/// Every read of a store with versions (a history, files, memory) first reads the session's
/// version, and uses the cache only if the version has not changed. The next read therefore shows the write of
/// another process, and stale content is never returned. With any other store, cached content is used for at most
/// `lifetime`, one second by default, so the writes of others can stay invisible for this duration. Saves through
/// this wrapper are visible at once in both cases.
///
/// The cache pays off where reading takes much longer than reading a version: a store on a server, long windows,
/// files. A history on the device is nearly as fast without it. Streaming replies and windows by tokens are not cached.
///
/// At most `capacity` messages are cached; the least recently read session is evicted first. Any task can use the
/// cache. Simultaneous reads of the same content are each forwarded.
public final class CachingChatStorage: ChatStorage {
    private let storage: any ChatStorage
    private let memory: Locked<ReadSessions>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Creates a cache in front of a store.
    /// - Parameters:
    ///   - storage: The store of the messages.
    ///   - capacity: The maximum number of cached messages.
    ///   - lifetime: The duration for which content of a store without versions is cached.
    public convenience init(
        wrapping storage: any ChatStorage, capacity: Int = 10_000, lifetime: Duration = .seconds(1)
    ) {
        self.init(wrapping: storage, capacity: capacity, lifetime: lifetime, now: { .now })
    }

    /// Creates a cache with a custom clock.
    package init(
        wrapping storage: any ChatStorage, capacity: Int = 10_000, lifetime: Duration = .seconds(1),
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.storage = storage
        self.now = now
        memory = Locked(ReadSessions(capacity: capacity, lifetime: lifetime))
    }

    /// Returns the messages of one scope, from the cache or the wrapped store.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let session = SessionKey(userId: userId, sessionId: sessionId)
        return try await read(.window(agent: ByteString(agentId), maxMessages: maxMessages), of: session) {
            try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// Returns the messages for a model from the wrapped store. They are not cached.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        try await storage.window(
            userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: counter)
    }

    /// Returns the messages of a scope with its compaction from the wrapped store. They are not cached.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        try await storage.compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves a compaction in the wrapped store. The session is removed from the cache: a wrapped store may return summaries.
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        defer { memory.withLock { $0.forget(SessionKey(userId: userId, sessionId: sessionId)) } }
        return try await storage.compact(
            messages, into: summary, by: author, after: previousId, userId: userId, sessionId: sessionId,
            agentId: agentId)
    }

    /// Returns the compactions of a scope from the wrapped store.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await storage.compactions(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Removes a compaction from the wrapped store, and the session from the cache.
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        defer { memory.withLock { $0.forget(SessionKey(userId: userId, sessionId: sessionId)) } }
        return try await storage.removeCompaction(id, userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves one message in the wrapped store.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch in the wrapped store.
    ///
    /// The session is removed from the cache before and after the save, even if the save fails, because content
    /// read during the save may be older than the save.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        let session = SessionKey(userId: userId, sessionId: sessionId)
        memory.withLock { $0.forget(session) }
        defer { memory.withLock { $0.forget(session) } }
        try await storage.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Returns all messages of a session, from the cache or the wrapped store.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await read(.merged, of: SessionKey(userId: userId, sessionId: sessionId)) {
            try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    /// Begins a streaming reply in the wrapped store.
    ///
    /// The end of the reply bypasses the cache: with a store without versions, it becomes visible after `lifetime`.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        try await storage.beginReply(
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

    /// Returns the session's version from the wrapped store.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await storage.version(userId: userId, sessionId: sessionId)
    }

    /// The value of the wrapped store.
    public var preservesContent: Bool { storage.preservesContent }

    private func read(
        _ what: ReadSessions.View, of session: SessionKey,
        _ readBelow: () async throws -> [ConversationMessage]
    ) async throws -> [ConversationMessage] {
        // The version is read first, so the content is never older than its version.
        let version = try await version(userId: session.userId, sessionId: session.sessionId)
        let date = now()
        let (known, reading) = memory.withLock { memory in
            let reading = memory.begin(session, version: version, at: date)
            return (memory.messages(of: what, in: session), reading)
        }
        if let known { return known }
        let messages = try await readBelow()
        memory.withLock { $0.remember(messages, as: what, in: session, of: reading) }
        return messages
    }
}
