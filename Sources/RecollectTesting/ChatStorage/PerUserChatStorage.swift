import RecollectCore

/// A `ChatStorage` for several users, made of stores for one user each. Every call goes to its user's store.
///
/// ```swift
/// StoreFixture<any ChatStorage> {
///     let history = SQLiteHistoryStore.inMemory()
///     return PerUserChatStorage { DeviceChatStorage(history: history, userId: $0) }
/// }
/// ```
public final class PerUserChatStorage: ChatStorage {
    private let make: @Sendable (String) throws -> any ChatStorage
    private let stores = Locked<[ByteString: any ChatStorage]>([:])

    /// Creates a storage.
    ///
    /// - Parameter make: Creates the store of a user ID, called once for each. It runs under a lock and must not
    ///   wait.
    public init(_ make: @escaping @Sendable (_ userId: String) throws -> any ChatStorage) {
        self.make = make
    }

    /// Fetches from the user's store.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await store(of: userId).fetch(
            userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Returns the messages for a model from the user's store.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        try await store(of: userId).window(
            userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: counter)
    }

    /// Returns the messages with their compaction from the user's store.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        try await store(of: userId).compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves a compaction to the user's store.
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        try await store(of: userId).compact(
            messages, into: summary, by: author, after: previousId, userId: userId, sessionId: sessionId,
            agentId: agentId)
    }

    /// Returns the compactions from the user's store.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await store(of: userId).compactions(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Removes a compaction from the user's store.
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        try await store(of: userId).removeCompaction(id, userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves to the user's store.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await store(of: userId).save(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch to the user's store.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await store(of: userId).saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Fetches the merged view from the user's store.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await store(of: userId).fetchAllChats(userId: userId, sessionId: sessionId)
    }

    /// Begins a streaming reply in the user's store; returns `nil` if the store does not support them.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        try await store(of: userId).beginReply(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Returns the streaming replies in the user's store; none if the store does not support them.
    public func streamingReplies(
        userId: String, sessionId: String
    ) async throws -> [AgentMessage] {
        try await store(of: userId).streamingReplies(userId: userId, sessionId: sessionId)
    }

    /// Waits for the lease of a session in the user's store; `nil` if the store does not support leases.
    public func lease(userId: String, sessionId: String) async throws -> TurnLease? {
        try await store(of: userId).lease(userId: userId, sessionId: sessionId)
    }

    /// Returns the session's version in the user's store; `nil` if the store has no versions.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await store(of: userId).version(userId: userId, sessionId: sessionId)
    }

    private func store(of userId: String) throws -> any ChatStorage {
        try stores.withLock { stores in
            if let store = stores[ByteString(userId)] { return store }
            let store = try make(userId)
            stores[ByteString(userId)] = store
            return store
        }
    }
}
