import CSQLite
import GRDB
import GRDBSQLite
import RecollectCore

/// The write-ahead log of an open database: how long it is, and how it is kept short.
///
/// SQLite's own automatic checkpoint is off: it would turn a failed checkpoint into a failed commit, though the commit stands.
final class WriteAheadLog: Sendable {
    /// The number of pages (4 KiB each) after which the log is moved into the database.
    private static let enough = 2000
    /// The number of pages from which readers are held back until the log starts again from its beginning.
    private static let tooMany = 4000
    /// The number of pages, 64 MiB, from which the log's length is logged as a warning: a reader in another process holds it.
    private static let alarming = 16_384
    /// How long the writer waits for readers, in milliseconds.
    private static let patience: Int32 = 50

    private struct State {
        /// The number of pages after the last commit.
        var pages = 0
        /// The number of pages at which the log is moved next.
        var due = WriteAheadLog.enough
    }

    private let configuration: HistoryConfiguration
    private let state = Locked(State())

    init(configuration: HistoryConfiguration) {
        self.configuration = configuration
    }

    /// Whether the log should be moved into the database.
    var isDue: Bool { state.withLock { $0.pages >= $0.due } }

    /// Watches a connection for as long as it is open; `self` must outlive it.
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
            // The log started again from its beginning.
            if pages < state.pages { state.due = Self.enough }
            state.pages = pages
        }
    }

    /// Moves the log into the database. A log that overlapping readers keep from starting again is restarted: new reads of this
    /// process wait for some milliseconds, and the writer for those of other processes. Under the process lock.
    func move(_ db: Database, holdingBack readers: ReadConnections?) throws {
        postpone()
        let pages = try moveCompletely("PASSIVE", db).pages
        guard pages >= Self.tooMany else { return }
        _ = readers?.pause(milliseconds: Int(Self.patience))
        defer { readers?.resume() }
        let isRestarted = try moveCompletely("FULL", db).isComplete && checkpoint("RESTART", db).isComplete
        if !isRestarted, pages >= Self.alarming {
            configuration.logger.warning("the write-ahead log is \(pages / 256) MB long: a reader keeps it")
        }
    }

    /// Lets the log grow before the next try.
    func postpone() {
        state.withLock { $0.due = $0.pages + Self.enough }
    }

    /// Moves the log into the database and makes it empty. Returns whether it is empty; it is not while a reader uses it. Under
    /// the process lock.
    @discardableResult
    func truncate(_ db: Database) throws -> Bool {
        try moveCompletely("FULL", db).isComplete && checkpoint("TRUNCATE", db).isComplete
    }

    /// Runs a checkpoint, and then overwrites the unallocated space of the pages in the log. They must not leave the log before.
    private func moveCompletely(_ mode: String, _ db: Database) throws -> (isComplete: Bool, pages: Int) {
        // A read, so the version is that of the last commit.
        _ = try db.integer("SELECT 1 FROM settled")
        let version = db.dataVersion
        let (isComplete, pages) = try checkpoint(mode, db)
        return (try isComplete && UnallocatedSpace.clear(behindLogOf: db, version: version), pages)
    }

    /// Runs a checkpoint with little patience. Returns whether the database has all pages of the log.
    private func checkpoint(_ mode: String, _ db: Database) throws -> (isComplete: Bool, pages: Int) {
        sqlite3_busy_timeout(db.sqliteConnection, Self.patience)
        defer { sqlite3_busy_timeout(db.sqliteConnection, Int32(clamping: configuration.busyTimeout)) }
        let row = try db.sql("PRAGMA wal_checkpoint(\(mode))")
        defer { row.reset() }
        guard try row.step() else { return (true, 0) }
        let (isBusy, pages, moved) = (row.integer(0) != 0, row.integer(1), row.integer(2))
        return (!isBusy && moved == pages, Int(pages))
    }
}

extension Database {
    /// Sets whether closing the last connection checkpoints the log and removes it.
    func setCheckpointsOnClose(_ isOn: Bool) throws {
        let code = recollect_checkpoints_on_close(sqliteConnection, isOn ? 1 : 0)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
