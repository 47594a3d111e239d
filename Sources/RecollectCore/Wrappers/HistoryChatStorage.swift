/// The `ChatStorage` view of one user's part of a history.
///
/// ```swift
/// let store = HistoryChatStorage(history: history, userId: "ana")
/// try await store.save(message, userId: "ana", sessionId: "today", agentId: "helper", maxMessages: 100)
/// ```
///
/// It costs nothing to create: a server creates one for each request. `DeviceChatStorage` and `PostgresChatStorage` are its names for a
/// history on the device, and for one in PostgreSQL.
///
/// The storage serves one user. A call with another user ID is a programming error: it fails an assertion in debug
/// builds and uses the bound ID in release builds.
///
/// Within a scope (user, session, agent), an ID names one message. In another scope, the same ID names another message.
/// Saving a known message again changes nothing. There is one exception: a message first saved by a UI, through
/// `SQLiteSessionStorage` under the empty agent ID, moves to the agent saving it or beginning a reply with its ID. So
/// the order of the two saves does not matter.
public final class HistoryChatStorage: ChatStorage {
    /// The user of this storage.
    public let userId: String
    /// The underlying history, for operations beyond `ChatStorage`.
    public let history: any HistoryStore

    private let sameRole: SameRolePolicy

    /// Creates a user's view of a history shared with other views. The durability and retention are those of the
    /// history.
    ///
    /// - Parameters:
    ///   - history: The history.
    ///   - userId: The user of every call.
    ///   - sameRole: The treatment of a message with the same role as the last one.
    public init(history: any HistoryStore, userId: String, sameRole: SameRolePolicy = .drop) {
        self.userId = userId
        self.history = history
        self.sameRole = sameRole
    }

    /// Permanently deletes all data of the bound user, and erases damaged files set aside earlier.
    public func clear() async throws {
        try await history.deleteUser(userId)
    }

    /// Returns the messages of one scope, with the bytes of their attachments: see `ChatStorage`.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = scope(userId, sessionId, agentId)
        return try await history.restoringAttachments(
            of: history.window(of: scope, maxMessages: maxMessages), userId: scope.userId)
    }

    /// Returns the messages of one scope for a model, with the bytes of their attachments: see `ChatStorage`. The counter
    /// gets them without the bytes.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        let scope = scope(userId, sessionId, agentId)
        return try await history.restoringAttachments(
            of: history.window(of: scope, tokens: tokens, counter: counter), userId: scope.userId)
    }

    /// Returns the messages of one scope with its compaction, with the bytes of their attachments: see `ChatStorage`.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        let scope = scope(userId, sessionId, agentId)
        func restoring(_ messages: [ConversationMessage]) async throws -> [ConversationMessage] {
            try await history.restoringAttachments(of: messages, userId: scope.userId)
        }
        var compacted = try await history.compactedMessages(of: scope)
        compacted.instructions = try await restoring(compacted.instructions)
        compacted.pinned = try await restoring(compacted.pinned)
        compacted.messages = try await restoring(compacted.messages)
        return compacted
    }

    /// Saves a compaction in the history: see `ChatStorage` and `HistoryStore`.
    @discardableResult
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        try await history.compact(
            messages, of: scope(userId, sessionId, agentId), into: summary, by: author, after: previousId)
    }

    /// Returns the compactions of one scope: see `ChatStorage`.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await history.compactions(of: scope(userId, sessionId, agentId))
    }

    /// Permanently removes a compaction: see `ChatStorage`.
    @discardableResult
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        try await history.removeCompaction(id, of: scope(userId, sessionId, agentId))
    }

    /// Saves one message: see `ChatStorage`.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch: see `ChatStorage`.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await history.append(
            messages, to: scope(userId, sessionId, agentId),
            options: AppendOptions(sameRole: sameRole, maxMessages: maxMessages, claimsUnassigned: true))
    }

    /// Returns all messages of a session, with the bytes of their attachments: see `ChatStorage`.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let session = scope(userId, sessionId, "").session
        let windows = try await history.windows(of: session)
        return try await history.restoringAttachments(of: MergedChats.merge(windows), userId: session.userId)
    }

    /// Begins a streaming reply: see `ChatStorage`. Never returns `nil`.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        try await history.beginReply(message, in: scope(userId, sessionId, agentId), maxMessages: maxMessages)
    }

    /// Returns the streaming replies of a session, with the bytes of their attachments: see `ChatStorage`.
    public func streamingReplies(
        userId: String, sessionId: String
    ) async throws -> [AgentMessage] {
        let session = scope(userId, sessionId, "").session
        let replies = try await history.streamingReplies(in: session)
        let messages = try await history.restoringAttachments(of: replies.map(\.message), userId: session.userId)
        return zip(replies, messages).map { AgentMessage(agentId: $0.agentId, message: $1) }
    }

    /// Waits for the lease of a session, for 30 seconds without a renewal: see `ChatStorage`.
    public func lease(userId: String, sessionId: String) async throws -> TurnLease? {
        try await history.lease(of: scope(userId, sessionId, "").session, for: .seconds(30))
    }

    /// Returns the session's version, or `nil` if the history has no versions. The version changes with every write to
    /// the history.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await history.version(of: scope(userId, sessionId, "").session)
    }

    private func scope(_ userId: String, _ sessionId: String, _ agentId: String) -> Scope {
        assert(userId.hasSameBytes(as: self.userId), "this chat storage was created for another user")
        return Scope(userId: self.userId, sessionId: sessionId, agentId: agentId)
    }
}
