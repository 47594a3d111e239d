import Foundation
import GRDB
import RecollectCore

/// Deletes permanently, inside a write transaction: rows, index entries, uses of attachments. The remaining work of
/// erasing is recorded (`Erasing`), or the hashes of unused attachments are returned.
enum MessageDeletion {
    /// Deletes messages of a session by ID and records the changes in the feed. Returns the number of deleted
    /// messages.
    static func delete(_ ids: [String], in conversation: ConversationID, _ db: Database) throws -> Int {
        guard let number = try MessageQueries.number(of: conversation, db) else { return 0 }
        try Settling.settle(db)
        let sequences = try ids.flatMap { try MessageQueries.sequences(of: $0, in: number, db) }
        let deleted = try delete(sequences, of: number, conversation, db)
        if deleted.count > 0 { try Erasing.noteRemoval(db) }
        try Erasing.note(orphans: deleted.orphans, db)
        return deleted.count
    }

    /// Deletes messages by sequence number and records the changes in the feed, without erasing. Their words leave
    /// the index at once, and the file with the next deletion that erases. Returns the number of deleted
    /// messages and the hashes of unused attachments.
    static func delete(
        _ sequences: [Int64], of number: Int64, _ conversation: ConversationID, _ db: Database
    ) throws -> (count: Int, orphans: [String]) {
        try Settling.settle(db)
        let gone = Set(sequences).sorted()
        guard !gone.isEmpty else { return (0, []) }
        for sequence in gone {
            let id = try db.optionalText("SELECT message_id FROM message WHERE sequence = ?", sequence)
            try db.recordChange(
                .messageDeleted, conversation, agentId: MessageQueries.agent(of: sequence, db), messageId: id)
        }
        let orphans = try Settling.following(deletionOf: gone, in: number, db) {
            try remove(gone, conversation: number, db)
        }
        return (gone.count, orphans)
    }

    /// Deletes the rows of a scope before its window. Records no change in the feed: a trim is not a deletion.
    static func deleteTrimmed(scope: Int64, before position: Int64, _ db: Database) throws -> [String] {
        let sequences = try self.sequences("WHERE scope_id = ? AND position < ?", [scope, position], db)
        guard let conversation = try db.integer("SELECT conversation_id FROM scope WHERE id = ?", scope) else {
            return []
        }
        return try remove(sequences, conversation: conversation, db)
    }

    /// Deletes messages of all users with timestamps before a date and sequence numbers from `first` up to, not
    /// including, `end`. Returns the number of deleted messages.
    static func deleteOlder(
        than milliseconds: Int64, from first: Int64, to end: Int64, limit: Int, _ db: Database
    ) throws -> Int {
        var byConversation: [Int64: [Int64]] = [:]
        var count = 0
        // Messages of deleted sessions are removed by erasing.
        try db.sql(
            """
            SELECT sequence, conversation_id FROM message WHERE sequence >= ? AND sequence < ? AND timestamp < ?
            AND EXISTS (SELECT 1 FROM conversation WHERE id = conversation_id) LIMIT ?
            """
        ).bind(first, end, milliseconds, limit).forEachRow {
            byConversation[$0.integer(1), default: []].append($0.integer(0))
            count += 1
        }
        guard count > 0 else { return 0 }
        try Settling.settle(db)
        for (conversation, sequences) in byConversation.sorted(by: { $0.key < $1.key }) {
            let orphans = try Settling.following(deletionOf: sequences, in: conversation, db) {
                try remove(sequences, conversation: conversation, db)
            }
            try Erasing.note(orphans: orphans, db)
            try db.recordChange(.conversationRearranged, MessageQueries.id(of: conversation, db))
        }
        try Erasing.noteRemoval(db)
        return count
    }

    /// Deletes a session with its branches. Returns false if there was none.
    static func delete(_ conversation: ConversationID, _ db: Database) throws -> Bool {
        guard let number = try MessageQueries.number(of: conversation, db) else { return false }
        try deleteTold(number, conversation, db)
        return true
    }

    /// Deletes a session, removes its earlier changes from the feed, and records the deletion there.
    private static func deleteTold(_ number: Int64, _ conversation: ConversationID, _ db: Database) throws {
        try Erasing.keepNumbers(db)
        try hide(number, of: conversation.userId, db)
        // The number of the last change may be that of a deleted row. The next number must still be larger.
        let last = try db.lastSequence()
        try db.run(
            "DELETE FROM change WHERE user_id = ? AND session_id = ?", conversation.userId, conversation.sessionId)
        try db.recordChange(.conversationDeleted, conversation, after: last)
        try Erasing.noteRemoval(db)
    }

