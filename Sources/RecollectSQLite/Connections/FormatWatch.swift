import GRDB
import GRDBSQLite
import RecollectCore

/// Detects commits of other connections, and a newer format of the database.
///
/// A process with an older version must stop at a newer format. It would misread tables, omit new columns, and
/// write old terms into the search index.
///
/// `@unchecked Sendable`: used only together with its connection.
final class FormatWatch: @unchecked Sendable {
    private let known: KnownFormat
    private var dataVersion: UInt32?

    init(_ known: KnownFormat) {
        self.known = known
    }

    /// Checks the database at the start of a write transaction, or after a read. Returns false if another
    /// connection has committed since the last check.
    /// - Throws: `DatabaseRetired` for a newer format. The next opening refuses it with `newerSchema`.
    func check(_ db: Database) throws -> Bool {
        let version = db.dataVersion
        if dataVersion == version { return true }
        guard try known.isStillKnown(db) else { throw DatabaseRetired() }
        dataVersion = version
        return false
    }

    /// Records the version of the database at the end of a write transaction.
    func end(_ db: Database) {
        dataVersion = db.dataVersion
    }
}

/// The last schema version with a known format, shared by all connections of an open database.
final class KnownFormat: Sendable {
    private let schemaVersion: Locked<Int64?>

    /// Creates a known format.
    /// - Parameter schemaVersion: The version at the opening; `nil` if unknown.
    init(schemaVersion: Int64?) {
        self.schemaVersion = Locked(schemaVersion)
    }

    /// Whether the database still has a format known to this version.
    fileprivate func isStillKnown(_ db: Database) throws -> Bool {
        let version = try db.integer("PRAGMA schema_version")
        if schemaVersion.withLock({ $0 == version }) { return true }
        guard try !Schema.isNewer(db) else { return false }
        schemaVersion.withLock { $0 = version }
        return true
    }
}
