import Foundation
import GRDB
import Logging
import RecollectCore

/// A history in SQLite: one file for all users, sessions and agents of a device or a server.
///
/// Make it once and hand it to every view. The initialiser does no slow work: the database is opened, migrated and, if it is
/// damaged, salvaged at first use, or by `open()`. Stores of the same folder in one process share one database; any number
/// of processes may use the folder at the same time.
///
/// Writes of many tasks are committed in groups with one sync. Nothing blocks the thread that calls.
public final class SQLiteHistoryStore: HistoryStore {
    /// The folder that holds the history; `nil` for one in memory.
    public var directory: URL? { connection.files?.directory }
    /// Where the store tells what it did of its own accord.
    public let events: StoreEvents
    /// How the history is kept.
    public let configuration: HistoryConfiguration

    let connection: HistoryConnection
    let attachments: any AttachmentKeeping
    private let follower: IndexFollower?
    private let signal = ChangeSignal()
    private let nextDeletion = Locked(DispatchTime(uptimeNanoseconds: 0))
    private let ioQueue = DispatchQueue(label: "recollect.history.attachments", attributes: .concurrent)

    /// Names a history; nothing is read or made before it is used.
    /// - Parameters:
    ///   - directory: the folder; by default `Recollect` in Application Support (on Linux what Foundation gives for it).
    ///   - configuration: how the history is kept; the defaults lose nothing.
    public convenience init(directory: URL? = nil, configuration: HistoryConfiguration = HistoryConfiguration()) {
        let directory = directory ?? Self.defaultDirectory
        self.init(files: HistoryFiles(directory: directory.standardizedFileURL), configuration: configuration)
    }

    /// Names a history by its database's file, in a folder that may hold other things; nothing is read or made before it is
    /// used. What belongs to it lies beside it, under names that begin with the database's.
    public convenience init(databaseURL: URL, configuration: HistoryConfiguration = HistoryConfiguration()) {
        self.init(files: HistoryFiles(database: databaseURL.standardizedFileURL), configuration: configuration)
    }

    private init(files: HistoryFiles, configuration: HistoryConfiguration) {
        self.configuration = configuration
        events = StoreEvents(logger: configuration.logger)
        connection = HistoryConnection(files: files, configuration: configuration, events: events)
        attachments = AttachmentFiles(directory: files.attachments)
        follower = configuration.indexesInBackground ? IndexFollower() : nil
    }

    /// Makes a history that lives in memory and ends with the store: for tests.
    public init(inMemory configuration: HistoryConfiguration) {
        self.configuration = configuration
        events = StoreEvents(logger: configuration.logger)
        connection = HistoryConnection(files: nil, configuration: configuration, events: events)
        attachments = AttachmentMemory()
        follower = nil
    }

    /// Where a history lies by default: `Recollect` in Application Support.
    public static var defaultDirectory: URL {
        DefaultDirectory.applicationSupport.appendingPathComponent("Recollect", isDirectory: true)
    }

    /// Opens, migrates and, if need be, salvages the database now instead of at first use.
    /// - Throws: `foreignStore`, `newerSchema` (both leave every file untouched), `cannotOpen`, `permissionDenied`,
    ///   `readOnly`, `diskFull`, `busy`.
    @discardableResult
    public func open() async throws -> SQLiteHistoryStore {
        try await perform { _ in }
        return self
    }

    /// Closes the database and moves its log into it. Waits for writes that are under way; the next use opens it again.
    ///
    /// Nothing depends on it: what was saved lies in the log and is read at the next opening. It makes one file of two.
    public func close() async {
        await connection.close()
    }

    // MARK: Writing

    /// Appends a batch: see `HistoryStore`.
    @discardableResult
    public func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome {
        try Task.checkCancellation()
        let kept = try await keepingAttachments(of: messages)
        let result = try await write { [attachments, retention = configuration.retention] db, unsettled in
            let messages = try kept.secured(in: attachments)
            let appending = Appending(messages: messages, scope: scope, options: options, retention: retention)
            var result = try appending.run(db, unsettled)
            result.orphans += try kept.unused(db)
            return result
        }
        for id in result.dropped {
            events.post(StoreEvent(kind: .droppedSameRole, scope: scope, messageId: id))
        }
        try await removeAttachments(result.orphans)
        try await deleteOldMessagesIfDue()
        return result.outcome
    }

    /// Sets a conversation's details: see `HistoryStore`.
    @discardableResult
    public func update(
        _ conversation: ConversationID, with details: ConversationDetails, makesNew: Bool
    ) async throws -> Bool {
        let now = Date().millisecondsSince1970
        return try await write { db in
            guard try makesNew || MessageQueries.number(of: conversation, db) != nil else { return false }
            try ConversationEdits.update(conversation, with: details, now: now, db)
            return true
        }
    }

