import Foundation
import Logging

/// Keeps each scope as a JSON file, `base/user/session/agent.json`, without a database.
///
/// The file is an array of messages as Agent Squad writes it, valid JSON whenever no save is under way; files that Agent Squad
/// wrote are found and go on being used. Saving a turn costs the same at turn 10 and turn 10,000: it is appended to the file,
/// and after the first touch nothing of what is there is read or written again. Names keep ids of any bytes apart, on file
/// systems too that take `bob` for `Bob`; folders are made for this user alone (0700), files too (0600).
///
/// Several stores and several processes may use one folder at the same time and lose nothing; each sees what the others saved.
/// Within a scope one id is one message: a known id keeps its first content. A scope's budget removes messages for good.
///
/// All file work runs on threads of the store's own, one operation of a session at a time; the calling task waits without
/// holding a thread. A session that another process holds keeps nobody waiting but its own callers. A task that is cancelled before its save is queued has saved nothing and gets `CancellationError`;
/// after that it gets the true result.
///
/// A file that is damaged is set aside in its folder under a new name, what can be read of it is kept, and `events` tells how
/// much; a missing file reads as empty. So does something in the place of a chat file or of a folder that is neither, a folder or a
/// symbolic link say: it is left untouched, `events` tells of it, and a save there throws `foreignStore`. All other failures are
/// `RecollectError`s: `diskFull`, `readOnly`, `permissionDenied`, `tooManyOpenFiles`, `busy` when another
/// process holds a session for more than half a minute, `inputOutput`. A save that fails is not kept.
///
/// The folder needs a file system with locks, as every local one has.
public final class FileChatStorage: VersionedChatStorage {
    /// Where the store tells of messages that it dropped and files that it set aside.
    public let events: StoreEvents
    /// The folder that holds everything.
    public let baseURL: URL

    private let sameRole: SameRole
    private let queues: SessionQueues

    /// Makes a store; no file is touched before the first call.
    /// - Parameters:
    ///   - baseURL: The folder, made when it is needed. `nil` is `AgentSquadChats` in the user's caches, which the system may
    ///     empty when space runs out: give a folder in Application Support for what must stay.
    ///   - fileManager: Tells where the user's caches are.
    ///   - durability: What a save that returned has survived.
    ///   - sameRole: What happens to a message that repeats the last stored role.
    ///   - logger: Where the store logs; never a message's body.
    public convenience init(
        baseURL: URL? = nil, fileManager: FileManager = .default, durability: Durability = .full,
        sameRole: SameRole = .drop, logger: Logger = Logger(label: "recollect")
    ) {
        self.init(
            baseURL: baseURL, fileManager: fileManager, durability: durability, sameRole: sameRole, logger: logger,
            patience: .seconds(30))
    }

    init(
        baseURL: URL?, fileManager: FileManager = .default, durability: Durability = .full, sameRole: SameRole = .drop,
        logger: Logger = Logger(label: "recollect"), patience: Duration
    ) {
        let base = baseURL ?? DefaultDirectory.caches(of: fileManager).appendingPathComponent("AgentSquadChats")
        let events = StoreEvents(logger: logger)
        self.baseURL = base
        self.events = events
        self.sameRole = sameRole
        queues = SessionQueues(base: base.path, durability: durability, events: events, patience: patience)
    }

    /// The last messages of a scope, in the order of saving.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let size = MessageWindow.size(for: maxMessages)
        return try await onFiles(of: ConversationID(userId: userId, sessionId: sessionId)) {
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

    /// Saves a batch whole or not at all, then trims the scope to the budget.
    ///
    /// With `durability: .full` the batch is on the disk when this returns. The trim follows with the next save: a power cut
    /// before that may bring trimmed messages back, never lose one that was to stay. A trim that fails, on a full disk say, is left to
    /// the next save as well.
    /// - Throws: `RecollectError`, `tooLarge` for a value nested deeper than `JSONValue.depthLimit`, say, or `CancellationError` if
    ///   the task was cancelled before; then nothing is saved.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try messages.checkSavable()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let size = MessageWindow.size(for: maxMessages)
        let admission = try await onFiles(of: scope.conversation) { [sameRole] in
            try $0.save(messages, for: agentId, window: size, sameRole: sameRole)
        }
        admission.report(to: events, scope: scope)
    }

    /// All messages of a session, merged over its agents by timestamp, with what assistants said prefixed `[agentId]`.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await onFiles(of: ConversationID(userId: userId, sessionId: sessionId)) {
            MergedChats.merge(try $0.allMessages())
        }
    }

    /// Which files the session has, how long they are and when they were changed last.
    ///
    /// File systems count time in ticks of some milliseconds, some of two seconds: until a file has rested for longer than that,
    /// every call gives a new version, since two writes in one tick could not be told apart.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await onFiles(of: ConversationID(userId: userId, sessionId: sessionId)) { try $0.version() }
    }

    private func onFiles<Result: Sendable>(
        of conversation: ConversationID, _ work: @escaping @Sendable (SessionFiles) throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await queues.run(conversation, work)
    }
}
