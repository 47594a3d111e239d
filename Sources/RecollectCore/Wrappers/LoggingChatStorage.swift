import Logging

/// A wrapper that logs every call of a chat store with its message count, duration and result.
///
/// Message bodies are never logged. The IDs of users, sessions and agents are logged only as the first 12 digits of
/// their SHA-256 hash, and errors other than Recollect's only by type, because they may quote content. Successful
/// calls are logged at the debug level; failed and canceled calls at the error level. Any task can use the wrapper;
/// every call is forwarded unchanged.
public final class LoggingChatStorage: ChatStorage {
    private let storage: any ChatStorage
    private let logger: Logger

    /// Creates a wrapper around a store.
    /// - Parameters:
    ///   - storage: The store of the messages.
    ///   - logger: The logger for the calls.
    public init(wrapping storage: any ChatStorage, logger: Logger = Logger(label: "recollect.chats")) {
        self.storage = storage
        self.logger = logger
    }

    /// Returns the messages of one scope; logs their number and the budget.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await logger.logging(
            "fetch", Self.named(userId, sessionId, agentId, maxMessages), counting: { ["messages": "\($0.count)"] }
        ) {
            try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// Returns the messages for a model; logs their number and the budget.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        var metadata = Self.named(userId, sessionId, agentId, nil)
        metadata["tokens"] = "\(tokens)"
        return try await logger.logging("window", metadata, counting: { ["messages": "\($0.count)"] }) {
            try await storage.window(
                userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: counter)
        }
    }

    /// Returns the messages of a scope with its compaction; logs their number.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        try await logger.logging(
            "compacted", Self.named(userId, sessionId, agentId, nil), counting: { ["messages": "\($0.messages.count)"] }
        ) {
            try await storage.compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
        }
    }

    /// Saves a compaction; logs the number of messages.
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        var metadata = Self.named(userId, sessionId, agentId, nil)
        metadata["messages"] = "\(messages.count)"
        return try await logger.logging("compact", metadata) {
            try await storage.compact(
                messages, into: summary, by: author, after: previousId, userId: userId, sessionId: sessionId,
                agentId: agentId)
        }
    }

    /// Returns the compactions of a scope; logs their number.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await logger.logging(
            "compactions", Self.named(userId, sessionId, agentId, nil), counting: { ["compactions": "\($0.count)"] }
        ) {
            try await storage.compactions(userId: userId, sessionId: sessionId, agentId: agentId)
        }
    }

    /// Removes a compaction; logs the call.
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        try await logger.logging("removeCompaction", Self.named(userId, sessionId, agentId, nil)) {
            try await storage.removeCompaction(id, userId: userId, sessionId: sessionId, agentId: agentId)
        }
    }

    /// Saves one message; logs the budget.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await logger.logging("save", Self.named(userId, sessionId, agentId, maxMessages)) {
            try await storage.save(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// Saves a batch; logs the number of messages and the budget.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        var metadata = Self.named(userId, sessionId, agentId, maxMessages)
        metadata["messages"] = "\(messages.count)"
        try await logger.logging("saveMessages", metadata) {
            try await storage.saveMessages(
                messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// Returns all messages of a session; logs their number.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await logger.logging(
            "fetchAllChats", Self.named(userId, sessionId), counting: { ["messages": "\($0.count)"] }
        ) {
            try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    /// Begins a streaming reply; logs whether the store returned one. The increments and the end of the reply are
    /// not logged.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        try await logger.logging(
            "beginReply", Self.named(userId, sessionId, agentId, maxMessages),
            counting: { ["isKept": "\($0 != nil)"] }
        ) {
            try await storage.beginReply(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// Returns the streaming replies of a session; logs their number.
    public func streamingReplies(
        userId: String, sessionId: String
    ) async throws -> [AgentMessage] {
        try await logger.logging(
            "streamingReplies", Self.named(userId, sessionId), counting: { ["messages": "\($0.count)"] }
        ) {
            try await storage.streamingReplies(userId: userId, sessionId: sessionId)
        }
    }

    /// Waits for the lease of a session; logs whether the store gives leases.
    public func lease(userId: String, sessionId: String) async throws -> TurnLease? {
        try await logger.logging(
            "lease", Self.named(userId, sessionId), counting: { ["isGiven": "\($0 != nil)"] }
        ) {
            try await storage.lease(userId: userId, sessionId: sessionId)
        }
    }

    /// Returns the session's version; logs the call.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await logger.logging("version", Self.named(userId, sessionId)) {
            try await storage.version(userId: userId, sessionId: sessionId)
        }
    }

    /// The value of the wrapped store.
    public var preservesContent: Bool { storage.preservesContent }

    private static func named(_ userId: String, _ sessionId: String) -> Logger.Metadata {
        ["user": "\(StoreEvents.hashed(userId))", "session": "\(StoreEvents.hashed(sessionId))"]
    }

    private static func named(
        _ userId: String, _ sessionId: String, _ agentId: String, _ maxMessages: Int?
    ) -> Logger.Metadata {
        var metadata = named(userId, sessionId)
        metadata["agent"] = "\(StoreEvents.hashed(agentId))"
        metadata["maxMessages"] = maxMessages.map { "\($0)" }
        return metadata
    }
}
