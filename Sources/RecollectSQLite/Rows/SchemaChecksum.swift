import GRDB
import RecollectCore

/// The checksum of the schema, stored in the header of the database.
enum SchemaChecksum {
    /// Returns the checksum of a database's schema, root pages and the search index's version included.
    private static func value(_ db: Database) throws -> Int32 {
        var checksum = MessageChecksum()
        try db.sql("SELECT name, type, tbl_name, sql, rootpage FROM sqlite_master ORDER BY name").forEachRow { row in
            for column: Int32 in 0..<4 { row.withBytes(column) { checksum.add($0) } }
            checksum.add(row.integer(4))
        }
        checksum.add(try db.integer("SELECT version FROM search_state WHERE id = 1") ?? 0)
        return Int32(truncatingIfNeeded: checksum.value)
    }

    /// Whether the schema matches the stored checksum.
    static func matchesStored(_ db: Database) throws -> Bool {
        try db.integer("PRAGMA user_version") == Int64(value(db))
    }

    /// Stores the schema's checksum in the database's header.
    static func store(_ db: Database) throws {
        try db.run("PRAGMA user_version = \(value(db))")
    }
}
