import GRDB
import RecollectCore

/// What is derived from messages and written later, many at a time: the index of their ids, and what a list of conversations
/// shows of them: counts, last activities, tokens, previews.
///
/// Ids are random, so each would dirty a page of its own in every commit, and so would the list of conversations: half of what
/// a save writes. Instead these tables follow the feed, as the search index does. Up to `Settling.limit` messages are
/// unsettled at any time; the writer knows their ids (`UnsettledIDs`), and whoever needs the tables settles them first.
enum Settling {
    /// How many messages may be unsettled before a save settles them.
    static let limit: Int64 = 512

    /// Whether messages have been saved that are not settled. Reads two entries.
    static func isBehind(_ db: Database) throws -> Bool {
        try db.integer("SELECT ifnull((SELECT max(sequence) FROM message), 0) > \(through)") == 1
    }

    /// The number of the last settled message, in SQL.
    static let through = "(SELECT through FROM settled)"

    /// The most messages that are settled at a time: SQLite sorts them in memory.
    private static let slice = 8192

    /// Brings everything up to date. In a write transaction.
    static func settle(_ db: Database) throws {
        while try isBehind(db) { try settleSlice(db) }
    }

    private static func settleSlice(_ db: Database) throws {
        let last = try db.integer(
            """
            SELECT max(sequence) FROM (
              SELECT sequence FROM message WHERE sequence > \(through) ORDER BY sequence LIMIT \(slice))
            """)
        guard let last else { return }
        // In the order of the index, so that each of its pages is visited once. No id stands twice in a scope; were it so, the
        // first would be meant. Without NOT INDEXED, SQLite would walk the whole index of places for the sake of the order.
        try db.run(
            """
            INSERT OR IGNORE INTO message_id (scope_id, message_id, sequence)
            SELECT scope_id, message_id, sequence FROM message NOT INDEXED
            WHERE sequence > \(through) AND sequence <= ?
            ORDER BY scope_id, message_id, sequence
            """, last)
        try db.run(addition, last)
        let withoutPreview = try db.integers(
            """
            SELECT DISTINCT conversation_id FROM message JOIN conversation ON conversation.id = conversation_id
            WHERE sequence > \(through) AND sequence <= ? AND role = 'user' AND preview IS NULL
            """, last)
        for conversation in withoutPreview { try Preview.set(conversation, db) }
        try db.run("UPDATE settled SET through = ?", last)
    }

    private static let addition = """
        UPDATE conversation SET message_count = message_count + new.count,
        last_activity = iif(message_count = 0, new.latest, max(last_activity, new.latest)), last_access = max(last_access, min(new.latest, \(ConversationEdits.lastAccess))),
        last_sequence = max(last_sequence, new.last), \(TokenColumn.all.map(\.addition).joined(separator: ", "))
        FROM (SELECT conversation_id, \(sums) FROM message WHERE sequence > \(through) AND sequence <= ?
              GROUP BY conversation_id) AS new
        WHERE conversation.id = new.conversation_id
        """

    private static let sums = """
        count(*) AS count, max(timestamp) AS latest, max(sequence) AS last,
        \(TokenColumn.all.map(\.sum).joined(separator: ", "))
        """

    /// Derives what the list shows of one conversation anew, after messages were edited, deleted or moved. In a write
    /// transaction; everything must be settled. Reads all rows of the conversation.
    static func recount(_ conversation: Int64, _ db: Database) throws {
        try db.run(
            """
            UPDATE conversation SET message_count = own.count, last_activity = ifnull(own.latest, created_at),
            last_sequence = ifnull(own.last, 0), \(TokenColumn.all.map { "\($0.name) = own.\($0.name)" }.joined(separator: ", "))
            FROM (SELECT \(sums) FROM message WHERE scope_id IN (SELECT id FROM scope WHERE conversation_id = ?1)) AS own
            WHERE conversation.id = ?1
            """, conversation)
        try Preview.set(conversation, db)
    }

