import GRDB
import RecollectCore

/// The first user message of a session, in full. A preview is one line of it.
enum FirstUserMessage {
    static func isKept(of session: SessionRowID, _ db: Database) throws -> Bool {
        try db.integer("SELECT ifnull(first_message, '') <> '' FROM session WHERE id = ?", session) == 1
    }

    /// Saves the first user message of a session without one. In a write transaction.
    static func save(_ text: String, of session: SessionRowID, _ db: Database) throws {
        try db.run("UPDATE session SET first_message = ? WHERE id = ?", text, session)
        try Preview.set(session, db)
    }
}
