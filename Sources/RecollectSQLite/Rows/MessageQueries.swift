import GRDB
import RecollectCore

/// Queries for messages of a session, independent of windows.
enum MessageQueries {
    /// Returns the number of a session, or `nil` if there is none.
    static func number(of session: SessionKey, _ db: Database) throws -> SessionRowID? {
        let number: SessionRowID? = try db.value(
            "SELECT id FROM session WHERE user_id = ? AND session_id = ?", session.userId,
            session.sessionId)
        if let number { try confirm(number, is: session, db) }
        return number
    }

    /// Compares a session's row with the index entry used to find it. After a single bit error, an index leads to
    /// another user's session.
    static func confirm(_ number: SessionRowID, is session: SessionKey, _ db: Database) throws {
        let isRow = try db.integer(
            "SELECT user_id = ? AND session_id = ? FROM session WHERE id = ?", session.userId,
            session.sessionId, number)
        guard isRow == 1 else { throw DatabaseError.damagedIndex }
    }

    static func id(of number: SessionRowID, _ db: Database) throws -> SessionKey {
        let row = try db.sql("SELECT user_id, session_id FROM session WHERE id = ?").bind(number)
        defer { row.reset() }
        guard try row.step() else {
            throw RecollectError(.damaged, "the history refers to a session that does not exist")
        }
        return SessionKey(userId: row.text(0), sessionId: row.text(1))
    }

    /// Returns the sequence numbers of a session's messages with an ID, in order: one for each agent with such a
    /// message, or one agent's. Requires up-to-date derived data.
    /// - Throws: `DamagedIDs` if the index of IDs contradicts the row.
    static func sequences(
        of messageId: String, in number: SessionRowID, agentId: String? = nil, _ db: Database
    ) throws -> [SequenceNumber] {
        let entries = try db.sql(
            """
            SELECT message_id.sequence, message.scope_row_id = scope.id AND message.message_id = ?2
            FROM scope JOIN message_id ON message_id.scope_row_id = scope.id
            LEFT JOIN message ON message.sequence = message_id.sequence
            WHERE scope.session_row_id = ?1 AND message_id.message_id = ?2 AND (?3 IS NULL OR agent_id = ?3)
            ORDER BY position
            """
        ).bind(number, messageId, agentId)
        var sequences: [SequenceNumber] = []
        try entries.forEachRow { entry in
            guard entry.integer(1) == 1 else { throw DamagedIDs() }
            sequences.append(entry.value(0))
        }
        return sequences
    }

    /// Returns the sequence number of a scope's message with an ID. Requires up-to-date derived data.
    /// - Throws: `DamagedIDs` if the index of IDs contradicts the row.
    static func sequence(of messageId: String, inScope scope: ScopeRowID, _ db: Database) throws -> SequenceNumber? {
        try sequence(of: messageId, inScope: scope, with: db.sql(sequenceOfID))
    }

    /// Returns the same with a prepared `sequenceOfID`.
    static func sequence(
        of messageId: String, inScope scope: ScopeRowID, with statement: SQL
    ) throws -> SequenceNumber? {
        try statement.bind(scope, at: 1)
        try statement.bind(messageId, at: 2)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        guard statement.integer(1) == 1 else { throw DamagedIDs() }
        return statement.value(0)
    }

    static let sequenceOfID = """
        SELECT message_id.sequence, message.scope_row_id = ?1 AND message.message_id = ?2
        FROM message_id LEFT JOIN message ON message.sequence = message_id.sequence
        WHERE message_id.scope_row_id = ?1 AND message_id.message_id = ?2
        """

    static func position(of sequence: SequenceNumber, _ db: Database) throws -> Position? {
        try db.value("SELECT position FROM message WHERE sequence = ?", sequence)
    }

    static func scope(of sequence: SequenceNumber, _ db: Database) throws -> ScopeRowID? {
        try db.value("SELECT scope_row_id FROM message WHERE sequence = ?", sequence)
    }

    static func agent(of sequence: SequenceNumber, _ db: Database) throws -> String? {
        try db.optionalText(
            "SELECT agent_id FROM scope WHERE id = (SELECT scope_row_id FROM message WHERE sequence = ?)", sequence)
    }

