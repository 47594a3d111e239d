import GRDB
import RecollectCore

/// The messages of a conversation, whichever agents they are of.
enum MessageQueries {
    static func number(of conversation: ConversationID, _ db: Database) throws -> Int64? {
        try db.integer(
            "SELECT id FROM conversation WHERE user_id = ? AND session_id = ?", conversation.userId,
            conversation.sessionId)
    }

    static func id(of number: Int64, _ db: Database) throws -> ConversationID {
        let row = try db.sql("SELECT user_id, session_id FROM conversation WHERE id = ?").bind(number)
        defer { row.reset() }
        guard try row.step() else {
            throw RecollectError(.damaged, "the history names a conversation that is not there")
        }
        return ConversationID(userId: row.text(0), sessionId: row.text(1))
    }

    /// The number of a conversation's message of that id. Needs what is settled.
    static func sequence(of messageId: String, in number: Int64, _ db: Database) throws -> Int64? {
        try db.integer(
            "SELECT sequence FROM message_id WHERE conversation_id = ? AND message_id = ?", number, messageId)
    }

    /// The message of that number.
    static func message(_ sequence: Int64, _ db: Database) throws -> ConversationMessage? {
        let row = try db.sql("SELECT \(MessageRow.columns) FROM message WHERE sequence = ?").bind(sequence)
        defer { row.reset() }
        return try row.step() ? MessageRow.read(row) : nil
    }

    /// Needs what is settled.
    static func one(_ id: String, in conversation: ConversationID, _ db: Database) throws -> StoredMessage? {
        guard let number = try number(of: conversation, db) else { return nil }
        let statement = try db.sql(
            """
            SELECT \(MessageRow.selected), position, agent_id FROM message_id
            JOIN message USING (sequence) JOIN scope ON scope.id = message.scope_id
            WHERE message_id.conversation_id = ? AND message_id.message_id = ?
            """
        ).bind(number, id)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return StoredMessage(
            agentId: statement.text(8), cursor: MessageCursor(position: statement.integer(7)),
            message: MessageRow.read(statement))
    }

    /// A page in the order of saving. Each scope gives its nearest places from its index; only those that the page shows are
    /// read as rows.
    static func page(
        of conversation: ConversationID, agentId: String?, _ request: PageRequest<MessageCursor>, _ db: Database
    ) throws -> Page<StoredMessage, MessageCursor> {
        guard let number = try number(of: conversation, db) else { return Page(elements: [], next: nil) }
        let scopes = try ConversationQueries.scopes(of: number, db)
            .filter { scope in agentId.map { scope.agentId.hasSameBytes(as: $0) } ?? true }
        let isForward = request.direction == .forward
        var places: [(position: Int64, scope: Int)] = []
        for (index, scope) in scopes.enumerated() {
            try db.sql(
                """
                SELECT position FROM message WHERE scope_id = ? AND position \(isForward ? ">" : "<") ?
                ORDER BY position \(isForward ? "ASC" : "DESC") LIMIT ?
                """
            ).bind(scope.number, request.cursor?.position ?? (isForward ? .min : .max), request.limit + 1)
                .forEachRow { places.append(($0.integer(0), index)) }
        }
        if scopes.count > 1 {
            places.sort { isForward ? $0.position < $1.position : $0.position > $1.position }
        }
        let more = places.count > request.limit
        let shown = places.prefix(request.limit)
        var messages = try shown.map { place in
            let statement = try db.sql(
                "SELECT \(MessageRow.selected) FROM message WHERE scope_id = ? AND position = ?")
            try statement.bind(scopes[place.scope].number, at: 1)
            try statement.bind(place.position, at: 2)
            defer { statement.reset() }
            guard try statement.step() else {
                throw RecollectError(.damaged, "an index of the history names a message that is not there")
            }
            return StoredMessage(
                agentId: scopes[place.scope].agentId, cursor: MessageCursor(position: place.position),
                message: MessageRow.read(statement))
        }
        let next = more ? messages.last?.cursor : nil
        if !isForward { messages.reverse() }
        return Page(elements: messages, next: next)
    }

    /// All messages of a conversation in order.
    static func all(of number: Int64, _ db: Database) throws -> [ConversationMessage] {
        var messages: [ConversationMessage] = []
        try db.sql(
            """
            SELECT \(MessageRow.columns) FROM message
            WHERE scope_id IN (SELECT id FROM scope WHERE conversation_id = ?) ORDER BY position
            """
        ).bind(number).forEachRow { messages.append(MessageRow.read($0)) }
        return messages
    }
}
