import GRDB
import RecollectCore

/// What a list shows of a conversation's beginning.
enum Preview {
    /// The most characters of a preview.
    static let length = 200
    /// How many messages of each agent are looked at for the first thing that a user said.
    private static let reach = 32

    /// Sets a conversation's preview from what a session storage was told, else from its first messages; `NULL` where nobody
    /// has said anything yet. In a write transaction.
    static func set(_ conversation: Int64, _ db: Database) throws {
        let told = try db.optionalText("SELECT first_message FROM conversation WHERE id = ?", conversation)
        let preview = try of(told ?? "") ?? firstWords(of: conversation, db)
        try db.run("UPDATE conversation SET preview = ? WHERE id = ?", preview, conversation)
    }

    /// A text on one line, at most 200 characters; `nil` where nothing is left.
    static func of(_ text: String) -> String? {
        // A long text is cut first: a preview must not cost what the text does.
        let words = text.prefix(2000).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(length))
    }

    private static func firstWords(of conversation: Int64, _ db: Database) throws -> String? {
        try ConversationQueries.scopes(of: conversation, db)
            .compactMap { try firstWords(ofScope: $0.number, db) }
            .min { $0.position < $1.position }?.words
    }

    private static func firstWords(
        ofScope scope: Int64, _ db: Database
    ) throws -> (position: Int64, words: String)? {
        let rows = try db.sql(
            """
            SELECT substr(text, 1, 1000), parts, position FROM
            (SELECT role, text, parts, position FROM message WHERE scope_id = ? ORDER BY position LIMIT \(reach))
            WHERE role = 'user' ORDER BY position
            """
        ).bind(scope)
        defer { rows.reset() }
        while try rows.step() {
            let text =
                rows.isNull(1)
                ? rows.text(0) : MessageRow.parts(rows, 1).compactMap(\.text).joined(separator: " ")
            if let words = of(text) { return (rows.integer(2), words) }
        }
        return nil
    }
}
