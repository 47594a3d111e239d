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
    let follower: IndexFollower?
    /// Erases what was deleted, and deletes what is too old.
    let upkeep: Upkeep
    /// This process has saved something.
    let signal = Signal()
    let ioQueue = DispatchQueue(label: "recollect.history.attachments", attributes: .concurrent)

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
        let attachments = AttachmentFiles(directory: files.attachments)
        let upkeep = Upkeep(attachments: attachments, events: events, retention: configuration.retention)
        let follower = configuration.indexesInBackground ? IndexFollower(upkeep: upkeep) : nil
        connection = HistoryConnection(files: files, configuration: configuration, events: events) {
            upkeep.use($0)
            if $0.state?.isFollowing ?? false { follower?.noteCommit($0) }
        }
        self.attachments = attachments
        self.upkeep = upkeep
        self.follower = follower
    }

    /// Makes a history that lives in memory and ends with the store: for tests.
    public init(inMemory configuration: HistoryConfiguration) {
        self.configuration = configuration
        events = StoreEvents(logger: configuration.logger)
        attachments = AttachmentMemory()
        let upkeep = Upkeep(attachments: attachments, events: events, retention: configuration.retention)
        connection = HistoryConnection(files: nil, configuration: configuration, events: events) { upkeep.use($0) }
        self.upkeep = upkeep
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
        let isShort = messages.count <= 8 && !kept.hasFiles
        let result = try await write(keeping: kept, inPlace: isShort) {
            [retention = configuration.retention] messages, db, cache in
            let appending = Appending(messages: messages, scope: scope, options: options, retention: retention)
            let result = try appending.run(db, cache)
            return (result, result.orphans)
        }
        for id in result.dropped {
            events.post(StoreEvent(kind: .droppedSameRole, scope: scope, messageId: id))
        }
        upkeep.noteSave()
        return result.outcome
    }

    /// Sets a conversation's details: see `HistoryStore`.
    @discardableResult
    public func update(
        _ conversation: ConversationID, with details: ConversationDetails, makesNew: Bool
    ) async throws -> Bool {
        try details.checkSavable()
        let now = Date().millisecondsSince1970
        return try await write { db in
            guard try makesNew || MessageQueries.number(of: conversation, db) != nil else { return false }
            try ConversationEdits.update(conversation, with: details, now: now, db)
            return true
        }
    }

    /// Copies a conversation up to a message: see `HistoryStore`.
    public func fork(
        _ conversation: ConversationID, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws {
        try await write {
            try ConversationEdits.fork(conversation, at: messageId, agentId: agentId, into: newSessionId, $0)
        }
    }

    /// Deletes messages for good: see `HistoryStore`. `erasure()` tells whether their bytes are gone too.
    @discardableResult
    public func deleteMessages(_ ids: [String], in conversation: ConversationID) async throws -> Int {
        let count = try await write { try MessageDeletion.delete(ids, in: conversation, $0) }
        if count > 0 { await eraseSoon() }
        return count
    }

    /// Deletes a conversation for good: see `HistoryStore`. It takes as long for a large one as for a small one; `erasure()` tells
    /// whether its bytes are gone too.
    @discardableResult
    public func deleteConversation(_ conversation: ConversationID) async throws -> Bool {
        let existed = try await write { try MessageDeletion.delete(conversation, $0) }
        if existed { await eraseSoon() }
        return existed
    }

    /// Deletes a user's history for good, and every damaged file that was set aside: see `HistoryStore`. `erasure()` tells whether
    /// their bytes are gone too.
    public func deleteUser(_ userId: String) async throws {
        try await write { [files = connection.files] db in
            try MessageDeletion.deleteUser(userId, leftovers: files?.remains() ?? [], db)
        }
        await eraseSoon()
    }

    /// Deletes messages whose timestamp is before a moment, of all users, for good. Returns how many there were.
    ///
    /// They go in small steps; a cancelled task has deleted some. Throws `invalidArgument` for a date of NaN seconds.
    @discardableResult
    public func deleteMessages(olderThan moment: Date) async throws -> Int {
        try Self.refuseNotANumber(moment)
        let count = try await perform {
            try await Expiry(database: $0).deleteOlder(than: moment.millisecondsSince1970)
        }
        if count > 0 { await finishSteps() }
        return count
    }

    /// Deletes conversations of all users that were discarded before a moment, for good. Returns how many there were.
    ///
    /// They go one by one, each with its branches; a cancelled task has deleted some. Throws `invalidArgument` for a date of NaN
    /// seconds.
    @discardableResult
    public func deleteConversations(discardedBefore moment: Date) async throws -> Int {
        try Self.refuseNotANumber(moment)
        let count = try await perform {
            try await Expiry(database: $0).deleteDiscarded(before: moment.millisecondsSince1970)
        }
        if count > 0 { await finishSteps() }
        return count
    }

    /// Under `retention: .days`: deletes what is too old now, whatever was done within the last hour. Returns how many messages went.
    func expireNow(now: Date = Date(), uptime: Int64 = ClockWatch.uptime) async throws -> Int {
        guard case .days(let days) = configuration.retention else { return 0 }
        let count = try await perform { database in
            try await Expiry(database: database).deleteOlder(thanDays: days, now: now, uptime: uptime)
        }
        await finishSteps()
        return count
    }

    private static func refuseNotANumber(_ moment: Date) throws {
        guard moment.isNotANumber else { return }
        throw RecollectError(
            .invalidArgument, "the date is not a number; nothing was deleted; check how it was computed")
    }

    private func finishSteps() async {
        signal.signal()
        await eraseSoon()
    }

    // MARK: Reading

    /// The last messages of a scope's window: see `HistoryStore`.
    public func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await perform { database in
            try await database.readStatement(inPlace: maxMessages.isShort) {
                try WindowQueries.window(of: scope, maxMessages: maxMessages, $0)
            }
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
        try await perform { database in
            if !query.text.isEmpty { try await index(database) }
            return try await readSettled(in: database, inPlace: page.limit.isShort) {
                try ConversationQueries.page(query, page, $0)
            }
        }
    }

    /// One conversation: see `HistoryStore`.
    public func conversation(_ conversation: ConversationID) async throws -> Conversation? {
        try await readSettled(inPlace: true) { try ConversationQueries.one(conversation, $0) }
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
        try await read(inPlace: page.limit.isShort) {
            try MessageQueries.page(of: conversation, agentId: agentId, page, $0)
        }
    }

    /// One message: see `HistoryStore`.
    public func message(
        _ id: String, in conversation: ConversationID, agentId: String?
    ) async throws -> StoredMessage? {
        try await readSettled(inPlace: true) { try MessageQueries.one(id, in: conversation, agentId: agentId, $0) }
    }

    /// Searches a user's messages: see `HistoryStore`. Messages that no index has yet are indexed first.
    public func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        // One operation: where it finds damage, what was salvaged is indexed before it is searched.
        try await perform { database in
            try await index(database)
            return try await database.read { try SearchIndex.search($0, query) }
        }
    }

    /// Indexes every message that the search index has not.
    ///
    /// Large transactions are faster, but a save waits for the one under way, and how long messages are is not known: so
    /// their size follows the time that they take.
    func indexEverything() async throws {
        try await perform(index)
    }

    private func index(_ database: HistoryDatabase) async throws {
        guard database.cannotWrite == nil else { return }
        var limit = 1000
        while try await database.read({ try SearchIndex.isBehind($0) }) {
            let bite = limit
            let taken: Duration
            do {
                taken = try await ContinuousClock().measure {
                    _ = try await database.write { try SearchIndex.advance($0, limit: bite) }
                }
            } catch let error as DatabaseError where error.hasNoSpace {
                // A full disk stops no search: it finds what was indexed.
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

    /// Where the change feed stands: see `HistoryStore`.
    public func latestChange() async throws -> ChangeCursor {
        try await read { ChangeCursor(sequence: try $0.lastSequence()) }
    }

    /// Changes after a cursor: see `HistoryStore`.
    public func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        try await read { try ChangeFeed.page(after: cursor, limit: limit, $0) }
    }

    /// Changes after a cursor as they come: see `HistoryStore`. Other processes' writes are looked for every 250 ms.
    ///
    /// A change is read when it is asked for: a slow reader costs no memory, and may find that of several changes to one thing only the
    /// last is told. The stream ends when the task that iterates it is cancelled.
    public func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        let reading = ChangeReading(after: cursor)
        return AsyncThrowingStream { [self] in
            do {
                return try await reading.next(in: self, signal)
            } catch is CancellationError {
                return nil
            }
        }
    }
}

// MARK: - Attachments

extension SQLiteHistoryStore {
    /// The bytes of an attachment: see `HistoryStore`.
    public func attachment(sha256: String) async throws -> Data {
        // The file of an attachment that was deleted may be there for a while.
        if try await read({ try AttachmentUse.isDeleted(sha256, $0) }) {
            throw RecollectError(.notFound, "the attachment \(sha256.prefix(80)) is not kept here")
        }
        return try await blocking { [attachments] in try attachments.read(sha256) }
    }
}

extension Int? {
    /// Whether a read of so many rows is short.
    fileprivate var isShort: Bool { (self ?? .max) <= 200 }
}

extension Int {
    fileprivate var isShort: Bool { Optional(self).isShort }
}
