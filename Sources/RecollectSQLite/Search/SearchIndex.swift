import GRDB
import RecollectCore
import RecollectSearch

/// The full-text index of all messages. It can be rebuilt from them at any time, and follows the change feed
/// outside the commits of saves.
///
/// The index holds terms and their positions, not the text (FTS5's `content=''`). Every function here runs inside a
/// transaction of its caller and neither begins nor ends one.
enum SearchIndex {
    /// The version of the index, increased with every change of the terms for a string. An index of another version
    /// is rebuilt.
    static let version: Int64 = 7

    /// Creates the index if it is missing, or recreates it empty if another version wrote it. In a write
    /// transaction.
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
        try SchemaChecksum.store(db)
    }

    /// Whether the index exists with this version.
    static func isCurrent(_ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM sqlite_master WHERE name = 'message_search'") != nil
            && db.integer("SELECT version FROM search_state WHERE id = 1") == version
    }

    /// Whether a newer version created the index.
    static func isNewer(_ db: Database) throws -> Bool {
        try db.integer("SELECT version FROM search_state WHERE id = 1") ?? 0 > version
    }

    /// Recreates the index, empty. In a write transaction.
    static func rebuild(_ db: Database) throws {
        // A damaged index cannot even be dropped. Its tables are ordinary ones, and this is their content in an
        // empty index.
        try db.execute(
            sql: """
                DELETE FROM search_state;
                DELETE FROM message_search_data; DELETE FROM message_search_idx; DELETE FROM message_search_docsize;
                INSERT INTO message_search_data (id, block) VALUES (1, x''), (10, x'00000000000000');
                DELETE FROM message_search_config; INSERT INTO message_search_config (k, v) VALUES ('version', 4)
                """)
        try prepare(db)
    }

    /// Whether there are messages not yet indexed. Reads two entries, regardless of the size.
    static func isBehind(_ db: Database) throws -> Bool {
        let last: SequenceNumber = try db.value("SELECT max(sequence) FROM message") ?? .zero
        return try last > indexedThrough(db)
    }

    /// Indexes the next messages of the feed, at most `limit`. Returns whether more are left. In a write
    /// transaction.
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

    /// Removes messages from the index. Call it before their rows are deleted or changed, in the same transaction.
    /// Messages not indexed or already deleted are skipped. Their remaining bytes in the file are removed by
    /// `eraseStep`.
    static func remove(_ db: Database, sequences: some Sequence<SequenceNumber>) throws {
        let through = try indexedThrough(db)
        var writer = try Writer(
            db, statement: "INSERT INTO message_search (message_search, rowid, body) VALUES ('delete', ?, ?)")
        for sequence in sequences where sequence <= through {
            try db.sql("SELECT \(Writer.columns) FROM message WHERE sequence = ?").bind(sequence)
                .forEachRow { _ = try writer.write($0) }
        }
    }

    /// Runs a change to the text or the owner of messages and updates the index: removes the indexed messages
    /// before and adds them after. Messages not yet indexed are left to the follower. In the transaction of the
    /// change.
    static func reindexing(_ sequences: some Sequence<SequenceNumber>, _ db: Database, _ change: () throws -> Void)
        throws
    {
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

    /// Merges some pages of the index, until no term of a removed message is left in it. In a write transaction.
    /// Works from the records of `Eraser`, and returns whether there was work.
    ///
    /// FTS5 only records a deletion and keeps the words until all segments are merged into one. A merge stops at
    /// the first term after the given number of pages: a term in a million messages is merged at once. A deletion
    /// during this work is recorded again, and the work starts over.
    static func eraseStep(pages: Int, _ db: Database) throws -> Bool {
        let merge = "INSERT INTO message_search (message_search, rank) VALUES ('merge', ?)"
        switch try db.integer("SELECT min(number) FROM erasure WHERE kind = 'index'") {
        case 0:
            // Removals of this transaction are in no segment before its commit, and a single segment is never
            // merged. So this step adds another segment, and merging begins in the next transaction.
            try db.run("INSERT INTO message_search (rowid, body) VALUES (0, '_')")
            try db.run("INSERT INTO message_search (message_search, rowid, body) VALUES ('delete', 0, '_')")
            try db.run("DELETE FROM erasure WHERE kind = 'index'")
            try Eraser.note(.index, number: 1, db)
        case 1:
            try db.run(merge, -pages)
            try Eraser.done(.index, number: 1, db)
            try Eraser.note(.index, number: 2, db)
        case 2:
            let before = db.totalChangesCount
            try db.run(merge, pages)
            // The statement itself counts as one change.
            if db.totalChangesCount - before < 2 { try Eraser.done(.index, number: 2, db) }
        default: return false
        }
        return true
    }

    private static let insertion = "INSERT INTO message_search (rowid, body) VALUES (?, ?)"

    static func indexedThrough(_ db: Database) throws -> SequenceNumber {
        try db.value("SELECT indexed_through FROM search_state WHERE id = 1") ?? .zero
    }

    /// Writes messages with a statement that takes a row ID and a document.
    private struct Writer {
        static let columns = "sequence, session_row_id, scope_row_id, timestamp, role, text, parts"

        private let db: Database
        private let statement: SQL
        private let stemmer: Stemmer
        private var document = SearchDocument()
        /// The owner tokens of the last scope. Messages of one scope often come in sequence.
        private var scope: (id: ScopeRowID, tokens: String)?

        init(_ db: Database, statement: String) throws {
            self.db = db
            self.statement = try db.sql(statement)
            stemmer = Stemmer()
        }

        /// Writes a row's document and returns the row's sequence number.
        mutating func write(_ row: SQL) throws -> SequenceNumber {
            let sequence: SequenceNumber = row.value(0)
            let scope = try tokens(ofScope: row.value(2), session: row.value(1))
            let own = FilterTokens.tokens(role: row.text(4), timestamp: row.integer(3))
            MessageText.withBytes(of: row, textColumn: 5, partsColumn: 6) {
                document.make(owner: scope, own, text: $0, stemmer: stemmer)
            }
            try statement.bind(sequence, at: 1)
            try document.bytes.withUnsafeBytes {
                try statement.bindText($0, at: 2)
                try statement.run()
            }
            return sequence
        }

        private mutating func tokens(ofScope id: ScopeRowID, session: SessionRowID) throws -> String {
            if let scope, scope.id == id { return scope.tokens }
            let row = try db.sql(
                """
                SELECT ifnull((SELECT user_id FROM session WHERE id = ?1), \(Eraser.userOfDeleted)),
                  (SELECT agent_id FROM scope WHERE id = ?2)
                """
            ).bind(session, id)
            defer { row.reset() }
            _ = try row.step()
            let tokens = FilterTokens.tokens(
                userId: row.text(0), session: session, agentId: row.text(1))
            scope = (id, tokens)
            return tokens
        }
    }
}
