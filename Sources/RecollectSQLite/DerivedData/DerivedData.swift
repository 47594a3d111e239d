import GRDB
import RecollectCore

/// Updates derived data, many messages at a time: the index of message IDs, and the counts, last activities, tokens
/// and previews in the list of sessions.
///
/// IDs are random, so each would change a page of its own in every commit, and so would the list of sessions: half
/// of the bytes written by a save. Instead these tables follow the feed, as the search index does. A save updates
/// them if more than `DerivedData.limit` changes are pending. The writer has the IDs of pending messages in memory
/// (`PendingMessageIDs`), and operations on these tables update them first.
enum DerivedData {
    /// The maximum number of feed entries without derived data at the end of a save.
    static let limit: Int64 = 512

    /// Whether there are pending messages. Reads two entries.
    static func isBehind(_ db: Database) throws -> Bool {
        try db.integer("SELECT ifnull((SELECT max(sequence) FROM message), 0) > \(through)") == 1
    }

    private static let through = FeedState.derivedThroughSQL

    /// Returns the sequence number of the last message with derived data.
    static func lastSequence(_ db: Database) throws -> SequenceNumber {
        try db.value("SELECT \(through)") ?? .zero
    }

    /// The maximum number of messages processed at a time: SQLite sorts them in memory.
    private static let slice = 8192

    /// Updates all derived data. In a write transaction.
    static func update(_ db: Database) throws {
        while try isBehind(db) { try catchUpSlice(db) }
    }

    private static func catchUpSlice(_ db: Database) throws {
        let last: SequenceNumber? = try db.value(
            """
            SELECT max(sequence) FROM (
              SELECT sequence FROM message WHERE sequence > \(through) ORDER BY sequence LIMIT \(slice))
            """)
        guard let last else { return }
        // In the order of the index, so that each of its pages is visited once. An ID is unique in a scope. If it
        // were not, the first message would be used. Without NOT INDEXED, SQLite would read the whole index of
        // positions for the order.
        try db.run(
            """
            INSERT OR IGNORE INTO message_id (scope_row_id, message_id, sequence)
            SELECT scope_row_id, message_id, sequence FROM message NOT INDEXED
            WHERE sequence > \(through) AND sequence <= ?
            ORDER BY scope_row_id, message_id, sequence
            """, last)
        try db.run(addition, last)
        let withoutPreview: [SessionRowID] = try db.values(
            """
            SELECT DISTINCT session_row_id FROM message JOIN session ON session.id = session_row_id
            WHERE sequence > \(through) AND sequence <= ? AND role = 'user' AND preview IS NULL
            """, last)
        for session in withoutPreview { try Preview.set(session, db) }
        try db.run("UPDATE derived_data SET through = ?", last)
    }

    private static let addition = """
        UPDATE session SET message_count = message_count + new.count,
        last_activity = iif(message_count = 0, new.latest, max(last_activity, new.latest)), last_access = max(last_access, min(new.latest, \(SessionRow.lastAccess))),
        last_sequence = max(last_sequence, new.last), \(TokenColumn.all.map(\.addition).joined(separator: ", "))
        FROM (SELECT session_row_id, \(sums) FROM message WHERE sequence > \(through) AND sequence <= ?
              GROUP BY session_row_id) AS new
        WHERE session.id = new.session_row_id
        """

    private static let sums = """
        count(*) AS count, max(timestamp) AS latest, max(sequence) AS last,
        \(TokenColumn.all.map(\.sum).joined(separator: ", "))
        """

    /// Recomputes the derived data of one session after edits, deletions or moves of messages. In a write
    /// transaction. No messages may be pending. Reads all rows of the session.
    static func recount(_ session: SessionRowID, _ db: Database) throws {
        try db.run(
            """
            UPDATE session SET message_count = own.count, last_activity = ifnull(own.latest, created_at),
            last_sequence = ifnull(own.last, 0), \(TokenColumn.all.map { "\($0.name) = own.\($0.name)" }.joined(separator: ", "))
            FROM (SELECT \(sums) FROM message WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?1)) AS own
            WHERE session.id = ?1
            """, session)
        try Preview.set(session, db)
    }

