/// A function that changes a message before it is saved, or returns `nil` to leave it out. An error makes the save
/// fail.
public typealias MessageTransform = @Sendable (ConversationMessage) async throws -> ConversationMessage?

/// A wrapper that changes every message before it is saved, for example to remove credentials before they reach a
/// store.
///
/// ```swift
/// let store = TransformingChatStorage(wrapping: files) { message in
///     message.mappingText { $0.replacing(/\b\d{16}\b/, with: "[card]") }
/// }
/// ```
///
/// Reads are forwarded: messages saved without this wrapper are returned unchanged. A message keeps its ID
/// regardless of the transform, because an ID names one message in a session, and a retry must find it. Everything
/// else may change, including the role.
///
/// **No streaming replies.** `beginReply` returns `nil`, so an orchestrator holds a reply in memory until it can be
/// transformed as a whole. Saved in increments, a credential split between two of them would reach the disk. As a
/// consequence, a reply is lost if its process ends before the reply does.
///
/// A batch is transformed one message at a time on the calling task, then saved completely, or not at all if the
/// transform throws or the task was canceled. Simultaneous saves are ordered by the end of their transforms.
/// Omitted messages do not count for the same-role rule: a reply without its input may repeat the last role and is
/// then dropped.
public final class TransformingChatStorage: ChatStorage {
    private let storage: any ChatStorage
    private let transform: MessageTransform

    /// Creates a wrapper around a store.
    /// - Parameters:
    ///   - storage: The store of the transformed messages.
    ///   - transform: The function applied to each message, possibly in many tasks at the same time.
    public init(wrapping storage: any ChatStorage, transform: @escaping MessageTransform) {
        self.storage = storage
        self.transform = transform
    }

    /// Returns the messages of one scope from the wrapped store.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Returns the messages for a model, unchanged.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        try await storage.window(
            userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: counter)
    }

    /// Returns the messages of a scope with its compaction, unchanged.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        try await storage.compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves a compaction with the transformed summary, passed to the transform as a message with the role `system`.
    /// - Throws: `verificationFailed` if the transform omits the summary; errors of the transform and of the store.
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        guard let transformed = try await transform(ConversationMessage(role: .system, text: summary)) else {
            throw RecollectError(
                .verificationFailed, "the transform omits the summary; it must not omit messages with the role `system`"
            )
        }
        return try await storage.compact(
            messages, into: transformed.text, by: author, after: previousId, userId: userId, sessionId: sessionId,
            agentId: agentId)
    }

    /// Returns the compactions of a scope, unchanged.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await storage.compactions(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Removes a compaction from the wrapped store.
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        try await storage.removeCompaction(id, userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Saves the transformed message.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves the transformed messages of a batch. If none are left, the scope is still trimmed.
    /// - Throws: Errors of the transform, and then nothing of the batch is saved; errors of the store.
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

    /// Returns all messages of a session from the wrapped store.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
    }

    /// Returns `nil`, because increments of a reply cannot be transformed.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        nil
    }

    /// Returns the streaming replies begun in the wrapped store by others.
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

    /// `false`: the transform may change any message.
    public var preservesContent: Bool { false }
}
