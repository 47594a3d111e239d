import GRDB

/// The first user message of a session, in full. A preview is one line of it.
enum FirstUserMessage {
    /// Saves the transcript's first user message if the session has none. In a write transaction.
    static func keep(_ text: String, of session: Int64, _ db: Database) throws {
        guard !text.isEmpty else { return }
        try db.run(
            "UPDATE session SET first_message = ? WHERE id = ? AND ifnull(first_message, '') = ''", text,
            session)
        if db.changesCount > 0 { try Preview.set(session, db) }
    }
}
