import Foundation
import Logging

/// A chat store with one JSON file for each scope, `base/user/session/agent.json`, without a database.
///
/// ```swift
/// let files = FileChatStorage(baseURL: folder)
/// let message = ConversationMessage(role: .user, text: "Hello")
/// try await files.save(message, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
/// ```
///
/// A file is an array of messages in Agent Squad's format. It is valid JSON whenever no save is running. The store
/// also reads and continues files written by Agent Squad. Saving a turn costs the same at turn 10 and at turn
/// 10,000: it is appended to the file, and after the first access a save neither reads nor rewrites existing
/// content. File names are unique for IDs of any bytes, even on case-insensitive file systems. Folders are created
/// for this user only (0700), and so are files (0600).
///
/// Several stores and processes may use one folder at the same time without loss. Each sees the saves of the
/// others. Within a scope, one ID is one message: a known ID keeps its first content. A scope's budget removes
/// messages permanently. A file has at most 1 GiB: a save beyond it throws `tooLarge` and saves nothing.
///
/// File operations run on the store's own queues, one operation per session at a time. The calling task waits
/// without blocking a thread. A session locked by another process delays only its own callers. A task canceled
/// before its save is queued saves nothing, and gets `CancellationError`. A task canceled later gets the result of
/// the save.
///
/// A damaged file is set aside in its folder under a new name, its readable content is kept, and an event has the
/// number of messages. A missing file is empty. So is a foreign file or folder, such as a symbolic link, in place
/// of a chat file or of a folder. It is left untouched, with an event, and a save there throws `foreignStore`. All
/// other failures are `RecollectError`s: `diskFull`, `readOnly`, `permissionDenied`, `tooManyOpenFiles`,
/// `inputOutput`, or `busy` if another process locks a session for more than 30 seconds. A failed save saves
/// nothing.
///
/// The folder needs a file system with locks. Every local file system has them.
public final class FileChatStorage: ChatStorage {
    /// The events of the store, such as dropped messages and files set aside.
    public let events: StoreEvents
    /// The folder of all files.
    public let baseURL: URL

    private let sameRole: SameRolePolicy
    private let queues: SessionQueues

    /// Creates a store. Accesses no file before the first call.
    /// - Parameters:
    ///   - baseURL: The folder, created when needed. `nil` means `AgentSquadChats` in the user's caches. The
    ///     system may empty the caches when space runs out: for permanent chats, use a folder in Application
    ///     Support.
    ///   - fileManager: The file manager for finding the caches.
    ///   - durability: The guarantee for an acknowledged save.
    ///   - sameRole: The rule for a message with the last stored role.
    ///   - logger: The log of the store. Message bodies are never logged.
    public convenience init(
        baseURL: URL? = nil, fileManager: FileManager = .default, durability: Durability = .full,
        sameRole: SameRolePolicy = .drop, logger: Logger = Logger(label: "recollect")
    ) {
        self.init(
            baseURL: baseURL, fileManager: fileManager, durability: durability, sameRole: sameRole, logger: logger,
            maxWait: .seconds(30))
    }

    init(
        baseURL: URL?, fileManager: FileManager = .default, durability: Durability = .full,
        sameRole: SameRolePolicy = .drop,
        logger: Logger = Logger(label: "recollect"), maxWait: Duration
    ) {
        let base = baseURL ?? DefaultDirectory.caches(of: fileManager).appendingPathComponent("AgentSquadChats")
        let events = StoreEvents(logger: logger)
        self.baseURL = base
        self.events = events
        self.sameRole = sameRole
        queues = SessionQueues(base: base.path, durability: durability, events: events, maxWait: maxWait)
    }

    /// Returns the last messages of a scope, in the order of saving.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let size = MessageWindow.size(for: maxMessages)
        return try await onFiles(of: SessionKey(userId: userId, sessionId: sessionId)) {
            try $0.messages(of: agentId, last: size)
        }
    }

    /// Saves one message as a batch of one.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch completely or not at all, then trims the scope to its budget.
    ///
    /// With `durability: .full`, the batch is durable on return. The trim becomes durable with the next save: a
    /// power loss before it may bring trimmed messages back, but loses no other message. A failed trim, for
    /// example on a full disk, is repeated by the next save.
    /// - Throws: `RecollectError`, for example `tooLarge` for a value nested deeper than `JSONValue.depthLimit`,
    ///   or `CancellationError` if the task was canceled before. Nothing is saved then.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try messages.checkSavable()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let size = MessageWindow.size(for: maxMessages)
        let admission = try await onFiles(of: scope.session) { [sameRole] in
            try $0.save(messages, for: agentId, window: size, sameRole: sameRole)
        }
        admission.report(to: events, scope: scope)
    }

    /// Returns all messages of a session, merged over its agents by timestamp. The text of assistants begins with
    /// `[agentId]`.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await onFiles(of: SessionKey(userId: userId, sessionId: sessionId)) {
            MergedChats.merge(try $0.allMessages())
        }
    }

    /// Returns the version of a session's files: their names, sizes and modification dates.
    ///
    /// Two writes within one tick of a file system's clock (some milliseconds, on some systems two seconds) have
    /// the same date. So until the last change is more than three seconds old, every call returns a new version.
    /// So does every call with a foreign file or folder in place of the session's folder.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await onFiles(of: SessionKey(userId: userId, sessionId: sessionId)) { try $0.version() }
    }

    private func onFiles<Result: Sendable>(
        of session: SessionKey, _ work: @escaping @Sendable (SessionFiles) throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await queues.run(session, work)
    }
}
