import GRDB
import GRDBSQLite
import RecollectCore

/// Notices that another connection has committed since the last look of this one, and that a newer version changed the format.
///
/// A process of an older version must not go on then: it would misread the tables, leave out new columns, and write terms of an old
/// form into the search index.
///
/// `@unchecked Sendable`: used with its connection alone.
final class FormatWatch: @unchecked Sendable {
    private let known: KnownFormat
    private var dataVersion: UInt32?

    init(_ known: KnownFormat) {
        self.known = known
    }

    /// Looks at the database: at the beginning of a write transaction, or behind a read. Returns whether nobody else has written
    /// since the last look.
    /// - Throws: `DatabaseRetired` if a newer version changed the format: a new opening tells which and refuses.
    func look(_ db: Database) throws -> Bool {
        let version = db.dataVersion
        if dataVersion == version { return true }
        guard try known.isStillKnown(db) else { throw DatabaseRetired() }
        dataVersion = version
        return false
    }

    /// Notes how a write transaction left the database.
    func end(_ db: Database) {
        dataVersion = db.dataVersion
    }
}

/// The version of the schema that was last found to be this version's: all connections of an open database share it.
final class KnownFormat: Sendable {
    private let schemaVersion: Locked<Int64?>

    /// - Parameter schemaVersion: What the opening found; `nil` where nothing was looked at.
    init(schemaVersion: Int64?) {
        self.schemaVersion = Locked(schemaVersion)
    }

    /// Whether the database still has the format of this version.
    fileprivate func isStillKnown(_ db: Database) throws -> Bool {
        let version = try db.integer("PRAGMA schema_version")
        if schemaVersion.withLock({ $0 == version }) { return true }
        guard try !Schema.isNewer(db) else { return false }
        schemaVersion.withLock { $0 = version }
        return true
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
