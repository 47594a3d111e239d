import GRDB
import RecollectCore

/// The full-text index of all messages: a table that can be made anew from them at any time, and follows the change feed
/// outside the commits that save.
///
/// The index holds terms and where they stand, not the text (FTS5's `content=''`). Every function here is called inside a
/// transaction of its caller's and neither begins nor ends one.
enum SearchIndex {
    /// Changes whenever another text would give other terms; an index of another version is made anew.
    static let version: Int64 = 1

    /// Makes the index if it is missing, or anew and empty if another version wrote it. In a write transaction.
    static func prepare(_ db: Database) throws {
        if try isCurrent(db) { return }
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS message_search;
                CREATE VIRTUAL TABLE message_search USING fts5 (
                  body, content = '', tokenize = "ascii tokenchars '_'"
                );
                -- Terms are written out by 16 MB instead of 1: a quarter less time for an import.
                INSERT INTO message_search (message_search, rank) VALUES ('hashsize', 16777216);
                """)
        try db.run(
            "INSERT OR REPLACE INTO search_state (id, version, indexed_through) VALUES (1, ?, 0)", version)
        try Schema.keepChecksum(db)
    }

    /// Whether the index is there and of this version.
    static func isCurrent(_ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM sqlite_master WHERE name = 'message_search'") != nil
            && db.integer("SELECT version FROM search_state WHERE id = 1") == version
    }

    /// Whether a newer version made the index.
    static func isNewer(_ db: Database) throws -> Bool {
        try db.integer("SELECT version FROM search_state WHERE id = 1") ?? 0 > version
    }

    /// Makes the index anew and empty. In a write transaction.
    static func rebuild(_ db: Database) throws {
        // A damaged index cannot even be dropped. Its tables are ordinary ones; this is what they hold when it is empty.
        try db.execute(
            sql: """
                DELETE FROM search_state;
                DELETE FROM message_search_data; DELETE FROM message_search_idx; DELETE FROM message_search_docsize;
                INSERT INTO message_search_data (id, block) VALUES (1, x''), (10, x'00000000000000');
                DELETE FROM message_search_config; INSERT INTO message_search_config (k, v) VALUES ('version', 4)
                """)
        try prepare(db)
    }

    /// Whether messages have been saved that are not yet indexed. Reads two entries, whatever the size.
    static func isBehind(_ db: Database) throws -> Bool {
        let last = try db.integer("SELECT max(sequence) FROM message") ?? 0
        return try last > indexedThrough(db)
    }

    /// Indexes the next messages of the feed, at most `limit`; returns whether more are left. In a write transaction.
    ///
    /// One transaction of some thousands of messages is faster than many small ones.
    static func advance(_ db: Database, limit: Int) throws -> Bool {
        var through = try indexedThrough(db)
        var writer = try Writer(db, statement: insertion)
        var count = 0
        try db.sql(
            "SELECT \(Writer.columns) FROM message WHERE sequence > ? ORDER BY sequence LIMIT ?"
        ).bind(through, limit).forEachRow { row in
            through = try writer.write(row)
            count += 1
        }
        guard count > 0 else { return false }
        try db.run("UPDATE search_state SET indexed_through = ? WHERE id = 1", through)
        return try count == limit && isBehind(db)
    }

    /// Takes messages out of the index, before their rows go or change and in the same transaction; those that are not
    /// indexed, or no longer there, are passed over. What the file still holds of them goes with `eraseBite`.
    static func remove(_ db: Database, sequences: some Sequence<Int64>) throws {
        let through = try indexedThrough(db)
        var writer = try Writer(
            db, statement: "INSERT INTO message_search (message_search, rowid, body) VALUES ('delete', ?, ?)")
        for sequence in sequences where sequence <= through {
            try db.sql("SELECT \(Writer.columns) FROM message WHERE sequence = ?").bind(sequence)
                .forEachRow { _ = try writer.write($0) }
        }
    }

    /// Does what changes the text or the owner of messages, and keeps the index right: takes them out before and brings them
    /// back after. Those that are not indexed yet are left to the follower. In the transaction of the change.
    static func reindexing(_ sequences: some Sequence<Int64>, _ db: Database, _ change: () throws -> Void) throws {
        let through = try indexedThrough(db)
        let indexed = sequences.filter { $0 <= through }
        try remove(db, sequences: indexed)
        try change()
        var writer = try Writer(db, statement: insertion)
        for sequence in indexed {
            try db.sql("SELECT \(Writer.columns) FROM message WHERE sequence = ?").bind(sequence)
                .forEachRow { _ = try writer.write($0) }
        }
    }

    /// Merges some pages of the index so that in the end no term of a removed message is left in it. In a write transaction; works
    /// as `Erasing` has noted and returns whether it did anything.
    ///
    /// FTS5 only notes a deletion and keeps the words until all segments are merged into one. It stops at the first term after so
    /// many pages: a term that stands in a million messages is merged in one go. A deletion that comes while this goes on is noted
    /// anew, and all begins again.
    static func eraseBite(pages: Int, _ db: Database) throws -> Bool {
        let merge = "INSERT INTO message_search (message_search, rank) VALUES ('merge', ?)"
        switch try db.integer("SELECT min(number) FROM erasure WHERE kind = 'index'") {
        case 0:
            // What this transaction has removed is in no segment before it is committed, and a single segment is never merged: so
            // this one adds another, and the merging begins in the next.
            try db.run("INSERT INTO message_search (rowid, body) VALUES (0, '_')")
            try db.run("INSERT INTO message_search (message_search, rowid, body) VALUES ('delete', 0, '_')")
            try db.run("DELETE FROM erasure WHERE kind = 'index'")
            try Erasing.note(.index, number: 1, db)
        case 1:
            try db.run(merge, -pages)
            try Erasing.done(.index, number: 1, db)
            try Erasing.note(.index, number: 2, db)
        case 2:
            let before = db.totalChangesCount
            try db.run(merge, pages)
            // The statement itself counts as one change.
            if db.totalChangesCount - before < 2 { try Erasing.done(.index, number: 2, db) }
        default: return false
        }
        return true
    }

    private static let insertion = "INSERT INTO message_search (rowid, body) VALUES (?, ?)"

    static func indexedThrough(_ db: Database) throws -> Int64 {
        try db.integer("SELECT indexed_through FROM search_state WHERE id = 1") ?? 0
    }

    /// Gives messages to a statement that takes a rowid and a document.
    private struct Writer {
        static let columns = "sequence, conversation_id, scope_id, timestamp, role, text, parts"

        private let db: Database
        private let statement: SQL
        private var document = SearchDocument()
        /// The owner's tokens of the last scope; messages of one scope come in rows.
        private var scope: (id: Int64, tokens: String)?

        init(_ db: Database, statement: String) throws {
            self.db = db
            self.statement = try db.sql(statement)
        }

        /// Writes a row's document and returns the row's sequence.
        mutating func write(_ row: SQL) throws -> Int64 {
            let sequence = row.integer(0)
            let scope = try tokens(ofScope: row.integer(2), conversation: row.integer(1))
            let own = SearchOwner.tokens(role: row.text(4), timestamp: row.integer(3))
            SearchableText.withBytes(of: row, textColumn: 5, partsColumn: 6) {
                document.make(owner: scope, own, text: $0)
            }
            try statement.bind(sequence, at: 1)
            try document.bytes.withUnsafeBytes {
                try statement.bindText($0, at: 2)
                try statement.run()
            }
            return sequence
        }

        private mutating func tokens(ofScope id: Int64, conversation: Int64) throws -> String {
            if let scope, scope.id == id { return scope.tokens }
            let row = try db.sql(
                """
                SELECT ifnull((SELECT user_id FROM conversation WHERE id = ?1), \(Erasing.userOfDeleted)),
                  (SELECT agent_id FROM scope WHERE id = ?2)
                """
            ).bind(conversation, id)
            defer { row.reset() }
            _ = try row.step()
            let tokens = SearchOwner.tokens(
                userId: row.text(0), conversation: conversation, agentId: row.text(1))
            scope = (id, tokens)
            return tokens
        }
    }
}
