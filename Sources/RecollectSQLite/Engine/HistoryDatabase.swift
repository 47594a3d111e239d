import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

/// One open database: its connections, its writer, and the lock that keeps other processes' writers out.
///
/// Nothing here blocks the cooperative pool: writes run on the writer connection's queue, reads on a queue of their own.
final class HistoryDatabase: Sendable {
    /// `nil` for a database in memory.
    let files: HistoryFiles?
    let configuration: HistoryConfiguration
    /// Which opening of a database in this process this is: another may be of another database at the same place.
    let number: Int

    private let connections: any DatabaseWriter
    private let lock: ProcessLock?
    private let group = CommitGroup()
    /// For writes alone.
    let unsettled = UnsettledIDs()
    private let readQueue = DispatchQueue(label: "recollect.history.read", qos: .userInitiated, attributes: .concurrent)
    private let identity: Locked<HistoryFiles.Identity?>
    private let walPages: WriteAheadLogPages
    private let retired = Locked(false)

    private static let openings = Locked(0)

    init(
        files: HistoryFiles?, configuration: HistoryConfiguration, connections: any DatabaseWriter, lock: ProcessLock?
    ) throws {
        self.files = files
        self.configuration = configuration
        self.connections = connections
        self.lock = lock
        walPages = WriteAheadLogPages()
        identity = Locked(nil)
        number = Self.openings.withLock { openings in
            openings += 1
            return openings
        }
        let pages = walPages
        let isFull = configuration.durability == .full
        try connections.writeWithoutTransaction { db in
            // GRDB's pool sets NORMAL after everything that a configuration can say, so it is set here.
            try db.execute(sql: "PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")")
            pages.watch(db)
        }
        identity.withLock { $0 = files?.identity() }
    }

    deinit {
        // The last reference may go on the writer's own queue, which must not wait for itself, or on the cooperative pool.
        Self.closingQueue.async(execute: closing(movesLog: true))
    }

    /// Closes the connections. Closing the last one checkpoints, so it belongs under the lock. Blocks.
    func close(movesLog: Bool = true) {
        retired.withLock { $0 = true }
        closing(movesLog: movesLog)()
    }

    private static let closingQueue = DispatchQueue(label: "recollect.history.close", attributes: .concurrent)

    /// What closes the connections, without a reference to this object, which may be going.
    /// - Parameter movesLog: whether the log is moved into the database. A damaged database is left as it is.
    private func closing(movesLog: Bool) -> @Sendable () -> Void {
        { [connections, lock, walPages, configuration] in
            do {
                // The last connection to go moves the log, if it may write. The writer goes before the readers that are open
                // then, so there must be none, or one.
                if movesLog {
                    (connections as? DatabasePool)?.releaseMemory()
                } else {
                    try connections.unsafeRead { _ in }
                }
                if let lock {
                    try lock.withLock(timeout: configuration.busyTimeout) { try connections.close() }
                } else {
                    try connections.close()
                }
            } catch {
                // Nothing is lost: what was committed lies in the log and is read at the next opening.
                configuration.logger.debug("closing the history: \(error)")
            }
            withExtendedLifetime(walPages) {}
        }
    }

    /// Whether this database must not be used any more: its files were replaced, or what they hold is in doubt.
    var isRetired: Bool { retired.withLock { $0 } }

    func retire() { retired.withLock { $0 = true } }

    /// Runs work while no other process writes.
    /// - Parameter patience: how long to wait for the lock, in milliseconds; `nil` for as long as any write waits.
    func withProcessLock<Result>(patience: Int? = nil, _ body: () throws -> Result) throws -> Result {
        guard let lock else { return try body() }
        return try lock.withLock(timeout: patience ?? configuration.busyTimeout, body)
    }

    // MARK: Reading

