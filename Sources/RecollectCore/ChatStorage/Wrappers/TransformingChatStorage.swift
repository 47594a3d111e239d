/// Changes a message before it is saved, or leaves it out by giving `nil`. What it throws fails the save.
public typealias MessageTransform = @Sendable (ConversationMessage) async throws -> ConversationMessage?

/// Changes every message before it is saved: takes secrets out, say, so that no store ever sees them.
///
/// ```swift
/// let store = TransformingChatStorage(wrapping: files) { message in
///     message.mappingText { $0.replacing(/\b\d{16}\b/, with: "[card]") }
/// }
/// ```
///
/// Reads are passed on: what was saved another way is given as it is. The id of a message stays whatever the transform gives: in a
/// session one id is one message, and a retry must find it. Everything else may change, the role too.
///
/// **No drafts.** `beginReply` gives `nil`, so that an orchestrator holds a reply in memory until it can be transformed whole: kept
/// piece by piece, a secret that two pieces share would reach the disk. A reply whose process ends in the middle is lost for it.
///
/// A batch is transformed, message after message, on the task that saves, and then saved: whole, or not at all where the
/// transform throws or the task was cancelled. Of saves at the same time the order is that in which their transforms end. Messages
/// that are left out do not count for the rule of same role: an answer whose question is left out may repeat the last role, and is
/// dropped then.
public final class TransformingChatStorage: DraftingChatStorage, VersionedChatStorage {
    private let storage: any ChatStorage
    private let transform: MessageTransform

    /// Wraps a storage.
    /// - Parameters:
    ///   - storage: The storage that keeps what the transform gives.
    ///   - transform: Gives what is saved instead of a message; called for many tasks at the same time.
    public init(wrapping storage: any ChatStorage, transform: @escaping MessageTransform) {
        self.storage = storage
        self.transform = transform
    }

    /// The messages of one scope: passed on.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves what the transform gives for a message.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves what the transform gives for the messages of a batch; if nothing is left of it, the scope is still trimmed.
    /// - Throws: What the transform throws, and then nothing of the batch is saved; what the storage throws.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        var transformed: [ConversationMessage] = []
        for message in messages {
            try Task.checkCancellation()
            if let result = try await transform(message) { transformed.append(result.with(id: message.id)) }
        }
        try await storage.saveMessages(
            transformed, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// All messages of a session: passed on.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
    }

    /// Gives `nil`: pieces of a reply cannot be transformed.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> ReplyDraft? {
        nil
    }

    /// The replies in flight that others began in the storage: passed on.
    public func repliesInFlight(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)] {
        try await (storage as? any DraftingChatStorage)?.repliesInFlight(userId: userId, sessionId: sessionId) ?? []
    }

    /// The session's version: passed on.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await (storage as? any VersionedChatStorage)?.version(userId: userId, sessionId: sessionId)
    }
}
