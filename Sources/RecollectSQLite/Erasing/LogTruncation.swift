import GRDB
import GRDBSQLite
import RecollectCore

extension Erasing {
    /// How long a truncation waits for readers of an older state, in milliseconds. Nobody else writes meanwhile.
    private static let patience: Int32 = 50

    /// Moves the whole log into the database and empties it, outside of any transaction; false where somebody reads an older state.
    ///
    /// SQLite's answer decides, not the size of a file.
    /// - Parameter busyTimeout: what the connection waits for otherwise, in milliseconds.
    static func truncateLog(_ db: Database, busyTimeout: Int) throws -> Bool {
        // What a deletion has noted since is done first.
        if try isPending(.conversation, db) || isPending(.index, db) { return true }
        sqlite3_busy_timeout(db.sqliteConnection, patience)
        defer { sqlite3_busy_timeout(db.sqliteConnection, Int32(clamping: busyTimeout)) }
        guard try db.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else { return false }
        try db.inTransaction(.immediate) {
            try done(.log, db)
            return .commit
        }
        return true
    }
}
