import Foundation
import RecollectCore

/// One user's chat history on the device: the `ChatStorage` view of a SQLite history.
///
/// ```swift
/// let store = try DeviceChatStorage(userId: currentUser.id)
/// try await store.save(message, userId: currentUser.id, sessionId: "today", agentId: "helper", maxMessages: 100)
/// ```
///
/// The store is made for one user. Another user id at a call is a mistake in the app: it fails an assertion in debug builds
/// and is taken for the bound id in release builds. Nothing is read or made before the first call.
public final class DeviceChatStorage: DraftingChatStorage {
    /// The user whose history this is.
    public let userId: String
    /// The history that lies below, for everything that `ChatStorage` has no method for.
    public let history: any HistoryStore

    private let sameRole: SameRole

    /// Opens a user's history in a folder of its own.
    ///
    /// - Parameters:
    ///   - userId: the user; every call is for them.
    ///   - baseURL: the folder; by default `AgentSquad` in Caches, which is not backed up and which the system may reclaim.
    ///   - inMemory: keeps nothing on the disk: for tests.
    ///   - durability: what a save that returned has survived.
    ///   - retention: what is kept of messages that left the window.
    ///   - sameRole: what happens to a message that repeats the last role.
    public init(
        userId: String, baseURL: URL? = nil, inMemory: Bool = false, durability: Durability = .full,
        retention: Retention = .window, sameRole: SameRole = .drop
    ) throws {
        let configuration = HistoryConfiguration(durability: durability, retention: retention)
        self.userId = userId
        self.sameRole = sameRole
        history =
            inMemory
            ? SQLiteHistoryStore(inMemory: configuration)
            : SQLiteHistoryStore(
                directory: baseURL ?? DefaultDirectory.caches.appendingPathComponent("AgentSquad", isDirectory: true),
                configuration: configuration)
    }

    /// A user's view of a history that other views share; durability and retention are the history's.
    public init(history: any HistoryStore, userId: String, sameRole: SameRole = .drop) {
        self.userId = userId
        self.history = history
        self.sameRole = sameRole
    }

    /// Deletes everything that is kept of the bound user for good, and erases damaged files that were set aside.
    public func clear() async throws {
        try await history.deleteUser(userId)
    }

    /// The messages of one scope: see `ChatStorage`. Attachments come with their bytes.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = scope(userId, sessionId, agentId)
        return try await history.restoringAttachments(of: history.window(of: scope, maxMessages: maxMessages))
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
            options: AppendOptions(sameRole: sameRole, maxMessages: maxMessages))
    }

    /// All messages of a session: see `ChatStorage`. Attachments come with their bytes.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let windows = try await history.windows(of: scope(userId, sessionId, "").conversation)
        return try await history.restoringAttachments(of: MergedChats.merge(windows))
    }

    /// Begins a reply that is kept while it streams: see `DraftingChatStorage`. It never gives `nil`.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> ReplyDraft? {
        try await history.beginReply(message, in: scope(userId, sessionId, agentId), maxMessages: maxMessages)
    }

    /// The replies in flight of a session: see `DraftingChatStorage`. Attachments come with their bytes.
    public func repliesInFlight(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)] {
        let replies = try await history.repliesInFlight(in: scope(userId, sessionId, "").conversation)
        let messages = try await history.restoringAttachments(of: replies.map(\.message))
        return zip(replies, messages).map { ($0.agentId, $1) }
    }

    private func scope(_ userId: String, _ sessionId: String, _ agentId: String) -> Scope {
        assert(userId.hasSameBytes(as: self.userId), "this DeviceChatStorage was made for another user")
        return Scope(userId: self.userId, sessionId: sessionId, agentId: agentId)
    }
}
