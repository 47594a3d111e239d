import GRDB
import RecollectCore

/// The uses of attachments by messages, in the database.
enum AttachmentUse {
    static func insert(_ message: ConversationMessage, sequence: SequenceNumber, _ db: Database) throws {
        for hash in message.storedAttachments {
            try db.run("INSERT OR IGNORE INTO attachment_use (sha256, sequence) VALUES (?, ?)", hash, sequence)
        }
    }

    /// Deletes a message's uses. Returns the hashes of attachments without other uses.
    static func delete(sequence: SequenceNumber, _ db: Database) throws -> [String] {
        var hashes: [String] = []
        try db.sql("SELECT sha256 FROM attachment_use WHERE sequence = ?").bind(sequence).forEachRow {
            hashes.append($0.text(0))
        }
        guard !hashes.isEmpty else { return [] }
        try db.run("DELETE FROM attachment_use WHERE sequence = ?", sequence)
        return try hashes.filter { try !isUsed($0, db) }
    }

    /// Whether a message or a streaming reply of a user has the attachment.
    static func isUsed(_ hash: String, by userId: String, _ db: Database) throws -> Bool {
        // The table or the index of uses may have an older page: one of them is sufficient.
        for uses in ["attachment_use", "attachment_use INDEXED BY attachment_use_by_message"] {
            let use = try db.integer(
                """
                SELECT 1 FROM \(uses) CROSS JOIN message USING (sequence)
                JOIN session ON session.id = message.session_row_id WHERE sha256 = ? AND user_id = ? LIMIT 1
                """, hash, userId)
            if use != nil { return true }
        }
        return try db.integer(
            """
            SELECT 1 FROM streaming_reply JOIN session ON session.id = session_row_id
            WHERE user_id = ? AND instr(parts, ?) LIMIT 1
            """, userId, hash) != nil
    }

    /// Returns the next attachments to erase with uses in the index of uses. The table may have an older page:
    /// bytes are removed only without a use in both.
    static func stillIndexed(among limit: Int, _ db: Database) throws -> Set<String> {
        var hashes: Set<String> = []
        try db.sql(
            """
            SELECT DISTINCT sha256 FROM attachment_use INDEXED BY attachment_use_by_message
            WHERE sha256 IN (SELECT name FROM erasure WHERE kind = 'attachment' LIMIT ?)
            """
        ).bind(limit).forEachRow { hashes.insert($0.text(0)) }
        return hashes
    }

    /// Returns the number of attachments in messages without a row in the table.
    static func missing(_ db: Database) throws -> Int {
        var count = 0
        try forEachMissing(db) { _, _ in count += 1 }
        return count
    }

    /// Adds missing uses from the messages, and removes uses without a message.
    static func restore(_ db: Database) throws {
        var missing: [(hash: String, sequence: SequenceNumber)] = []
        try forEachMissing(db) { missing.append(($0, $1)) }
        for (hash, sequence) in missing {
            try db.run("INSERT OR IGNORE INTO attachment_use (sha256, sequence) VALUES (?, ?)", hash, sequence)
        }
        try db.run("DELETE FROM attachment_use WHERE sequence NOT IN (SELECT sequence FROM message)")
    }

    private static func forEachMissing(_ db: Database, _ body: (String, SequenceNumber) -> Void) throws {
        let lookUp = try db.sql("SELECT 1 FROM attachment_use WHERE sha256 = ? AND sequence = ?")
        try db.sql("SELECT sequence, parts FROM message WHERE instr(parts, '\"sha256\"') > 0").forEachRow { row in
            // The check reports damaged content.
            guard let parts = try? row.withBytes(1, ContentPart.parse(list:)) else { return }
            let sequence: SequenceNumber = row.value(0)
            for hash in Set(ConversationMessage(role: .user, parts: parts).storedAttachments) {
                var isKnown = false
                try lookUp.bind(hash, sequence).forEachRow { _ in isKnown = true }
                if !isKnown { body(hash, sequence) }
            }
        }
    }

    /// Whether a message or a streaming reply has the attachment. A streaming reply has no row in `attachment_use`.
    static func isUsed(_ hash: String, _ db: Database) throws -> Bool {
        try isInMessage(hash, db) || isStreaming(hash, db)
    }

    private static func isInMessage(_ hash: String, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM attachment_use WHERE sha256 = ? LIMIT 1", hash) != nil
    }

    private static func isStreaming(_ hash: String, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM streaming_reply WHERE instr(parts, ?) LIMIT 1", hash) != nil
    }
}
