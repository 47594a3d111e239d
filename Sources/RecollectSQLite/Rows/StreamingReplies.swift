import Foundation
import GRDB
import RecollectCore

/// The streaming replies as rows of `streaming_reply`. All methods except the reading ones run inside a write transaction.
enum StreamingReplies {
    /// A saved streaming reply.
    struct Row: Sendable {
        let id: ReplyRowID
        let writer: String
        let scope: Scope
        let message: ConversationMessage
    }

    /// Saves the first increment of a streaming reply and returns its number. Creates the session and the scope if
    /// they are new.
    static func begin(
        _ message: ConversationMessage, in scope: Scope, writer: String, _ db: Database
    ) throws -> ReplyRowID {
        let isNew = try MessageQueries.number(of: scope.session, db) == nil
        let row = try ScopeRow.findOrMake(scope, createdAt: message.timestamp.millisecondsSince1970, db)
        var head = message
        let text = head.takeLastText()
        let isProse = head.parts.isEmpty && text != nil
        try db.run(
            """
            INSERT INTO streaming_reply (session_row_id, agent_id, writer, message_id, role, timestamp, metadata, unknown_fields,
              parts, text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, row.session, scope.agentId, writer, message.id, message.role.rawValue,
            message.timestamp.millisecondsSince1970, json(message.metadata), json(message.unknownFields),
            isProse ? nil : ContentPart.write(list: head.parts), text)
        let id: ReplyRowID = db.lastInserted()
        if isNew { try db.recordChange(.sessionUpdated, scope.session) }
        return id
    }

    private static func json(_ object: [String: JSONValue]) -> String? {
        object.isEmpty ? nil : JSONValue.write(object: object)
    }

    /// Saves an increment of a streaming reply. A deleted one stays deleted, and a longer text saved by a UI stays.
    /// - Parameter parts: The parts before the text. `nil` leaves them unchanged.
    static func save(_ text: String?, behind parts: [ContentPart]?, of id: ReplyRowID, _ db: Database) throws {
        guard let parts else {
            return try db.run(
                """
                UPDATE streaming_reply SET text = ?1 WHERE id = ?2
                AND (?1 IS NULL OR substr(CAST(text AS BLOB), 1, length(CAST(?1 AS BLOB))) IS NOT CAST(?1 AS BLOB))
                """, text, id)
        }
        let saved = try one(id, db)?.message.parts ?? []
        var whole = (parts + [text].compactMap { $0.map(ContentPart.text) }).keepingLongerText(of: saved)
        let end = text == nil ? nil : whole.removeLast().text
        try db.run(
            "UPDATE streaming_reply SET text = ?, parts = ? WHERE id = ?", end, ContentPart.write(list: whole), id)
    }

    /// Saves text as the increment of a streaming reply of prose, if it continues the saved one. Returns the message.
    static func extend(_ row: Row, to text: String, _ db: Database) throws -> ConversationMessage {
        var message = row.message
        guard message.parts.count == 1, case .text(let saved) = message.parts[0], text.utf8.count > saved.utf8.count,
            text.utf8.starts(with: saved.utf8)
        else { return message }
        // A reply with other parts before its text has a column of parts.
        try db.run("UPDATE streaming_reply SET text = ? WHERE id = ? AND parts IS NULL", text, row.id)
        if db.changesCount > 0 { message.parts = [.text(text)] }
        return message
    }

    /// Deletes the remaining streaming replies of a writer: those of deleted sessions.
    static func delete(writer: String, _ db: Database) throws {
        try db.run("DELETE FROM streaming_reply WHERE writer = ?", writer)
    }

    /// Deletes a streaming reply.
    static func remove(_ id: ReplyRowID, _ db: Database) throws {
        try db.run("DELETE FROM streaming_reply WHERE id = ?", id)
    }

    /// Deletes the streaming replies of a deleted session.
    static func delete(session: SessionRowID, _ db: Database) throws {
        try db.run("DELETE FROM streaming_reply WHERE session_row_id = ?", session)
    }

    /// Moves the streaming replies of a session to another one. Their writers end them there.
    /// - Parameter ofItsAgents: Limits the move to agents with messages in the other session.
    static func move(
        session: SessionRowID, to target: SessionRowID, ofItsAgents: Bool = false, _ db: Database
    ) throws {
        try db.run(
            """
            UPDATE streaming_reply SET session_row_id = ?1 WHERE session_row_id = ?2
            AND (?3 = 0 OR agent_id IN (SELECT agent_id FROM scope WHERE session_row_id = ?1))
            """, target, session, ofItsAgents ? 1 : 0)
    }

    // MARK: IDs

    /// Resolves ID conflicts before a merge of two sessions: a streaming reply gets a new ID if the other session
    /// has a message or a streaming reply with its ID.
    ///
    /// A streaming reply already saved as a message of its own session follows that message: see `follow`. A message
    /// without an agent is that of an agent's reply, unless the other session has a message of the agent with the ID.
    /// - Parameter id: The ID of the source. New IDs are derived from its session ID.
    static func separate(_ source: SessionRowID, _ id: SessionKey, from target: SessionRowID, _ db: Database) throws {
        for (own, other) in [(source, target), (target, source)] {
            for row in try all(of: own, db) {
                let (agentId, known) = (row.scope.agentId, row.message.id)
                let isSaved =
                    try isMessage(known, of: agentId, in: own, db)
                    || isMessage(known, of: "", in: own, db) && !isMessage(known, of: agentId, in: other, db)
                if try !isSaved && isUsed(known, agentId, in: [other], db) {
                    try takeFreeID(row, id, in: [own, other], db)
                }
            }
        }
    }

    /// Gives new IDs to the streaming replies of a session if messages with their IDs are copied into it.
    /// - Parameters:
    ///   - source: The session of these messages.
    ///   - id: The ID of the session without messages. New IDs are derived from it.
    static func separate(_ number: SessionRowID, _ id: SessionKey, fromCopiesOf source: SessionRowID, _ db: Database)
        throws
    {
        for row in try all(of: number, db)
        where try isMessage(row.message.id, row.scope.agentId, in: source, db) {
            try takeFreeID(row, id, in: [number, source], db)
        }
    }

    /// Gives the streaming replies for a scope's message the ID of that message in the target of a merge, or a free ID if
    /// the target has a streaming reply with it.
    ///
    /// A message without an agent is that of an agent's reply, unless the agent has its own message with the ID.
    /// - Parameter session: The ID of the source. New IDs are derived from its session ID.
    static func follow(
        _ id: String, to new: String, inScope scope: ScopeRowID, of session: SessionKey, in target: SessionRowID,
        _ db: Database
    ) throws {
        let followers = try rows(
            """
            EXISTS (
              SELECT 1 FROM scope WHERE scope.id = ?1 AND message_id = ?2
              AND streaming_reply.session_row_id = scope.session_row_id AND (
                scope.agent_id = streaming_reply.agent_id OR scope.agent_id = '' AND NOT EXISTS (
                  SELECT 1 FROM scope AS own JOIN message_id ON message_id.scope_row_id = own.id
                  WHERE own.session_row_id = scope.session_row_id AND own.agent_id = streaming_reply.agent_id
                  AND message_id.message_id = ?2)))
            """, [scope, id], db)
        for row in followers {
            if try writers(ofReply: new, row.scope.agentId, in: [target], db).isEmpty {
                try setID(new, of: row, db)
            } else if let own = try MessageQueries.number(of: session, db) {
                try takeFreeID(row, session, in: [own, target], db)
            }
        }
    }

    /// Whether no message of an agent may get an ID in the sessions, because a message or streaming reply has it: see
    /// `writers(ofReply:_:in:_:)`.
    private static func isUsed(
        _ id: String, _ agentId: String, in sessions: [SessionRowID], _ db: Database
    ) throws -> Bool {
        try !writers(ofReply: id, agentId, in: sessions, db).isEmpty
            || sessions.contains { try isMessage(id, agentId, in: $0, db) }
    }

    /// Whether a session has a message with an ID, of an agent or without one.
    private static func isMessage(
        _ id: String, _ agentId: String, in number: SessionRowID, _ db: Database
    ) throws -> Bool {
        try [agentId, ""].contains { try isMessage(id, of: $0, in: number, db) }
    }

    /// Whether an agent has a message with an ID in a session.
    private static func isMessage(
        _ id: String, of agentId: String, in number: SessionRowID, _ db: Database
    ) throws -> Bool {
        try !MessageQueries.sequences(of: id, in: number, agentId: agentId, db).isEmpty
    }

    /// Gives a streaming reply the first ID used in none of the sessions.
    private static func takeFreeID(_ row: Row, _ id: SessionKey, in sessions: [SessionRowID], _ db: Database) throws {
        try setID(freeID(from: row.message.id, row.scope.agentId, id, in: sessions, db), of: row, db)
    }

    /// Returns the first ID derived from another one and used for no message or streaming reply of an agent in the sessions.
    /// - Parameter session: The ID of the session from which new IDs are derived.
    static func freeID(
        from id: String, _ agentId: String, _ session: SessionKey, in sessions: [SessionRowID], _ db: Database
    ) throws -> String {
        var free = id
        repeat {
            free = ConversationMessage.copyId(of: free, from: session.sessionId)
        } while try isUsed(free, agentId, in: sessions, db)
        return free
    }

    private static func setID(_ id: String, of row: Row, _ db: Database) throws {
        try db.run("UPDATE streaming_reply SET message_id = ? WHERE id = ?", id, row.id)
    }

    // MARK: Reading

    /// Returns one streaming reply, or `nil` if it or its session was deleted.
    static func one(_ id: ReplyRowID, _ db: Database) throws -> Row? {
        try rows("streaming_reply.id = ?", [id], db).first
    }

    /// Returns the streaming replies of a session, the oldest first.
    static func all(of session: SessionKey, _ db: Database) throws -> [Row] {
        try MessageQueries.number(of: session, db).map { try all(of: $0, db) } ?? []
    }

    /// Returns the streaming replies of a session, the oldest first.
    static func all(of session: SessionRowID, _ db: Database) throws -> [Row] {
        try rows("session_row_id = ?", [session], db)
    }

    /// Returns the streaming replies of a writer, the oldest first.
    static func all(of writer: String, _ db: Database) throws -> [Row] {
        try rows("writer = ?", [writer], db)
    }

    /// Returns the names of all writers of streaming replies, living or ended.
    static func writers(_ db: Database) throws -> [String] {
        var writers: [String] = []
        try db.sql("SELECT DISTINCT writer FROM streaming_reply").forEachRow { writers.append($0.text(0)) }
        return writers
    }

    /// Returns the writers, living or ended, of the streaming replies with an ID that may be saved to messages of an
    /// agent: its own and those without an agent. A message without an agent may become one of any agent, so for the
    /// empty agent ID, returns the writers of all agents.
    static func writers(
        ofReply id: String, _ agentId: String, in sessions: [SessionRowID], _ db: Database
    ) throws -> [String] {
        var writers: [String] = []
        try db.sql(
            """
            SELECT writer FROM streaming_reply WHERE session_row_id IN (SELECT value FROM json_each(?1)) AND message_id = ?2
            AND (agent_id IN (?3, '') OR ?3 = '')
            """
        ).bind(sessions.jsonArray, id, agentId).forEachRow { writers.append($0.text(0)) }
        return writers
    }

    private static func rows(
        _ condition: String, _ values: [any SQLBindable], _ db: Database
    ) throws -> [Row] {
        var rows: [Row] = []
        try db.sql(
            """
            SELECT message_id, role, timestamp, text, parts, streaming_reply.metadata, unknown_fields,
              streaming_reply.id, writer, user_id, session_id, agent_id
            FROM streaming_reply JOIN session ON session.id = session_row_id WHERE \(condition) ORDER BY streaming_reply.id
            """
        ).bind(values).forEachRow { rows.append(Self.row($0)) }
        return rows
    }

    private static func row(_ columns: SQL) -> Row {
        var message = MessageRow.read(columns)
        if !columns.isNull(4), let text = columns.optionalText(3) { message.parts.append(.text(text)) }
        return Row(
            id: columns.value(7), writer: columns.text(8),
            scope: Scope(userId: columns.text(9), sessionId: columns.text(10), agentId: columns.text(11)),
            message: message)
    }
}
