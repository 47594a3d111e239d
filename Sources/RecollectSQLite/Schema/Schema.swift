import GRDB
import RecollectCore

/// The database's tables, as migrations with permanent identifiers: a released one is never edited, only followed
/// by another.
enum Schema {
    /// "RCL1": the application ID of a Recollect history in a SQLite file. Versions before 0.1.0 used "RCLL" for
    /// tables with other names; their databases are refused as foreign.
    static let applicationID: Int32 = 0x5243_4C31

    /// Whether a database with this header is a Recollect history.
    static func isOurs(_ header: [UInt8]) -> Bool {
        DatabaseHeader.isDatabase(header)
            && header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) } == applicationID
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 sessions") { try $0.execute(sql: sessions) }
        migrator.registerMigration("2 changed message") { try $0.execute(sql: changedMessage) }
        migrator.registerMigration("3 compactions") { try $0.execute(sql: compactions) }
        migrator.registerMigration("4 session order") { try $0.execute(sql: sessionOrder) }
        migrator.registerMigration("5 turn leases") { try $0.execute(sql: turnLeases) }
        return migrator
    }

    /// The identifiers of the migrations, oldest first.
    static let identifiers = migrator.migrations

    /// Whether this version, and no newer one, applied every migration and created the search index.
    static func isCurrent(_ state: OpeningState) -> Bool {
        state.migrations == Set(identifiers) && state.indexVersion == SearchIndex.version
    }

    /// Whether a newer version applied migrations unknown to this one, or created the search index in a newer
    /// format.
    static func isNewer(_ db: Database) throws -> Bool {
        let applied = try applied(db)
        guard !applied.isEmpty else { return false }
        return try isNewer(applied) || SearchIndex.isNewer(db)
    }

    /// Returns the identifiers of the applied migrations, oldest first.
    static func applied(_ db: Database) throws -> [String] {
        guard try db.integer("SELECT 1 FROM sqlite_master WHERE name = 'grdb_migrations'") != nil else { return [] }
        var identifiers: [String] = []
        try db.sql("SELECT identifier FROM grdb_migrations ORDER BY rowid").forEachRow {
            identifiers.append($0.text(0))
        }
        return identifiers
    }
}
