import GRDB
import RecollectCore

/// The work that deletions leave: rows of `erasure`, written in the transaction that deletes and worked off afterwards, in bites.
///
/// A deletion that is committed is gone from every read. What is left are bytes: rows of a deleted conversation, terms in the pages
/// of the search index, files, and copies of old pages in the log. As long as a row of `erasure` stands, some may remain.
enum Erasing {
    /// What is left to be done, in the order in which it is done.
    enum Kind: String, CaseIterable {
        /// Messages of a deleted conversation: `number` is the conversation's, `name` its user, whom its index entries name.
        case conversation
        /// The file of an attachment that lost its last use: `name` is the hash.
        case attachment
        /// A file that was set aside or left by an interrupted salvage: `name` is the file's.
        case file
        /// Files that interrupted saves left among the attachments: `number` is the next folder to look into, 0 to 255.
        case leftovers
        /// Words of removed messages in the search index: `number` is 0 before the merging has begun, and 1 while it goes on.
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

    /// Notes work, in the transaction that makes it.
    static func note(_ kind: Kind, number: Int64 = 0, name: String = "", _ db: Database) throws {
        try db.run("INSERT OR IGNORE INTO erasure (kind, number, name) VALUES (?, ?, ?)", kind.rawValue, number, name)
    }

    /// Notes that rows were removed: their words stay in the index and the log until both have been cleaned.
    static func noteRemoval(_ db: Database) throws {
        try note(.index, db)
        try note(.log, db)
    }

    /// Notes attachments that nothing uses any more.
    static func note(orphans: some Sequence<String>, _ db: Database) throws {
        for hash in orphans { try note(.attachment, name: hash, db) }
    }

    /// Work is done.
    static func done(_ kind: Kind, number: Int64 = 0, name: String = "", _ db: Database) throws {
        try db.run("DELETE FROM erasure WHERE kind = ? AND number = ? AND name = ?", kind.rawValue, number, name)
    }

    /// Removes all work of a kind on a number.
    static func done(_ kind: Kind, of number: Int64, _ db: Database) throws {
        try db.run("DELETE FROM erasure WHERE kind = ? AND number = ?", kind.rawValue, number)
    }

    /// The hashes of attachments whose files have still to go.
    static func pendingAttachments(_ db: Database) throws -> Set<String> {
        var hashes: Set<String> = []
        try db.sql("SELECT name FROM erasure WHERE kind = ?").bind(Kind.attachment.rawValue).forEachRow {
            hashes.insert($0.text(0))
        }
        return hashes
    }

    /// What is left, counted.
    static func left(_ db: Database) throws -> Erasure {
        var counts: [String: Int] = [:]
        try db.sql("SELECT kind, count(*) FROM erasure GROUP BY kind").forEachRow {
            counts[$0.text(0)] = Int($0.integer(1))
        }
        func count(_ kind: Kind) -> Int { counts[kind.rawValue] ?? 0 }
        return Erasure(
            conversations: count(.conversation), attachments: count(.attachment),
            files: count(.file) + count(.leftovers), isIndexPending: count(.index) > 0, isLogPending: count(.log) > 0)
    }

    /// The user of a deleted conversation whose messages are still to be removed.
    static let userOfDeleted = "(SELECT name FROM erasure WHERE kind = 'conversation' AND number = ?1)"

    /// The largest number of a scope, of deleted ones and of scopes named by messages too: see `Schema.numbers`.
    static let lastScope = """
        max(ifnull((SELECT max(id) FROM scope), 0), ifnull((SELECT max(scope_id) FROM message), 0),
          (SELECT last_deleted FROM settled))
        """

    /// The largest number of a conversation, of deleted ones too.
    static let lastConversation = """
        max(ifnull((SELECT max(id) FROM conversation), 0), ifnull((SELECT max(conversation_id) FROM scope), 0),
          ifnull((SELECT max(number) FROM erasure WHERE kind = 'conversation'), 0),
          (SELECT last_deleted FROM settled))
        """

    /// Keeps the largest numbers. Must run before a deletion.
    static func keepNumbers(_ db: Database) throws {
        try db.run("UPDATE settled SET last_deleted = max(\(lastConversation), \(lastScope))")
    }
}
