import GRDB
import RecollectCore

/// Which messages use which attachments, in the database.
enum AttachmentUse {
    static func insert(_ message: ConversationMessage, sequence: Int64, _ db: Database) throws {
        for hash in message.storedAttachments {
            try db.run("INSERT OR IGNORE INTO attachment_use (sha256, sequence) VALUES (?, ?)", hash, sequence)
        }
    }

    /// Forgets a message's uses; returns the hashes that nothing uses any more.
    static func delete(sequence: Int64, _ db: Database) throws -> [String] {
        var hashes: [String] = []
        try db.sql("SELECT sha256 FROM attachment_use WHERE sequence = ?").bind(sequence).forEachRow {
            hashes.append($0.text(0))
        }
        guard !hashes.isEmpty else { return [] }
        try db.run("DELETE FROM attachment_use WHERE sequence = ?", sequence)
        return try hashes.filter { try !isUsed($0, db) }
    }

    /// Whether a message that was deleted was the last to use it, and its file has still to go.
    static func isDeleted(_ hash: String, _ db: Database) throws -> Bool {
        let isUsed = try db.integer(
            """
            SELECT 1 FROM attachment_use JOIN message USING (sequence)
            JOIN conversation ON conversation.id = message.conversation_id WHERE sha256 = ? LIMIT 1
            """, hash)
        if try isUsed != nil || isInFlight(hash, db) { return false }
        return try isInMessage(hash, db)
            || db.integer("SELECT 1 FROM erasure WHERE kind = 'attachment' AND number = 0 AND name = ?", hash) != nil
    }

    /// Whether a message has the attachment, or a reply in flight. A reply has no row in `attachment_use`.
    static func isUsed(_ hash: String, _ db: Database) throws -> Bool {
        try isInMessage(hash, db) || isInFlight(hash, db)
    }

    private static func isInMessage(_ hash: String, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM attachment_use WHERE sha256 = ? LIMIT 1", hash) != nil
    }

    private static func isInFlight(_ hash: String, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM draft WHERE instr(parts, ?) LIMIT 1", hash) != nil
    }
}