    /// Copies a conversation up to a message: see `HistoryStore`.
    public func fork(_ conversation: ConversationID, at messageId: String, into newSessionId: String) async throws {
        try await write { try ConversationEdits.fork(conversation, at: messageId, into: newSessionId, $0) }
    }

    /// Deletes messages for good: see `HistoryStore`.
    @discardableResult
    public func deleteMessages(_ ids: [String], in conversation: ConversationID) async throws -> Int {
        let (count, orphans) = try await write { try MessageDeletion.delete(ids, in: conversation, $0) }
        try await finishDeletion(orphans)
        return count
    }

    /// Deletes a conversation for good: see `HistoryStore`.
    @discardableResult
    public func deleteConversation(_ conversation: ConversationID) async throws -> Bool {
        let (existed, orphans) = try await write { try MessageDeletion.delete(conversation, $0) }
        try await finishDeletion(orphans)
        return existed
    }

    /// Deletes a user's history for good, and every damaged file that was set aside: see `HistoryStore`.
    public func deleteUser(_ userId: String) async throws {
        let orphans = try await write { try MessageDeletion.deleteUser(userId, $0) }
        if let files = connection.files {
            try await blocking {
                for file in try files.setAsideFiles() {
                    try FileObservation.perform(.remove(path: file.path)) {
                        try FileManager.default.removeItem(at: file)
                    }
                }
            }
        }
        try await finishDeletion(orphans)
    }

    /// Deletes messages whose timestamp is before a moment, of all users, for good. Returns how many there were.
    @discardableResult
    public func deleteMessages(olderThan moment: Date) async throws -> Int {
        var total = 0
        while true {
            let batch = 1000
            let (count, orphans) = try await write {
                try MessageDeletion.deleteOlder(than: moment.millisecondsSince1970, limit: batch, $0)
            }
            total += count
            if count < batch {
                if total > 0 { try await write { try SearchIndex.erase($0) } }
                try await finishDeletion(orphans)
                return total
            }
            try await removeAttachments(orphans)
        }
    }

    /// Deletes conversations of all users that were discarded before a moment, for good. Returns how many there were.
    @discardableResult
    public func deleteConversations(discardedBefore moment: Date) async throws -> Int {
        let (count, orphans) = try await write {
            try MessageDeletion.deleteDiscarded(before: moment.millisecondsSince1970, $0)
        }
        if count > 0 { try await finishDeletion(orphans) }
        return count
    }

    /// Under `retention: .days` deletes what has grown too old: with the first save, then once an hour.
    func deleteOldMessagesIfDue() async throws {
        guard case .days(let days) = configuration.retention else { return }
        let now = DispatchTime.now()
        let isDue = nextDeletion.withLock { next in
            guard now >= next else { return false }
            next = now + .seconds(3600)
            return true
        }
        if isDue {
            let moment = Date().addingTimeInterval(-86_400 * Double(days))
            try await deleteConversations(discardedBefore: moment)
            try await deleteMessages(olderThan: moment)
        }
    }

    // MARK: Reading