    /// Adds the tokens of settled messages to those of their conversation, or takes them away. In a write transaction.
    /// - Parameter sign: 1 or −1.
    static func countTokens(of sequences: [Int64], in conversation: Int64, sign: Int64, _ db: Database) throws {
        try db.run(
            """
            UPDATE conversation SET
            \(TokenColumn.all.map { "\($0.name) = conversation.\($0.name) + ?1 * own.\($0.name)" }.joined(separator: ", "))
            FROM (SELECT \(sums) FROM message WHERE sequence IN (SELECT value FROM json_each(?2))) AS own
            WHERE conversation.id = ?3
            """, sign, sequences.jsonArray, conversation)
    }

    /// Follows the edit of a settled message in what the list shows beside tokens and the preview. In a write transaction.
    static func follow(timestamp old: Int64, to new: Int64, of conversation: Int64, _ db: Database) throws {
        guard old != new else { return }
        let latest = try db.integer("SELECT last_activity FROM conversation WHERE id = ?", conversation) ?? 0
        if new > latest {
            try db.run("UPDATE conversation SET last_activity = ? WHERE id = ?", new, conversation)
        } else if old == latest {
            try settle(db)
            try recount(conversation, db)
        }
    }

    /// Follows the deletion of settled messages, which `removal` does, in what the list shows. Only where the last of the
    /// conversation goes are its other rows read. In a write transaction.
    static func following<Result>(
        deletionOf sequences: [Int64], in conversation: Int64, _ db: Database, _ removal: () throws -> Result
    ) throws -> Result {
        try countTokens(of: sequences, in: conversation, sign: -1, db)
        let isLast = try db.integer(
            """
            SELECT max(message.timestamp) >= last_activity OR max(message.sequence) >= conversation.last_sequence
            FROM message JOIN conversation ON conversation.id = ? WHERE sequence IN (SELECT value FROM json_each(?))
            """, conversation, sequences.jsonArray)
        let result = try removal()
        if isLast == 0 { try Preview.set(conversation, db) } else { try recount(conversation, db) }
        return result
    }

    /// Derives everything anew after `DamagedIDs`. In a write transaction.
    /// - Throws: the error for a damaged index if the database contradicts itself elsewhere: rows may be damaged then.
    static func rebuildIDs(_ db: Database) throws {
        guard try HistoryCheck.isWhole(db) else { throw DatabaseError.damagedIndex }
        try rebuild(db)
    }

    /// Derives everything anew. In a write transaction.
    static func rebuild(_ db: Database) throws {
        try db.run("DELETE FROM message_id")
        try db.run(
            """
            UPDATE conversation SET message_count = 0, last_activity = created_at, last_sequence = 0, preview = NULL,
            \(TokenColumn.all.map { "\($0.name) = 0" }.joined(separator: ", "))
            """)
        try db.run("UPDATE settled SET through = 0")
        try settle(db)
        // Settling sets the previews of conversations with messages alone.
        for number in try db.integers("SELECT id FROM conversation WHERE first_message IS NOT NULL") {
            try Preview.set(number, db)
        }
    }
}

/// A sum of tokens that a list shows, of the numbers under `usage` in the metadata of messages.
struct TokenColumn {
    /// The column of `conversation`.
    let name: String
    /// The name under `usage`, as Anthropic's API writes it and transcripts keep it.
    let key: String

    static let all = [
        TokenColumn(name: "input_tokens", key: "input_tokens"),
        TokenColumn(name: "output_tokens", key: "output_tokens"),
        TokenColumn(name: "cache_creation_tokens", key: "cache_creation_input_tokens"),
        TokenColumn(name: "cache_read_tokens", key: "cache_read_input_tokens"),
    ]

    fileprivate var addition: String { "\(name) = conversation.\(name) + new.\(name)" }

    /// Whatever stands there: JSON that is broken, or not a number, or one that no sum could hold, must not stop a save.
    fileprivate var sum: String {
        """
        CAST(total(CASE WHEN json_valid(metadata) THEN
          min(max(CAST(json_extract(metadata, '$.usage.\(key)') AS INTEGER), 0), 1 << 40) END) AS INTEGER) AS \(name)
        """
    }
}
