import GRDB
import RecollectCore

/// Damage to the schema. A statement may fit a changed text: in a table with the text `PRIMARX KEY`, all keys are
/// `NULL`. SQLite's integrity check does not detect it. With a changed root page, a table uses another one's rows
/// as its own.
extension Schema {
    /// Whether the schema differs from the result of the applied migrations. Returns false for a newer version's
    /// schema.
    ///
    /// Objects added by another program do not matter. Takes about a millisecond, to create the schema in memory.
    static func isDamaged(_ db: Database) throws -> Bool {
        let applied = try applied(db)
        if isNewer(applied) { return false }
        guard let last = applied.last, Set(applied) == Set(identifiers.prefix(applied.count)) else { return true }
        // A missing table is found below.
        let indexVersion = try? db.integer("SELECT version FROM search_state WHERE id = 1")
        let hasIndex = applied.count == identifiers.count && indexVersion == SearchIndex.version
        let (found, all) = (try objects(db), try expected())
        let expected = try hasIndex ? all : expected(upTo: last)
        // Objects of a migration outside the applied ones: its identifier is lost.
        let isAhead = !hasIndex && all.keys.contains { found[$0] != nil && expected[$0] == nil && !isIndex($0) }
        return isAhead || expected.contains { found[$0.key] != $0.value }
    }

    /// Whether these are the migrations of a newer version: all of this version's, and more. One of them may be
    /// damaged.
    static func isNewer(_ applied: some Collection<String>) -> Bool {
        applied.count > identifiers.count && !Set(identifiers).isSuperset(of: applied)
    }

    /// Returns the objects of a complete database, or of one of an older version.
    private static func expected(upTo last: String? = nil) throws -> [String: String] {
        let queue = try DatabaseQueue()
        if let last {
            try migrator.migrate(queue, upTo: last)
        } else {
            try migrator.migrate(queue)
            try queue.inDatabase(SearchIndex.prepare)
        }
        return try queue.inDatabase(objects)
    }

    /// Returns the objects of a schema by name.
    private static func objects(_ db: Database) throws -> [String: String] {
        var objects: [String: String] = [:]
        try db.sql("SELECT name, type, tbl_name, sql FROM sqlite_master").forEachRow { row in
            objects[row.text(0)] = "\(row.text(1)) \(row.text(2)) \(row.text(3))"
        }
        return objects
    }

    private static func isIndex(_ name: String) -> Bool { name.hasPrefix("message_search") }
}