    /// The last messages of a scope's window: see `HistoryStore`.
    public func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await perform { database in
            try await database.readStatement { try WindowQueries.window(of: scope, maxMessages: maxMessages, $0) }
        }
    }

    /// The last messages of a scope without half an exchange: see `HistoryStore`.
    public func wholeWindow(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await window(of: scope, maxMessages: maxMessages).wholeExchanges()
    }

    /// The windows of all agents: see `HistoryStore`.
    public func windows(
        of conversation: ConversationID
    ) async throws -> [(agentId: String, messages: [ConversationMessage])] {
        try await read { try WindowQueries.windows(of: conversation, $0) }
    }

    /// A user's conversations by pages: see `HistoryStore`. Where a text is looked for, messages that no index has yet are
    /// indexed first, and of the messages that hold it the newest 20,000 count.
    public func conversations(
        _ query: ConversationQuery, page: PageRequest<ConversationCursor>
    ) async throws -> Page<Conversation, ConversationCursor> {
        if !query.text.isEmpty { try await indexEverything() }
        return try await readSettled { try ConversationQueries.page(query, page, $0) }
    }

    /// One conversation: see `HistoryStore`.
    public func conversation(_ conversation: ConversationID) async throws -> Conversation? {
        try await readSettled { try ConversationQueries.one(conversation, $0) }
    }

    /// Conversations by the beginning of their session's id: see `HistoryStore`.
    public func conversations(
        of userId: String, sessionIdPrefix prefix: String, limit: Int
    ) async throws -> [Conversation] {
        try await readSettled { try ConversationQueries.matching(userId: userId, prefix: prefix, limit: limit, $0) }
    }

    /// Messages of a conversation by pages: see `HistoryStore`.
    public func messages(
        of conversation: ConversationID, agentId: String?, page: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        try await read { try MessageQueries.page(of: conversation, agentId: agentId, page, $0) }
    }

    /// One message: see `HistoryStore`.
    public func message(_ id: String, in conversation: ConversationID) async throws -> StoredMessage? {
        try await readSettled { try MessageQueries.one(id, in: conversation, $0) }
    }

    /// Searches a user's messages: see `HistoryStore`. Messages that no index has yet are indexed first.
    public func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        try await indexEverything()
        return try await read { try SearchIndex.search($0, query) }
    }

    /// Indexes every message that the search index has not.
    ///
    /// Large transactions are faster, but a save waits for the one under way, and how long messages are is not known: so
    /// their size follows the time that they take.
    func indexEverything() async throws {
        var limit = 1000
        while try await read({ try SearchIndex.isBehind($0) }) {
            let bite = limit
            let taken = try await ContinuousClock().measure {
                _ = try await write { try SearchIndex.advance($0, limit: bite) }
            }
            if taken < .milliseconds(100) {
                limit = min(limit * 2, 20_000)
            } else if taken > .milliseconds(200) {
                limit = max(limit / 2, 100)
            }
        }
    }

    // MARK: Changes

    /// Where the change feed stands: see `HistoryStore`.
    public func latestChange() async throws -> ChangeCursor {
        try await read { ChangeCursor(sequence: try $0.lastSequence()) }
    }

    /// Changes after a cursor: see `HistoryStore`.
    public func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        try await read { try ChangeFeed.page(after: cursor, limit: limit, $0) }
    }

    /// Changes after a cursor as they come: see `HistoryStore`. Other processes' writes are looked for every 250 ms.
    public func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        let (stream, continuation) = AsyncThrowingStream<HistoryChange, any Error>.makeStream()
        let task = Task {
            var cursor = cursor
            do {
                for await _ in signal.stream() {
                    while true {
                        let changes = try await changes(after: cursor, limit: 500)
                        for change in changes { continuation.yield(change) }
                        guard let last = changes.last else { break }
                        cursor = last.cursor
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    // MARK: Ways in

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await perform { try await $0.read(body) }
    }

    /// Reads what follows the feed: settles first if anything was saved since.
    func readSettled<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let settled: Value? = try await read { db -> Value? in
            try Settling.isBehind(db) ? nil : .some(try body(db))
        }
        if let settled { return settled }
        return try await write { db in
            try Settling.settle(db)
            return try body(db)
        }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { db, _ in try body(db) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, UnsettledIDs) throws -> Value
    ) async throws -> Value {
        try await perform { database in
            let value = try await database.write { [unsettled = database.unsettled] in try body($0, unsettled) }
            signal.signal()
            follower?.noteCommit(database)
            return value
        }
    }

    /// Reads on the thread that asks: for properties, which cannot wait otherwise. Blocks.
    func readNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try connection.databaseNow().readNow(body)
        } catch let error as DatabaseError {
            throw RecollectError(error, store: connection.files?.directory.path ?? "the history in memory")
        }
    }

    func perform<Value: Sendable>(_ operation: (HistoryDatabase) async throws -> Value) async throws -> Value {
        do {
            return try await connection.perform(operation)
        } catch let error as DatabaseError {
            throw RecollectError(error, store: connection.files?.directory.path ?? "the history in memory")
        }
    }

    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            ioQueue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

// MARK: - Attachments

extension SQLiteHistoryStore {
    /// The bytes of an attachment: see `HistoryStore`.
    public func attachment(sha256: String) async throws -> Data {
        try await blocking { [attachments] in try attachments.read(sha256) }
    }

    /// Removes files that nothing uses, on the writer's queue: no append can begin to use one meanwhile.
    func removeAttachments(_ orphans: [String]) async throws {
        guard !orphans.isEmpty else { return }
        try await write { [attachments] db in
            for hash in Set(orphans) where try !AttachmentUse.isUsed(hash, db) { try attachments.remove(hash) }
        }
    }

    /// After rows were deleted for good: their attachments go, and the log that still holds their text is emptied.
    func finishDeletion(_ orphans: [String]) async throws {
        try await removeAttachments(orphans)
        try await perform { database in
            try await database.withWriterConnection { try $0.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
    }
}
