import GRDB

/// What the user of a session said first, whole; a preview is a line of it.
enum FirstUserMessage {
    /// Keeps what a transcript says of a session of which nobody has told it. In a write transaction.
    static func keep(_ text: String, of conversation: Int64, _ db: Database) throws {
        guard !text.isEmpty else { return }
        try db.run(
            "UPDATE conversation SET first_message = ? WHERE id = ? AND ifnull(first_message, '') = ''", text,
            conversation)
        if db.changesCount > 0 { try Preview.set(conversation, db) }
    }
}