    /// Deletes all data of a user.
    /// - Parameter leftovers: The names of files to delete, because they may contain data of the user.
    static func deleteUser(_ userId: String, leftovers: [String], _ db: Database) throws {
        for name in leftovers { try Erasing.note(.file, name: name, db) }
        try Erasing.note(.leftovers, db)
        let numbers = try db.integers("SELECT id FROM conversation WHERE user_id = ?", userId)
        let isNamed = try db.integer(
            "SELECT 1 FROM change WHERE user_id = ? AND kind <> ? LIMIT 1", userId,
            HistoryChange.Kind.userDeleted.rawValue)
        guard !numbers.isEmpty || isNamed != nil else { return }
        try Erasing.keepNumbers(db)
        for number in numbers { try hide(number, of: userId, db) }
        let last = try db.lastSequence()
        try db.run("DELETE FROM change WHERE user_id = ?", userId)
        try db.recordChange(.userDeleted, ConversationID(userId: userId, sessionId: ""), after: last)
        try Erasing.noteRemoval(db)
    }

    /// Deletes a session of any user discarded before a date. Returns false if there is none.
    static func deleteDiscarded(before moment: Int64, _ db: Database) throws -> Bool {
        guard let number = try db.integer("SELECT id FROM conversation WHERE discarded_at < ? LIMIT 1", moment) else {
            return false
        }
        try deleteTold(number, MessageQueries.id(of: number, db), db)
        return true
    }

    /// Hides a session and its branches from every read, at a cost independent of its size. The branches would not
    /// be found without it. Its messages are removed later: reads find no messages without a session.
    private static func hide(_ number: Int64, of userId: String, _ db: Database) throws {
        for branch in try db.integers("SELECT id FROM conversation WHERE branch_of = ?", number) {
            try hide(branch, of: userId, db)
        }
        // It may be a branch already hidden.
        guard try db.integer("SELECT 1 FROM conversation WHERE id = ?", number) != nil else { return }
        try Erasing.note(.conversation, number: number, name: userId, db)
        try Drafts.delete(conversation: number, db)
        try db.run("DELETE FROM conversation WHERE id = ?", number)
    }

    /// Deletes the remaining rows of a session without messages.
    static func deleteEmpty(_ number: Int64, _ db: Database) throws {
        try db.run("DELETE FROM scope WHERE conversation_id = ?", number)
        try db.run("DELETE FROM tag WHERE conversation_id = ?", number)
        try Drafts.delete(conversation: number, db)
        try db.run("DELETE FROM conversation WHERE id = ?", number)
    }

    private static func sequences(_ condition: String, _ values: [any SQLBindable], _ db: Database) throws -> [Int64] {
        var sequences: [Int64] = []
        try db.sql("SELECT sequence FROM message \(condition)").bind(values).forEachRow {
            sequences.append($0.integer(0))
        }
        return sequences
    }

    /// Removes rows, their index entries and uses of attachments, and reduces the message count. For deleted
    /// messages, but not for trimmed ones, the caller updates tokens and the preview. Returns the hashes of unused
    /// attachments.
    /// - Throws: The error for a damaged index if a message belongs to another session.
    static func remove(_ sequences: [Int64], conversation: Int64, _ db: Database) throws -> [String] {
        guard !sequences.isEmpty else { return [] }
        for sequence in sequences {
            let owner = try db.integer(
                """
                SELECT scope.conversation_id FROM message JOIN scope ON scope.id = message.scope_id WHERE sequence = ?
                """, sequence)
            guard owner == conversation else { throw DatabaseError.damagedIndex }
        }
        try db.keepFeedNumber(sequences)
        try SearchIndex.remove(db, sequences: sequences)
        try forgetFirstMessage(sequences, of: conversation, db)
        // Pending messages are not yet in the counts and in the index of IDs.
        let settled = try db.integer("SELECT \(Settling.through)") ?? 0
        let counted = sequences.count { $0 <= settled }
        var orphans: [String] = []
        for sequence in sequences {
            orphans += try AttachmentUse.delete(sequence: sequence, db)
            if sequence <= settled {
                try db.run(
                    """
                    DELETE FROM message_id WHERE scope_id = (SELECT scope_id FROM message WHERE sequence = ?1)
                    AND message_id = (SELECT message_id FROM message WHERE sequence = ?1)
                    """, sequence)
            }
            try db.run("DELETE FROM message WHERE sequence = ?", sequence)
        }
        if counted > 0 {
            try db.run("UPDATE conversation SET message_count = message_count - ? WHERE id = ?", counted, conversation)
        }
        return orphans
    }

    /// Removes the session's saved first message if a removed message has the same text.
    private static func forgetFirstMessage(_ sequences: [Int64], of conversation: Int64, _ db: Database) throws {
        guard let text = try db.optionalText("SELECT first_message FROM conversation WHERE id = ?", conversation) else {
            return
        }
        for sequence in sequences
        where try db.integer("SELECT 1 FROM message WHERE sequence = ? AND role = 'user' AND text = ?", sequence, text)
            != nil
        {
            try db.run("UPDATE conversation SET first_message = NULL WHERE id = ?", conversation)
            return
        }
    }
}
