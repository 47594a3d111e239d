import Foundation
import GRDB
import RecollectCore

/// The streaming replies as rows of `draft`. All methods except the reading ones run inside a write transaction.
enum StreamingReplies {
    /// A saved streaming reply.
    struct Draft: Sendable {
        let number: Int64
        let writer: String
        let scope: Scope
        let message: ConversationMessage
    }

    /// Saves the first increment of a streaming reply and returns its number. Creates the session and the scope if
    /// they are new.
    static func begin(
        _ message: ConversationMessage, in scope: Scope, writer: String, _ db: Database
    ) throws -> Int64 {
        let isNew = try MessageQueries.number(of: scope.session, db) == nil
        let row = try ScopeRow.findOrMake(scope, createdAt: message.timestamp.millisecondsSince1970, db)
        var head = message
        let text = head.takeLastText()
        let isProse = head.parts.isEmpty && text != nil
        try db.run(
            """
            INSERT INTO draft (conversation_id, agent_id, writer, message_id, role, timestamp, metadata, unknown_fields,
              parts, text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, row.session, scope.agentId, writer, message.id, message.role.rawValue,
            message.timestamp.millisecondsSince1970, json(message.metadata), json(message.unknownFields),
            isProse ? nil : ContentPart.write(list: head.parts), text)
        let number = db.lastInsertedRowID
        if isNew { try db.recordChange(.sessionUpdated, scope.session) }
        return number
    }

    private static func json(_ object: [String: JSONValue]) -> String? {
        object.isEmpty ? nil : JSONValue.write(object: object)
    }

    /// Saves an increment of a streaming reply. A deleted one stays deleted.
    /// - Parameter parts: The parts before the text. `nil` leaves them unchanged.
    static func keep(_ text: String?, behind parts: [ContentPart]?, of number: Int64, _ db: Database) throws {
        guard let parts else { return try db.run("UPDATE draft SET text = ? WHERE id = ?", text, number) }
        try db.run("UPDATE draft SET text = ?, parts = ? WHERE id = ?", text, ContentPart.write(list: parts), number)
    }

    /// Deletes the remaining streaming replies of a writer: those of deleted sessions.
    static func delete(writer: String, _ db: Database) throws {
        try db.run("DELETE FROM draft WHERE writer = ?", writer)
    }

    /// Deletes a streaming reply.
    static func remove(_ number: Int64, _ db: Database) throws {
        try db.run("DELETE FROM draft WHERE id = ?", number)
    }

    /// Deletes the streaming replies of a deleted session.
    static func delete(session: Int64, _ db: Database) throws {
        try db.run("DELETE FROM draft WHERE conversation_id = ?", session)
    }

    /// Moves the streaming replies of a session to another one. Their writers end them there.
    static func move(session: Int64, to target: Int64, _ db: Database) throws {
        try db.run("UPDATE draft SET conversation_id = ? WHERE conversation_id = ?", target, session)
    }

    /// Resolves ID conflicts before a merge of two sessions: a streaming reply gets a new ID if the other session
    /// has a message or a streaming reply with its ID.
    ///
    /// A streaming reply already saved as a message of its own session keeps that message's ID.
    /// - Parameter id: The ID of the source. New IDs are derived from its session ID.
    static func separate(_ source: Int64, _ id: SessionKey, from target: Int64, _ db: Database) throws {
        for (own, other) in [(source, target), (target, source)] {
            for draft in try drafts("conversation_id = ?", [own], db) {
                let (agentId, known) = (draft.scope.agentId, draft.message.id)
                let isTaken =
                    try isDraft(known, agentId, in: other, db)
                    || !isMessage(known, agentId, in: own, db) && isMessage(known, agentId, in: other, db)
                guard isTaken else { continue }
                var free = known
                while try [own, other].contains(where: {
                    try isDraft(free, agentId, in: $0, db) || isMessage(free, agentId, in: $0, db)
                }) { free = ConversationMessage.copyId(of: free, from: id.sessionId) }
                try db.run("UPDATE draft SET message_id = ? WHERE id = ?", free, draft.number)
            }
        }
    }

    /// Gives the streaming replies for a scope's message the message's new ID.
    static func rename(_ id: String, to new: String, inScope scope: Int64, _ db: Database) throws {
        try db.run(
            """
            UPDATE draft SET message_id = ?1 FROM scope WHERE scope.id = ?2 AND message_id = ?3
            AND draft.conversation_id = scope.conversation_id AND scope.agent_id IN (draft.agent_id, '')
            """, new, scope, id)
    }

    private static func isDraft(_ id: String, _ agentId: String, in number: Int64, _ db: Database) throws -> Bool {
        try db.integer(
            "SELECT 1 FROM draft WHERE conversation_id = ? AND message_id = ? AND agent_id = ?", number, id, agentId
        ) != nil
    }

    /// Whether a session has a message with an ID, of an agent or without one.
    private static func isMessage(_ id: String, _ agentId: String, in number: Int64, _ db: Database) throws -> Bool {
        try [agentId, ""].contains { try !MessageQueries.sequences(of: id, in: number, agentId: $0, db).isEmpty }
    }

    // MARK: Reading

    /// Returns one streaming reply, or `nil` if it or its session was deleted.
    static func one(_ number: Int64, _ db: Database) throws -> Draft? {
        try drafts("draft.id = ?", [number], db).first
    }

    /// Returns the streaming replies of a session, the oldest first.
    static func all(of session: SessionKey, _ db: Database) throws -> [Draft] {
        guard let number = try MessageQueries.number(of: session, db) else { return [] }
        return try drafts("conversation_id = ?", [number], db)
    }

    /// Returns the agents of a session's streaming replies, by the IDs of the replies.
    static func agents(of session: Int64, _ db: Database) throws -> [ByteString: String] {
        var agents: [ByteString: String] = [:]
        try db.sql("SELECT message_id, agent_id FROM draft WHERE conversation_id = ? ORDER BY id DESC")
            .bind(session).forEachRow { agents[ByteString($0.text(0))] = $0.text(1) }
        return agents
    }

    /// Returns the streaming replies of a writer, the oldest first.
    static func all(of writer: String, _ db: Database) throws -> [Draft] {
        try drafts("writer = ?", [writer], db)
    }

    /// Returns the names of all writers of streaming replies, living or ended.
    static func writers(_ db: Database) throws -> [String] {
        var writers: [String] = []
        try db.sql("SELECT DISTINCT writer FROM draft").forEachRow { writers.append($0.text(0)) }
        return writers
    }

    /// Returns the writers, living or ended, of a scope's streaming replies with an ID.
    static func writers(ofReply id: String, in scope: Scope, _ db: Database) throws -> [String] {
        var writers: [String] = []
        try db.sql(
            """
            SELECT writer FROM draft
            WHERE conversation_id = (SELECT id FROM conversation WHERE user_id = ? AND session_id = ?) AND message_id = ?
            AND agent_id = ?
            """
        ).bind(scope.userId, scope.sessionId, id, scope.agentId).forEachRow { writers.append($0.text(0)) }
        return writers
    }

    private static func drafts(
        _ condition: String, _ values: [any SQLBindable], _ db: Database
    ) throws -> [Draft] {
        var drafts: [Draft] = []
        try db.sql(
            """
            SELECT message_id, role, timestamp, text, parts, draft.metadata, unknown_fields,
              draft.id, writer, user_id, session_id, agent_id
            FROM draft JOIN conversation ON conversation.id = conversation_id WHERE \(condition) ORDER BY draft.id
            """
        ).bind(values).forEachRow { drafts.append(draft($0)) }
        return drafts
    }

    private static func draft(_ row: SQL) -> Draft {
        var message = MessageRow.read(row)
        if !row.isNull(4), let text = row.optionalText(3) { message.parts.append(.text(text)) }
        return Draft(
            number: row.integer(7), writer: row.text(8),
            scope: Scope(userId: row.text(9), sessionId: row.text(10), agentId: row.text(11)), message: message)
    }
}