    /// Adds the tokens of messages with derived data to their session, or subtracts them. In a write transaction.
    /// - Parameter sign: 1 or −1.
    static func countTokens(of sequences: [SequenceNumber], in session: SessionRowID, sign: Int64, _ db: Database)
        throws
    {
        try db.run(
            """
            UPDATE session SET
            \(TokenColumn.all.map { "\($0.name) = session.\($0.name) + ?1 * own.\($0.name)" }.joined(separator: ", "))
            FROM (SELECT \(sums) FROM message WHERE sequence IN (SELECT value FROM json_each(?2))) AS own
            WHERE session.id = ?3
            """, sign, sequences.jsonArray, session)
    }

    /// Updates the last activity after an edit of a message with derived data. Tokens and the preview are updated
    /// elsewhere. In a write transaction.
    static func follow(timestamp old: Int64, to new: Int64, of session: SessionRowID, _ db: Database) throws {
        guard old != new else { return }
        let latest = try db.integer("SELECT last_activity FROM session WHERE id = ?", session) ?? 0
        if new > latest {
            try db.run("UPDATE session SET last_activity = ? WHERE id = ?", new, session)
        } else if old == latest {
            try update(db)
            try recount(session, db)
        }
    }

    /// Runs `removal`, a deletion of messages with derived data, and updates the derived data of the session. Reads
    /// its other rows only if its last message is deleted. In a write transaction.
    static func following<Result>(
        deletionOf sequences: [SequenceNumber], in session: SessionRowID, _ db: Database, _ removal: () throws -> Result
    ) throws -> Result {
        try countTokens(of: sequences, in: session, sign: -1, db)
        let isLast = try db.integer(
            """
            SELECT max(message.timestamp) >= last_activity OR max(message.sequence) >= session.last_sequence
            FROM message JOIN session ON session.id = ? WHERE sequence IN (SELECT value FROM json_each(?))
            """, session, sequences.jsonArray)
        let result = try removal()
        if isLast == 0 { try Preview.set(session, db) } else { try recount(session, db) }
        return result
    }

    /// Rebuilds all derived data after `DamagedIDs`. In a write transaction.
    /// - Throws: The error for a damaged index if the database has other contradictions: rows may be damaged then.
    static func rebuildIDs(_ db: Database) throws {
        guard try Integrity.isWhole(db) else { throw DatabaseError.damagedIndex }
        try rebuild(db)
    }

    /// Rebuilds all derived data. In a write transaction.
    static func rebuild(_ db: Database) throws {
        try db.run("DELETE FROM message_id")
        try db.run(
            """
            UPDATE session SET message_count = 0, last_activity = created_at, last_sequence = 0, preview = NULL,
            \(TokenColumn.all.map { "\($0.name) = 0" }.joined(separator: ", "))
            """)
        try db.run("UPDATE derived_data SET through = 0")
        try update(db)
        // The update sets only the previews of sessions with messages.
        let titled: [SessionRowID] = try db.values("SELECT id FROM session WHERE first_message IS NOT NULL")
        for session in titled { try Preview.set(session, db) }
    }
}

/// A sum of tokens for the list, from the numbers under `usage` in the metadata of messages.
struct TokenColumn {
    /// The column of `session`.
    let name: String
    /// The name under `usage`, as in Anthropic's API and in transcripts.
    let key: String

    static let all = [
        TokenColumn(name: "input_tokens", key: "input_tokens"),
        TokenColumn(name: "output_tokens", key: "output_tokens"),
        TokenColumn(name: "cache_creation_tokens", key: "cache_creation_input_tokens"),
        TokenColumn(name: "cache_read_tokens", key: "cache_read_input_tokens"),
    ]

    fileprivate var addition: String { "\(name) = session.\(name) + new.\(name)" }

    /// The sum in SQL. Invalid JSON, values other than numbers, and numbers too large for a sum must not stop a
    /// save.
    fileprivate var sum: String {
        """
        CAST(total(CASE WHEN json_valid(metadata) THEN
          min(max(CAST(json_extract(metadata, '$.usage.\(key)') AS INTEGER), 0), 1 << 40) END) AS INTEGER) AS \(name)
        """
    }
}
