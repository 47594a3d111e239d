import Foundation
import GRDB
import Logging
import RecollectCore

/// A history in SQLite: one file for all users, sessions and agents of a device or a server.
///
/// ```swift
/// let history = SQLiteHistoryStore(
///     directory: folder,
///     configuration: HistoryConfiguration(durability: .relaxed, retention: .days(30)))
/// ```
///
/// Create one store and pass it to every view. The initializer does no slow work: the first use, or `open()`, opens
/// and migrates the database and salvages it if it is damaged. Stores of the same folder in one process share one
/// database. Any number of processes may use the folder at the same time.
///
/// Writes of concurrent tasks are committed in groups, with one sync per group. No method blocks the calling
/// thread.
public final class SQLiteHistoryStore: HistoryStore {
    /// The folder of the history, or `nil` if it is in memory.
    public var directory: URL? { connection.files?.directory }
    /// The events posted by the store.
    public let events: StoreEvents
    /// The configuration of the history.
    public let configuration: HistoryConfiguration

    let connection: SharedDatabase
    let attachments: any AttachmentSaving
    let follower: IndexFollower?
    /// Erases deleted data and deletes expired messages.
    let maintenance: BackgroundMaintenance
    /// Signals saves of this process.
    let signal = Signal()
    /// Signals leases of turns released in this process.
    let leaseSignal = Signal()
    let ioQueue = DispatchQueue(label: "recollect.history.attachments", attributes: .concurrent)

    /// Creates a store for a history in a folder. Nothing is read or created before the first use.
    /// - Parameters:
    ///   - directory: The folder. The default is `Recollect` in Application Support (on Linux, Foundation's
    ///     directory for it).
    ///   - configuration: The settings of the history. The defaults lose no data.
    public convenience init(directory: URL? = nil, configuration: HistoryConfiguration = HistoryConfiguration()) {
        let directory = directory ?? Self.defaultDirectory
        self.init(files: HistoryFiles(directory: directory.standardizedFileURL), configuration: configuration)
    }

    /// Creates a store for a history at a database file, in a folder shared with other files. Nothing is read or
    /// created before the first use. The other files of the history are beside the database, with names beginning
    /// with the database's name.
    public convenience init(databaseURL: URL, configuration: HistoryConfiguration = HistoryConfiguration()) {
        self.init(files: HistoryFiles(database: databaseURL.standardizedFileURL), configuration: configuration)
    }

    private init(files: HistoryFiles, configuration: HistoryConfiguration) {
        self.configuration = configuration
        events = StoreEvents(logger: configuration.logger)
        let attachments = AttachmentFiles(directory: files.attachments)
        let maintenance = BackgroundMaintenance(
            attachments: attachments, events: events, retention: configuration.retention)
        let follower = configuration.indexesInBackground ? IndexFollower(maintenance: maintenance) : nil
        connection = SharedDatabase(files: files, configuration: configuration, events: events) {
            maintenance.use($0)
            if $0.state?.isFollowing ?? false { follower?.noteCommit($0) }
        }
        self.attachments = attachments
        self.maintenance = maintenance
        self.follower = follower
    }

    /// Creates a history in memory, for tests. It ends with the store.
    public static func inMemory(_ configuration: HistoryConfiguration = HistoryConfiguration()) -> SQLiteHistoryStore {
        SQLiteHistoryStore(inMemory: configuration)
    }

    private init(inMemory configuration: HistoryConfiguration) {
        self.configuration = configuration
        events = StoreEvents(logger: configuration.logger)
        attachments = AttachmentMemory()
        let maintenance = BackgroundMaintenance(
            attachments: attachments, events: events, retention: configuration.retention)
        connection = SharedDatabase(files: nil, configuration: configuration, events: events) { maintenance.use($0) }
        self.maintenance = maintenance
        follower = nil
    }

    /// The default folder of a history: `Recollect` in Application Support.
    public static var defaultDirectory: URL {
        DefaultDirectory.applicationSupport.appendingPathComponent("Recollect", isDirectory: true)
    }

    /// Opens and migrates the database now instead of at its first use, and salvages it if it is damaged.
    /// - Throws: `foreignStore`, `newerSchema` (both leave every file untouched), `cannotOpen`, `permissionDenied`,
    ///   `readOnly`, `diskFull`, `busy`.
    @discardableResult
    public func open() async throws -> SQLiteHistoryStore {
        try await perform { _ in }
        return self
    }

