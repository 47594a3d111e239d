import Foundation
import GRDB
import RecollectCore

/// Changes of a conversation that are not appending, inside a write transaction.
enum ConversationEdits {
    static func update(
        _ id: ConversationID, with details: ConversationDetails, now: Int64, _ db: Database
    ) throws {
        let number =
            try MessageQueries.number(of: id, db) ?? ScopeRow.makeConversation(id, createdAt: now, db)
        try db.run(
            """
            UPDATE conversation SET title = ifnull(?, title), working_directory = ifnull(?, working_directory),
            branch = ifnull(?, branch) WHERE id = ?
            """, details.title, details.workingDirectory, details.branch, number)
        if !details.metadata.isEmpty {
            try merge(details.metadata, into: number, db)
        }
        try db.recordChange(.conversationUpdated, id)
    }

    private static func merge(_ members: [String: JSONValue], into number: Int64, _ db: Database) throws {
        var metadata: [String: JSONValue] = [:]
        try db.sql("SELECT metadata FROM conversation WHERE id = ? AND metadata IS NOT NULL").bind(number).forEachRow {
            metadata = try $0.withBytes(0, JSONValue.parse(object:))
        }
        metadata.merge(members) { _, new in new }
        metadata = metadata.filter { $0.value != .null }
        let json = metadata.isEmpty ? nil : JSONValue.write(object: metadata)
        try db.run("UPDATE conversation SET metadata = ? WHERE id = ?", json, number)
    }

    /// Copies a conversation up to and including a message into a new session.
    static func fork(
        _ source: ConversationID, at messageId: String, into newSessionId: String, _ db: Database
    ) throws {
        try Settling.settle(db)
        guard
            let number = try MessageQueries.number(of: source, db),
            let end = try db.integer(
                """
                SELECT position FROM message_id JOIN message USING (sequence)
                WHERE message_id.conversation_id = ? AND message_id.message_id = ?
                """, number, messageId)
        else {
            throw RecollectError(
                .notFound, "there is no message \(messageId) in session \(source.sessionId) to fork at")
        }
        let target = ConversationID(userId: source.userId, sessionId: newSessionId)
        if let count = try db.integer(
            "SELECT message_count FROM conversation WHERE user_id = ? AND session_id = ?", target.userId,
            target.sessionId), count > 0
        {
            throw RecollectError(
                .invalidArgument, "session \(newSessionId) already has messages; name a new session for the fork")
        }
        let copy = try MessageQueries.number(of: target, db) ?? ScopeRow.makeConversation(target, createdAt: 0, db)
        try copyDetails(from: number, to: copy, origin: source, messageId: messageId, db)
        try copyMessages(from: number, to: copy, through: end, db)
        try db.recordChange(.conversationUpdated, target)
    }

    private static func copyDetails(
        from number: Int64, to copy: Int64, origin: ConversationID, messageId: String, _ db: Database
    ) throws {
        try db.run(
            """
            UPDATE conversation SET (created_at, last_activity, title, working_directory, branch, metadata) =
            (SELECT created_at, created_at, title, working_directory, branch, metadata FROM conversation WHERE id = ?)
            WHERE id = ?
            """, number, copy)
        let fork: JSONValue = ["sessionId": .string(origin.sessionId), "messageId": .string(messageId)]
        try merge(["forkedFrom": fork], into: copy, db)
    }

    private static func copyMessages(
        from number: Int64, to copy: Int64, through end: Int64, _ db: Database
    ) throws {
        try db.run(
            """
            INSERT INTO scope (conversation_id, agent_id, window_start) SELECT ?, agent_id, 0 FROM scope
            WHERE conversation_id = ?
            AND EXISTS (SELECT 1 FROM message WHERE scope_id = scope.id AND position <= ?) ORDER BY id
            """, copy, number, end)
        let base = try db.lastSequence()
        try db.run(
            """
            INSERT INTO message (sequence, conversation_id, scope_id, position, copied_from, \(MessageRow.columns))
            SELECT ?1 + row_number() OVER (ORDER BY position), ?2,
              (SELECT target.id FROM scope AS source JOIN scope AS target ON target.agent_id = source.agent_id
               WHERE source.id = message.scope_id AND target.conversation_id = ?2),
              (?1 + row_number() OVER (ORDER BY position)) << 20, ifnull(copied_from, sequence),
              \(MessageRow.columns)
            FROM message WHERE scope_id IN (SELECT id FROM scope WHERE conversation_id = ?3) AND position <= ?4
            """, base, copy, number, end)
        try Settling.settle(db)
        try db.run(
            """
            INSERT OR IGNORE INTO attachment_use (sha256, sequence)
            SELECT sha256, copied.sequence FROM message_id AS copied
            JOIN message_id AS source ON source.conversation_id = ? AND source.message_id = copied.message_id
            JOIN attachment_use ON attachment_use.sequence = source.sequence
            WHERE copied.conversation_id = ?
            """, number, copy)
        // What had left an agent's window before the fork stays out of it.
        try db.run(
            """
            UPDATE scope SET window_start = ifnull(
              (SELECT max(copied.position) + 1 FROM scope AS source
               JOIN message ON message.scope_id = source.id AND message.position < source.window_start
               JOIN message_id ON message_id.conversation_id = ?1 AND message_id.message_id = message.message_id
               JOIN message AS copied ON copied.sequence = message_id.sequence
               WHERE source.conversation_id = ?2 AND source.agent_id = scope.agent_id), 0)
            WHERE conversation_id = ?1
            """, copy, number)
    }
}