    /// Returns the message with a sequence number.
    static func message(_ sequence: SequenceNumber, _ db: Database) throws -> ConversationMessage? {
        let row = try db.sql("SELECT \(MessageRow.columns) FROM message WHERE sequence = ?").bind(sequence)
        defer { row.reset() }
        return try row.step() ? MessageRow.read(row) : nil
    }

    /// Returns an agent's message with an ID, or the first one of any agent. Requires up-to-date derived data.
    static func one(
        _ id: String, in session: SessionKey, agentId: String?, _ db: Database
    ) throws -> StoredMessage? {
        guard let number = try number(of: session, db),
            let sequence = try sequences(of: id, in: number, agentId: agentId, db).first
        else { return nil }
        return try stored(sequence, db)
    }

    /// Returns a message with its agent and position.
    static func stored(_ sequence: SequenceNumber, _ db: Database) throws -> StoredMessage? {
        let statement = try db.sql(
            """
            SELECT \(MessageRow.selected), position, agent_id, sequence
            FROM message JOIN scope ON scope.id = message.scope_row_id WHERE sequence = ?
            """
        ).bind(sequence)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return StoredMessage(
            agentId: statement.text(8), cursor: MessageCursor(position: statement.integer(7)),
            message: MessageRow.read(statement), additionCursor: ChangeCursor(sequence: statement.integer(9)))
    }

    /// Returns a page in the order of the session. Each scope's index gives its nearest positions, and only the rows of
    /// the page are read.
    static func page(
        of session: SessionKey, agentId: String?, _ request: PageRequest<MessageCursor>, _ db: Database
    ) throws -> Page<StoredMessage, MessageCursor> {
        guard let number = try number(of: session, db) else { return Page(elements: [], next: nil) }
        let scopes = try SessionRow.scopes(of: number, db)
            .filter { scope in agentId.map { scope.agentId.hasSameBytes(as: $0) } ?? true }
        let isForward = request.direction == .forward
        var found: [(position: Position, scope: Int)] = []
        for (index, scope) in scopes.enumerated() {
            try db.sql(
                """
                SELECT position FROM message WHERE scope_row_id = ? AND position \(isForward ? ">" : "<") ?
                ORDER BY position \(isForward ? "ASC" : "DESC") LIMIT ?
                """
            ).bind(scope.id, request.cursor?.position ?? (isForward ? .min : .max), request.limit + 1)
                .forEachRow { found.append(($0.value(0), index)) }
        }
        if scopes.count > 1 {
            found.sort { isForward ? $0.position < $1.position : $0.position > $1.position }
        }
        let more = found.count > request.limit
        let shown = found.prefix(request.limit)
        var messages = try shown.map { entry in
            let statement = try db.sql(
                "SELECT \(MessageRow.selected), sequence FROM message WHERE scope_row_id = ? AND position = ?")
            try statement.bind(scopes[entry.scope].id, at: 1)
            try statement.bind(entry.position, at: 2)
            defer { statement.reset() }
            guard try statement.step() else {
                throw RecollectError(.damaged, "an index of the history refers to a message that does not exist")
            }
            return StoredMessage(
                agentId: scopes[entry.scope].agentId, cursor: MessageCursor(position: entry.position.rawValue),
                message: MessageRow.read(statement), additionCursor: ChangeCursor(sequence: statement.integer(7)))
        }
        let next = more ? messages.last?.cursor : nil
        if !isForward { messages.reverse() }
        return Page(elements: messages, next: next)
    }

    /// Returns all messages of a session in order, with their agents and sequence numbers.
    static func all(
        of number: SessionRowID, _ db: Database
    ) throws -> [(sequence: SequenceNumber, message: AgentMessage)] {
        var agents: [ScopeRowID: String] = [:]
        for scope in try SessionRow.scopes(of: number, db) { agents[scope.id] = scope.agentId }
        var messages: [(sequence: SequenceNumber, message: AgentMessage)] = []
        try db.sql(
            """
            SELECT \(MessageRow.columns), scope_row_id, sequence FROM message
            WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?) ORDER BY position
            """
        ).bind(number).forEachRow {
            let message = AgentMessage(agentId: agents[$0.value(7)] ?? "", message: MessageRow.read($0))
            messages.append(($0.value(8), message))
        }
        return messages
    }
}

/// The error for an index of IDs in contradiction to a row. The index is derived and can be rebuilt.
struct DamagedIDs: Error {}