    /// Closes the database and moves its write-ahead log into it. Waits for running writes. The next use opens the
    /// database again.
    ///
    /// Closing is optional: saved messages are in the log, and the next opening reads them. It leaves one
    /// file instead of two.
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
        let kept = try await savingAttachments(of: messages)
        let isShort = messages.count <= 8 && !kept.hasFiles
        let result = try await write(keeping: kept, inPlace: isShort) {
            [retention = configuration.retention] messages, db, cache in
            let appending = AppendOperation(messages: messages, scope: scope, options: options, retention: retention)
            let result = try appending.run(db, cache)
            return (result, result.orphans)
        }
        for id in result.dropped {
            events.post(StoreEvent(kind: .droppedSameRole, scope: scope, messageId: id))
        }
        maintenance.noteSave()
        return result.outcome
    }

    /// Sets a session's details: see `HistoryStore`.
    @discardableResult
    public func update(
        _ session: SessionKey, with details: SessionDetails, createIfMissing: Bool
    ) async throws -> Bool {
        try details.checkSavable()
        let now = Date().millisecondsSince1970
        return try await write { db in
            guard try createIfMissing || MessageQueries.number(of: session, db) != nil else { return false }
            try SessionEdits.update(session, with: details, now: now, db)
            return true
        }
    }

    /// Copies a session up to a message: see `HistoryStore`.
    public func fork(
        _ session: SessionKey, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws {
        try await write {
            try SessionEdits.fork(session, at: messageId, agentId: agentId, into: newSessionId, $0)
        }
    }

    /// Permanently deletes messages: see `HistoryStore`. `erasure()` returns the progress of erasing their bytes.
    @discardableResult
    public func deleteMessages(_ ids: [String], in session: SessionKey) async throws -> Int {
        let count = try await write { try MessageDeletion.delete(ids, in: session, $0) }
        if count > 0 { await eraseSoon() }
        return count
    }

    /// Permanently deletes messages, unless they were changed since they were read: see `HistoryStore`. `erasure()` returns
    /// the progress of erasing their bytes.
    @discardableResult
    public func delete(
        _ messages: [ConversationMessage], in session: SessionKey
    ) async throws -> [ConversationMessage] {
        let deleted = try await write { try MessageDeletion.delete(messages, in: session, $0) }
        if !deleted.isEmpty { await eraseSoon() }
        return deleted
    }

    /// Permanently deletes a session: see `HistoryStore`. The duration does not depend on the session's size.
    /// `erasure()` returns the progress of erasing its bytes.
    @discardableResult
    public func deleteSession(_ session: SessionKey) async throws -> Bool {
        let existed = try await write { [writers = connection.replyWriters] db in
            try SQLiteLease.removeInvalid(of: session.userId, in: session.sessionId, writers, db)
            return try MessageDeletion.delete(session, db)
        }
        if existed { await eraseSoon() }
        return existed
    }

    /// Permanently deletes a user's history and every damaged file set aside earlier: see `HistoryStore`.
    /// `erasure()` returns the progress of erasing their bytes.
    public func deleteUser(_ userId: String) async throws {
        try await write { [files = connection.files, writers = connection.replyWriters] db in
            try SQLiteLease.removeInvalid(of: userId, writers, db)
            try MessageDeletion.deleteUser(userId, leftovers: files?.remains() ?? [], db)
        }
        await eraseSoon()
    }

    /// Permanently deletes messages of all users with a timestamp before a date. Returns their number.
    ///
    /// The deletion runs in small steps. A canceled task has deleted some of the messages. Throws `invalidArgument`
    /// for a date of NaN seconds.
    @discardableResult
    public func deleteMessages(olderThan date: Date) async throws -> Int {
        try Self.refuseNotANumber(date)
        let count = try await perform {
            try await Expiry(database: $0).deleteOlder(than: date.millisecondsSince1970)
        }
        if count > 0 { await finishSteps() }
        return count
    }

    /// Permanently deletes sessions of all users discarded before a date. Returns their number.
    ///
    /// The sessions are deleted one by one, each with its branches. A canceled task has deleted some of them.
    /// Throws `invalidArgument` for a date of NaN seconds.
    @discardableResult
    public func deleteSessions(discardedBefore date: Date) async throws -> Int {
        try Self.refuseNotANumber(date)
        let count = try await perform {
            try await Expiry(database: $0).deleteDiscarded(before: date.millisecondsSince1970)
        }
        if count > 0 { await finishSteps() }
        return count
    }

    /// With `retention: .days`, deletes expired messages now, even within an hour of the last expiry. Returns the
    /// number of deleted messages.
    func expireNow(now: Date = Date(), uptime: Int64 = ClockWatch.uptime) async throws -> Int {
        guard case .days(let days) = configuration.retention else { return 0 }
        let count = try await perform { database in
            try await Expiry(database: database).deleteOlder(thanDays: days, now: now, uptime: uptime)
        }
        await finishSteps()
        return count
    }

    private static func refuseNotANumber(_ date: Date) throws {
        guard date.isNotANumber else { return }
        throw RecollectError(
            .invalidArgument, "the date is not a number; nothing was deleted; check how it was computed")
    }

    private func finishSteps() async {
        signal.signal()
        await eraseSoon()
    }

    // MARK: Reading

    /// Returns a user's sessions by pages: see `HistoryStore`. With a search text, messages missing from the
    /// index are indexed first, and only the newest 20,000 matching messages count.
    public func sessions(
        _ query: SessionQuery, page: PageRequest<SessionCursor>
    ) async throws -> Page<Session, SessionCursor> {
        try await perform { database in
            if !query.text.isEmpty { try await index(database) }
            return try await readUpToDate(in: database, inPlace: page.limit.isShort) {
                try SessionQueries.page(query, page, $0)
            }
        }
    }

    /// Returns one session: see `HistoryStore`.
    public func session(_ session: SessionKey) async throws -> Session? {
        try await readUpToDate(inPlace: true) { try SessionQueries.one(session, $0) }
    }

    /// Returns sessions by a prefix of their session ID: see `HistoryStore`.
    public func sessions(
        of userId: String, sessionIdPrefix prefix: String, limit: Int
    ) async throws -> [Session] {
        try await readUpToDate { try SessionQueries.matching(userId: userId, prefix: prefix, limit: limit, $0) }
    }

    /// Returns messages of a session by pages: see `HistoryStore`.
    public func messages(
        of session: SessionKey, agentId: String?, page: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        try await read(inPlace: page.limit.isShort) {
            try MessageQueries.page(of: session, agentId: agentId, page, $0)
        }
    }

    /// Returns one message: see `HistoryStore`.
    public func message(
        _ id: String, in session: SessionKey, agentId: String?
    ) async throws -> StoredMessage? {
        try await readUpToDate(inPlace: true) { try MessageQueries.one(id, in: session, agentId: agentId, $0) }
    }

    /// Searches a user's messages: see `HistoryStore`. Messages missing from the index are indexed first.
    public func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        // One operation: if it finds damage, the salvaged messages are indexed before they are searched.
        try await perform { database in
            try await index(database)
            return try await database.read { try SearchIndex.search($0, query) }
        }
    }

    /// Indexes every message missing from the search index.
    ///
    /// Large transactions are faster, but a save waits for the running one, and the lengths of the messages are
    /// unknown. So the duration of each transaction decides the size of the next one.
    func indexEverything() async throws {
        try await perform(index)
    }

    private func index(_ database: HistoryDatabase) async throws {
        guard database.cannotWrite == nil else { return }
        var limit = 1000
        while try await database.read({ try SearchIndex.isBehind($0) }) {
            let batch = limit
            let taken: Duration
            do {
                taken = try await ContinuousClock().measure {
                    _ = try await database.write { try SearchIndex.advance($0, limit: batch) }
                }
            } catch let error as DatabaseError where error.hasNoSpace {
                // A full disk does not stop a search: it finds the indexed messages.
                return
            }
            if taken < .milliseconds(100) {
                limit = min(limit * 2, 20_000)
            } else if taken > .milliseconds(200) {
                limit = max(limit / 2, 100)
            }
        }
    }

    // MARK: Changes

    /// Returns the current position of the change feed: see `HistoryStore`.
    public func latestChangeCursor() async throws -> ChangeCursor {
        try await read { ChangeCursor(sequence: try $0.lastSequence().rawValue) }
    }

    /// Returns changes after a cursor: see `HistoryStore`.
    public func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        try await read { try ChangeFeed.page(after: cursor, limit: limit, $0) }
    }

    /// Returns a stream of changes after a cursor: see `HistoryStore`. It checks for writes of other processes
    /// every 250 ms.
    ///
    /// A change is read on demand, so a slow reader costs no memory. Of several changes to one object, a slow
    /// reader may get only the last. The stream ends when the iterating task is canceled.
    public func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        ChangeFeedReader.stream(after: cursor, signal) { [self] in try await changes(after: $0, limit: $1) }
    }
}

// MARK: - Attachments

extension SQLiteHistoryStore {
    /// Returns the bytes of an attachment: see `HistoryStore`.
    public func attachment(sha256: String, userId: String) async throws -> Data {
        // The file may be that of another user, or remain after a deletion.
        guard try await read({ try AttachmentUse.isUsed(sha256, by: userId, $0) }) else {
            throw RecollectError(.notFound, "the attachment \(sha256.prefix(80)) is not in this store")
        }
        return try await blocking { [attachments] in try attachments.read(sha256) }
    }
}

extension Int? {
    /// Whether a read with this number of rows is short.
    var isShort: Bool { (self ?? .max) <= 200 }
}

extension Int {
    fileprivate var isShort: Bool { Optional(self).isShort }
}
