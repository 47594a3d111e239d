import Logging

/// Logs what is asked of a storage: what, how many messages, how long it took, and how it ended.
///
/// Never bodies; ids of users, sessions and agents only as the first 12 digits of their SHA-256, and of errors that are not
/// Recollect's only the type, because nobody knows what they quote. What succeeds is logged as debug, what fails as error, a
/// cancelled call too. May be used from any task; every call is passed on as it is.
public final class LoggingChatStorage: DraftingChatStorage, VersionedChatStorage {
    private let storage: any ChatStorage
    private let logger: Logger

    /// Wraps a storage.
    /// - Parameters:
    ///   - storage: The storage that keeps the messages.
    ///   - logger: Where calls are logged.
    public init(wrapping storage: any ChatStorage, logger: Logger = Logger(label: "recollect.chats")) {
        self.storage = storage
        self.logger = logger
    }

    /// The messages of one scope; logs how many, and the budget.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await logger.logging(
            "fetch", Self.named(userId, sessionId, agentId, maxMessages), counting: { ["messages": "\($0.count)"] }
        ) {
            try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
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

    /// Saves a batch; logs how many messages, and the budget.
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

    /// All messages of a session; logs how many.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await logger.logging(
            "fetchAllChats", Self.named(userId, sessionId), counting: { ["messages": "\($0.count)"] }
        ) {
            try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    /// Begins a reply; logs whether the storage keeps one. What is appended to it, and its end, are not logged.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> ReplyDraft? {
        try await logger.logging(
            "beginReply", Self.named(userId, sessionId, agentId, maxMessages),
            counting: { ["isKept": "\($0 != nil)"] }
        ) {
            try await (storage as? any DraftingChatStorage)?.beginReply(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    /// The replies in flight of a session; logs how many.
    public func repliesInFlight(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)] {
        try await logger.logging(
            "repliesInFlight", Self.named(userId, sessionId), counting: { ["messages": "\($0.count)"] }
        ) {
            try await (storage as? any DraftingChatStorage)?.repliesInFlight(userId: userId, sessionId: sessionId) ?? []
        }
    }

    /// The session's version: passed on; logs that it was asked.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await logger.logging("version", Self.named(userId, sessionId)) {
            try await (storage as? any VersionedChatStorage)?.version(userId: userId, sessionId: sessionId)
        }
    }

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
