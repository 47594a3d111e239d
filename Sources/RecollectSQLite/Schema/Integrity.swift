import GRDB

/// SQLite's integrity check, and the check of the schema.
enum Integrity {
    /// Returns the findings of both checks: at most `limit`.
    static func findings(_ db: Database, limit: Int = 20) throws -> [String] {
        if try Schema.isDamaged(db) { return ["unexpected schema"] }
        var findings: [String] = []
        try db.sql("PRAGMA integrity_check(\(limit))").forEachRow { row in
            let line = row.text(0)
            if line != "ok" { findings.append(line) }
        }
        return findings
    }

    /// Whether both checks find no problem.
    static func isWhole(_ db: Database) throws -> Bool {
        do { return try findings(db).isEmpty } catch  where error.isCorruption { return false }
    }
}
