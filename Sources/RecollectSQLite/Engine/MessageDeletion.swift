import Foundation
import GRDB
import RecollectCore

/// Deletes for good, inside a write transaction: rows, index entries, uses of attachments. Every function returns the hashes
/// of attachments that nothing uses any more; their files go after the commit.
enum MessageDeletion {
    /// Deletes messages of a conversation by id and tells the change feed.
    static func delete(
        _ ids: [String], in conversation: ConversationID, _ db: Database
    ) throws -> (count: Int, orphans: [String]) {
        guard let number = try MessageQueries.number(of: conversation, db) else { return (0, []) }
        try Settling.settle(db)
        let sequences = try ids.flatMap { try MessageQueries.sequences(of: $0, in: number, db) }
        let deleted = try delete(sequences, of: number, conversation, db)
        if deleted.count > 0 { try SearchIndex.erase(db) }
        return deleted
    }

    /// The same for messages whose numbers are known, without erasing: words of what goes leave the index at once, and the
    /// file with the next deletion that erases.
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

    /// Deletes the rows of a scope that its window has left. No deletion to the change feed: a trim is none.
    static func deleteTrimmed(scope: Int64, before position: Int64, _ db: Database) throws -> [String] {
        let sequences = try self.sequences("WHERE scope_id = ? AND position < ?", [scope, position], db)
        guard let conversation = try db.integer("SELECT conversation_id FROM scope WHERE id = ?", scope) else {
            return []
        }
        return try remove(sequences, conversation: conversation, db)
    }

    /// Deletes messages of all users that are older than a moment.
    static func deleteOlder(than milliseconds: Int64, limit: Int, _ db: Database) throws -> (
        count: Int, orphans: [String]
    ) {
        try Settling.settle(db)
        var byConversation: [Int64: [Int64]] = [:]
        var count = 0
        try db.sql("SELECT sequence, conversation_id FROM message WHERE timestamp < ? LIMIT ?").bind(
            milliseconds, limit
        )
        .forEachRow {
            byConversation[$0.integer(1), default: []].append($0.integer(0))
            count += 1
        }
        var orphans: [String] = []
        for (conversation, sequences) in byConversation {
            orphans += try remove(sequences, conversation: conversation, db)
            try Settling.recount(conversation, db)
            try db.recordChange(.conversationRearranged, MessageQueries.id(of: conversation, db))
        }
        return (count, orphans)
    }

    /// Deletes a conversation; `false` if there was none.
    static func delete(_ conversation: ConversationID, _ db: Database) throws -> (existed: Bool, orphans: [String]) {
        guard let number = try MessageQueries.number(of: conversation, db) else { return (false, []) }
        let orphans = try deleteTold(number, conversation, db)
        try SearchIndex.erase(db)
        return (true, orphans)
    }

    /// Deletes a conversation, tells the change feed and forgets what it told of the conversation before.
    private static func deleteTold(_ number: Int64, _ conversation: ConversationID, _ db: Database) throws -> [String] {
        let orphans = try deleteConversation(number, db)
        // The number of the last change may be that of a row that goes: the next must still be larger.
        let last = try db.lastSequence()
        try db.run(
            "DELETE FROM change WHERE user_id = ? AND session_id = ?", conversation.userId, conversation.sessionId)
        try db.recordChange(.conversationDeleted, conversation, after: last)
        return orphans
    }

    /// Deletes all that is kept of a user.
    static func deleteUser(_ userId: String, _ db: Database) throws -> [String] {
        var numbers: [Int64] = []
        try db.sql("SELECT id FROM conversation WHERE user_id = ?").bind(userId).forEachRow {
            numbers.append($0.integer(0))
        }
        let isNamed = try db.integer(
            "SELECT 1 FROM change WHERE user_id = ? AND kind <> ? LIMIT 1", userId,
            HistoryChange.Kind.userDeleted.rawValue)
        guard !numbers.isEmpty || isNamed != nil else { return [] }
        var orphans: [String] = []
        for number in numbers { orphans += try deleteConversation(number, db) }
        let last = try db.lastSequence()
        try db.run("DELETE FROM change WHERE user_id = ?", userId)
        try db.recordChange(.userDeleted, ConversationID(userId: userId, sessionId: ""), after: last)
        try SearchIndex.erase(db)
        return orphans
    }

    /// Deletes the conversations that were discarded before a moment, of all users. Returns how many there were.
    static func deleteDiscarded(before moment: Int64, _ db: Database) throws -> (count: Int, orphans: [String]) {
        var count = 0
        var orphans: [String] = []
        // One by one: with a conversation its branches go, which may have been discarded too.
        while let number = try db.integer("SELECT id FROM conversation WHERE discarded_at < ? LIMIT 1", moment) {
            orphans += try deleteTold(number, MessageQueries.id(of: number, db), db)
            count += 1
        }
        if count > 0 { try SearchIndex.erase(db) }
        return (count, orphans)
    }

    /// Deletes a conversation with its branches, which nobody could find without it.
    private static func deleteConversation(_ number: Int64, _ db: Database) throws -> [String] {
        var orphans: [String] = []
        for branch in try db.integers("SELECT id FROM conversation WHERE branch_of = ?", number) {
            orphans += try deleteConversation(branch, db)
        }
        orphans += try remove(try MessageMoves.sequences(of: number, db), conversation: number, db)
        try deleteEmpty(number, db)
        return orphans
    }

    /// Deletes what is left of a conversation without messages.
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

    /// Removes rows, their index entries and uses of attachments, and counts them out. Tokens and the preview are the caller's
    /// to recount where what goes was deleted and not trimmed.
    static func remove(_ sequences: [Int64], conversation: Int64, _ db: Database) throws -> [String] {
        guard !sequences.isEmpty else { return [] }
        try db.keepFeedNumber(sequences)
        try SearchIndex.remove(db, sequences: sequences)
        try forgetFirstMessage(sequences, of: conversation, db)
        // What is not settled is in no count and in no index of ids yet.
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

    /// A first message that a session storage was told goes with the message that says the same.
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
