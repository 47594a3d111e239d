import GRDB
import RecollectCore

/// The remaining work of deletions: rows of `erasure`, written in the transaction of the deletion and processed
/// afterwards in small steps.
///
/// Deleted content is hidden from every read after the commit. Its bytes remain for a while: rows of a deleted
/// session, terms in the pages of the search index, files, and copies of old pages in the log. As long as a row of
/// `erasure` exists, some may remain.
enum Eraser {
    /// The kinds of work, in the order of their execution.
    enum Kind: String, CaseIterable {
        /// Messages of a deleted session. `number` is the session's number, `name` its user ID, needed for its
        /// index entries.
        case session
        /// The file of an attachment without uses. `name` is the hash.
        case attachment
        /// A file set aside or left by an interrupted salvage. `name` is the file name.
        case file
        /// Files left among the attachments by interrupted saves. `number` is the next folder to examine, 0 to 255.
        case leftovers
        /// Words of removed messages in the search index. `number` is the next step of `SearchIndex.eraseStep`: 0
        /// adds a segment, 1 starts the merge, and 2 continues it.
        case index
        /// Old pages in the log.
        case log
    }

    /// Whether there is work. Reads one entry.
    static func isPending(_ db: Database) throws -> Bool {
        try db.integer("SELECT EXISTS (SELECT 1 FROM erasure)") == 1
    }

    /// Whether there is work of a kind.
    static func isPending(_ kind: Kind, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM erasure WHERE kind = ? LIMIT 1", kind.rawValue) != nil
    }

    /// Records work, in the transaction of its deletion.
    static func note(_ kind: Kind, number: Int64 = 0, name: String = "", _ db: Database) throws {
        try db.run("INSERT OR IGNORE INTO erasure (kind, number, name) VALUES (?, ?, ?)", kind.rawValue, number, name)
    }

    /// Records a removal of rows: their words stay in the index and the log until both are cleaned.
    static func noteRemoval(_ db: Database) throws {
        try note(.index, db)
        try note(.log, db)
    }

    /// Records unused attachments.
    static func note(orphans: some Sequence<String>, _ db: Database) throws {
        for hash in orphans { try note(.attachment, name: hash, db) }
    }

    /// Removes completed work.
    static func done(_ kind: Kind, number: Int64 = 0, name: String = "", _ db: Database) throws {
        try db.run("DELETE FROM erasure WHERE kind = ? AND number = ? AND name = ?", kind.rawValue, number, name)
    }

    /// Removes all work of a kind on a number.
    static func done(_ kind: Kind, of number: Int64, _ db: Database) throws {
        try db.run("DELETE FROM erasure WHERE kind = ? AND number = ?", kind.rawValue, number)
    }

    /// Returns the hashes of attachments with files still to be removed.
    static func pendingAttachments(_ db: Database) throws -> Set<String> {
        var hashes: Set<String> = []
        try db.sql("SELECT name FROM erasure WHERE kind = ?").bind(Kind.attachment.rawValue).forEachRow {
            hashes.insert($0.text(0))
        }
        return hashes
    }

    /// Returns the remaining work, counted.
    static func left(_ db: Database) throws -> Erasure {
        var counts: [String: Int] = [:]
        try db.sql("SELECT kind, count(*) FROM erasure GROUP BY kind").forEachRow {
            counts[$0.text(0)] = Int($0.integer(1))
        }
        func count(_ kind: Kind) -> Int { counts[kind.rawValue] ?? 0 }
        return Erasure(
            sessionCount: count(.session), attachmentCount: count(.attachment),
            fileCount: count(.file) + count(.leftovers), isIndexPending: count(.index) > 0,
            isLogPending: count(.log) > 0)
    }

    /// The user ID of a deleted session with messages still to be removed, in SQL, for the session number `?1`.
    static let userOfDeleted = "(SELECT name FROM erasure WHERE kind = 'session' AND number = ?1)"

    /// The largest number of a scope, including deleted scopes and scopes named only by messages, in SQL: see
    /// `Schema.sessions`.
    static let lastScope = """
        max(ifnull((SELECT max(id) FROM scope), 0), ifnull((SELECT max(scope_row_id) FROM message), 0),
          (SELECT last_deleted FROM derived_data))
        """

    /// The largest number of a session, including deleted ones, in SQL.
    static let lastSession = """
        max(ifnull((SELECT max(id) FROM session), 0), ifnull((SELECT max(session_row_id) FROM scope), 0),
          ifnull((SELECT max(number) FROM erasure WHERE kind = 'session'), 0),
          (SELECT last_deleted FROM derived_data))
        """

    /// Saves the largest numbers. Must run before a deletion.
    static func storeNumbers(_ db: Database) throws {
        try db.run("UPDATE derived_data SET last_deleted = max(\(lastSession), \(lastScope))")
    }
}