    /// Reads from one snapshot.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await readStatement { db in
            try db.run("BEGIN")
            defer { db.endReading() }
            return try body(db)
        }
    }

    /// Reads from one snapshot, on the thread that asks. Blocks.
    func readNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try connections.unsafeRead { db in
            try db.run("BEGIN")
            defer { db.endReading() }
            return try body(db)
        }
    }

    /// Reads with a single statement, which is a snapshot by itself.
    func readStatement<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            readQueue.async { [connections] in
                continuation.resume(with: Result { try connections.unsafeRead(body) })
            }
        }
    }

    // MARK: Writing

    /// Writes in a transaction that is shared with every write that waits at the same time; each has a savepoint.
    ///
    /// Returns when the transaction is committed. A task cancelled before the write was taken has written nothing; after that
    /// it gets the true result.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let write = AwaitedWrite(body)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                write.await(by: continuation)
                do {
                    if try group.add(write) { startWriter() }
                } catch {
                    write.finish(error)
                }
            }
        } onCancel: {
            group.cancel(write)
        }
    }

    /// Runs on the writer's connection outside of any transaction, while no other process writes.
    func withWriterConnection<Value: Sendable>(
        patience: Int? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            connections.asyncWriteWithoutTransaction { db in
                continuation.resume(with: Result { try self.withProcessLock(patience: patience) { try body(db) } })
            }
        }
    }

    /// Moves the log into the database and empties it; false where somebody reads an older state. Waits some milliseconds at most.
    func truncateLog() async throws -> Bool {
        try await withWriterConnection(patience: 20) { db in
            // The log of files that are not these any more is nobody's to move.
            try self.checkFiles()
            return try Erasing.truncateLog(db, busyTimeout: self.configuration.busyTimeout)
        }
    }

    private func startWriter() {
        connections.asyncWriteWithoutTransaction { db in
            while true {
                // A bound on the group keeps the first of a great crowd from waiting for the last.
                let writes = self.group.take(limit: 512)
                if writes.isEmpty { return }
                self.commit(writes, db)
                self.group.linger()
            }
        }
    }

    private func commit(_ writes: [QueuedWrite], _ db: Database) {
        do {
            try withProcessLock {
                try db.commitTogether(writes, onUndo: unsettled.forget)
                try checkFiles()
                for write in writes { write.finish(nil) }
                if walPages.count >= WriteAheadLogPages.enough { checkpoint(db) }
            }
        } catch {
            if error.spoilsConnection { retire() }
            unsettled.forget()
            for write in writes { write.finish(error) }
        }
    }

    /// Moves the log into the database. What fails here is lost to nobody: the log keeps it, and the next commit tries again.
    private func checkpoint(_ db: Database) {
        do {
            try db.run("PRAGMA wal_checkpoint(PASSIVE)")
            walPages.reset()
        } catch {
            configuration.logger.warning("checkpoint failed, the log keeps everything: \(error)")
        }
    }

    /// Checks that the files are still those that were opened: writes to unlinked files succeed into nowhere.
    private func checkFiles() throws {
        guard let files else { return }
        let now = files.identity()
        try identity.withLock { opened in
            if opened?.log == nil { opened?.log = now.log }
            if opened?.shared == nil { opened?.shared = now.shared }
            guard opened == now else {
                retire()
                throw RecollectError(
                    .storeReplaced,
                    "the history's files in \(files.directory.path) were replaced or removed while they were open; "
                        + "this save is not kept; the next use opens what is there now")
            }
        }
    }
}

extension Database {
    /// Commits writes in one transaction; a write that fails is undone alone and keeps its failure.
    ///
    /// A savepoint copies each page that it is the first to touch, and writes hardly ever fail: so all are done without, and
    /// only when one has failed is everything undone and done again, each write in a savepoint of its own.
    fileprivate func commitTogether(_ writes: [QueuedWrite], onUndo: () -> Void) throws {
        var hasFailedWrite = false
        do {
            try transaction {
                for write in writes {
                    do {
                        try write.perform(self)
                    } catch {
                        hasFailedWrite = true
                        throw error
                    }
                }
            }
        } catch  where hasFailedWrite && writes.count > 1 && !error.spoilsConnection {
            onUndo()
            try transaction {
                for write in writes { try performInSavepoint(write, onUndo: onUndo) }
            }
        }
    }

    private func transaction(_ body: () throws -> Void) throws {
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            // The first failure is the one to tell; a transaction that cannot be undone ends with its connection.
            if isInsideSQLiteTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    private func performInSavepoint(_ write: QueuedWrite, onUndo: () -> Void) throws {
        try run("SAVEPOINT write")
        do {
            try write.perform(self)
        } catch {
            // Some failures (a full disk) have undone the whole transaction already.
            guard isInsideSQLiteTransaction, !error.spoilsConnection else { throw error }
            try run("ROLLBACK TO write")
            onUndo()
        }
        try run("RELEASE write")
    }

    fileprivate func endReading() {
        // A read-only transaction has nothing that a failed COMMIT could lose.
        try? run("COMMIT")
    }

    private var isInsideSQLiteTransaction: Bool {
        sqlite3_get_autocommit(sqliteConnection) == 0
    }
}

/// How many pages the write-ahead log held after the last commit.
///
/// SQLite's own automatic checkpoint would turn a failed checkpoint into a failed commit, though the commit stands.
final class WriteAheadLogPages: Sendable {
    /// The number of pages (4 KiB each) at which the log is moved into the database.
    static let enough = 2000

    private let pages = Locked(0)

    var count: Int { pages.withLock { $0 } }

    func reset() { pages.withLock { $0 = 0 } }

    /// Watches a connection for as long as it is open; `self` must outlive it.
    func watch(_ db: Database) {
        sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, count in
                if let context {
                    Unmanaged<WriteAheadLogPages>.fromOpaque(context).takeUnretainedValue().pages
                        .withLock { $0 = Int(count) }
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
