import GRDB
import GRDBSQLite
import RecollectCore

/// The length of an open database's write-ahead log, and the checkpoints to limit it.
///
/// SQLite's own automatic checkpoint is off: it would report a failed checkpoint as a failed commit, although the
/// commit is valid.
final class WriteAheadLog: Sendable {
    /// The number of pages (4 KiB each) after which the log is moved into the database.
    private static let checkpointPageCount = 2000
    /// The number of pages from which readers are held back until the log restarts from its beginning.
    private static let tooMany = 4000
    /// The number of pages (64 MiB) from which the log's length is logged as a warning: a reader in another process
    /// holds it.
    private static let reportThreshold = 16_384
    /// The writer's wait for readers, in milliseconds.
    private static let maxWait: Int32 = 50

    private struct State {
        /// The number of pages after the last commit.
        var pages = 0
        /// The number of pages at the next move of the log.
        var due = WriteAheadLog.checkpointPageCount
    }

    private let configuration: HistoryConfiguration
    /// `nil` in memory.
    private let files: HistoryFiles?
    private let state = Locked(State())

    init(configuration: HistoryConfiguration, files: HistoryFiles?) {
        self.configuration = configuration
        self.files = files
    }

    /// Whether the log should be moved into the database.
    var isDue: Bool { state.withLock { $0.pages >= $0.due } }

    /// Observes the commits of a connection for as long as it is open. `self` must outlive it.
    func watch(_ db: Database) {
        sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, count in
                if let context {
                    Unmanaged<WriteAheadLog>.fromOpaque(context).takeUnretainedValue().noteCommit(pages: Int(count))
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func noteCommit(pages: Int) {
        state.withLock { state in
            // The log restarted from its beginning.
            if pages < state.pages { state.due = Self.checkpointPageCount }
            state.pages = pages
        }
    }

    /// Moves the log into the database. If overlapping readers keep a long log from restarting, it is restarted
    /// here: new reads of this process wait for some milliseconds, and the writer for those of other processes.
    /// Under the process lock.
    func move(_ db: Database, holdingBack readers: ReadConnections?) throws {
        postpone()
        let pages = try moveCompletely("PASSIVE", db).pages
        if configuration.durability == .full, files?.mayHoldUnsyncedCommits ?? false { try truncate(db) }
        guard pages >= Self.tooMany else { return }
        _ = readers?.pause(milliseconds: Int(Self.maxWait))
        defer { readers?.resume() }
        let isRestarted = try moveCompletely("FULL", db).isComplete && checkpoint("RESTART", db).isComplete
        if !isRestarted, pages >= Self.reportThreshold {
            configuration.logger.warning(
                "the write-ahead log is \(pages / 256) MB long: a long read transaction prevents its reset")
        }
    }

    /// Lets the log grow before the next attempt.
    func postpone() {
        state.withLock { $0.due = $0.pages + Self.checkpointPageCount }
    }

    /// Removes frames after the last commit from the log. They belong to a commit killed or failed while another
    /// process had the database open. Before every commit, under the process lock.
    ///
    /// The commit would overwrite the first of these frames. The others, possibly ending with a commit mark, would
    /// then look like commits after a damaged frame.
    static func removeDeadFrames(_ db: Database) throws {
        guard let database = DatabaseFile(.database, of: db.sqliteConnection),
            let log = DatabaseFile(.log, of: db.sqliteConnection), let index = try LogIndex(of: database)
        else { return }
        func hasDeadFrames() throws -> Bool { try log.salt(ofFrameAt: index.end) == index.salt }
        func remove() throws {
            guard try hasDeadFrames() else { return }
            try log.truncate(to: index.end)
            try log.synchronize()
        }
        guard try hasDeadFrames() else { return }
        if db.isInsideTransaction { return try remove() }
        // No other program commits meanwhile.
        try db.inTransaction(.immediate) {
            try remove()
            return .rollback
        }
    }

    /// Moves the log into the database and empties it. With `.full`, the mark of unsynced commits is removed too.
    /// Returns whether the log is empty: false while a reader uses it. Under the process lock.
    @discardableResult
    func truncate(_ db: Database) throws -> Bool {
        guard try moveCompletely("FULL", db).isComplete, try checkpoint("TRUNCATE", db).isComplete else { return false }
        if configuration.durability == .full { try files?.removeRelaxedMark() }
        return true
    }

    /// Runs a checkpoint, and then overwrites the unallocated space of the pages in the log. They must not leave
    /// the log before.
    private func moveCompletely(_ mode: String, _ db: Database) throws -> (isComplete: Bool, pages: Int) {
        // A read, so the version is that of the last commit.
        _ = try db.integer("SELECT 1 FROM derived_data")
        let version = db.dataVersion
        let (isComplete, pages) = try checkpoint(mode, db)
        return (try isComplete && UnallocatedSpace.clear(behindLogOf: db, version: version), pages)
    }

    /// Runs a checkpoint with a short wait for readers. Returns whether the database has all pages of the log.
    private func checkpoint(_ mode: String, _ db: Database) throws -> (isComplete: Bool, pages: Int) {
        sqlite3_busy_timeout(db.sqliteConnection, Self.maxWait)
        defer { sqlite3_busy_timeout(db.sqliteConnection, Int32(clamping: configuration.busyMilliseconds)) }
        let row = try db.sql("PRAGMA wal_checkpoint(\(mode))")
        defer { row.reset() }
        guard try row.step() else { return (true, 0) }
        let (isBusy, pages, moved) = (row.integer(0) != 0, row.integer(1), row.integer(2))
        return (!isBusy && moved == pages, Int(pages))
    }
}

extension DatabaseFile {
    /// Returns the salt of a frame of the log, or `nil` if the log ends before it.
    fileprivate func salt(ofFrameAt offset: Int) throws -> UInt64? {
        var header: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return try withUnsafeMutableBytes(of: &header) { bytes in
            guard try readIfPresent(into: bytes, at: offset) else { return nil }
            return bytes.load(fromByteOffset: 8, as: UInt64.self)
        }
    }
}
