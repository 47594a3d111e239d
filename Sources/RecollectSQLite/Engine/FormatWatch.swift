import GRDB
import GRDBSQLite
import RecollectCore

/// Notices in write transactions that another process wrote since the last one, and that a newer version changed the format.
///
/// A process of an older version must not go on writing then: it would leave out new columns, and write terms of an old form into
/// the search index.
///
/// `@unchecked Sendable`: used with the writer's role alone.
final class FormatWatch: @unchecked Sendable {
    private var dataVersion: UInt32?
    private var schemaVersion: Int64?

    /// Looks at the database at the beginning of a write transaction. Returns whether nobody else has written since the last one.
    /// - Throws: `DatabaseRetired` if a newer version changed the format: a new opening tells which and refuses.
    func begin(_ db: Database) throws -> Bool {
        let version = db.dataVersion
        defer { dataVersion = version }
        if dataVersion == version { return true }
        let schema = try db.integer("PRAGMA schema_version")
        if schema != schemaVersion {
            guard try !Schema.isNewer(db) else { throw DatabaseRetired() }
            schemaVersion = schema
        }
        return false
    }

    /// Notes how a write transaction left the database.
    func end(_ db: Database) {
        dataVersion = db.dataVersion
    }
}

extension Database {
    /// A number that changes with each commit this connection makes, and at the beginning of a transaction after others committed
    /// (`SQLITE_FCNTL_DATA_VERSION`).
    fileprivate var dataVersion: UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}
