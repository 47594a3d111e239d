import GRDB
import RecollectCore

/// The preview of a session: the beginning of its first user message.
enum Preview {
    /// The number of messages of each agent searched for the first user message.
    private static let maxScannedMessages = 32

    /// Sets a session's preview from the first message saved by a session storage, or else from its messages. The
    /// preview is `NULL` if there is no user message yet. In a write transaction.
    static func set(_ session: SessionRowID, _ db: Database) throws {
        let first = try db.optionalText("SELECT first_message FROM session WHERE id = ?", session)
        let preview = try Session.preview(of: first ?? "") ?? firstWords(of: session, db)
        try db.run("UPDATE session SET preview = ?1 WHERE id = ?2 AND preview IS NOT ?1", preview, session)
    }

    private static func firstWords(of session: SessionRowID, _ db: Database) throws -> String? {
        try SessionRow.scopes(of: session, db)
            .compactMap { try firstWords(ofScope: $0.id, db) }
            .min { $0.position < $1.position }?.words
    }

    private static func firstWords(
        ofScope scope: ScopeRowID, _ db: Database
    ) throws -> (position: Position, words: String)? {
        let rows = try db.sql(
            """
            SELECT substr(text, 1, 1000), parts, position FROM
            (SELECT role, text, parts, position FROM message WHERE scope_row_id = ? ORDER BY position LIMIT \(maxScannedMessages))
            WHERE role = 'user' ORDER BY position
            """
        ).bind(scope)
        defer { rows.reset() }
        while try rows.step() {
            let text =
                rows.isNull(1)
                ? rows.text(0) : MessageRow.parts(rows, 1).compactMap(\.text).joined(separator: " ")
            if let words = Session.preview(of: text) { return (rows.value(2), words) }
        }
        return nil
    }
}
