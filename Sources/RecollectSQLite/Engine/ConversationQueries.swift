import Foundation
import GRDB
import RecollectCore

/// What a library shows: conversations and their messages, by keyset pages.
enum ConversationQueries {
    private static let columns = """
        conversation.id, user_id, session_id, title, created_at, last_activity, message_count, working_directory, branch,
        metadata
        """

    static func one(_ id: ConversationID, _ db: Database) throws -> Conversation? {
        try list("WHERE user_id = ? AND session_id = ?", [id.userId, id.sessionId], db).first
    }

    /// Latest activity first; two of the same moment by session id, descending, so that the order is total.
    static func page(
        of userId: String, _ request: PageRequest<ConversationCursor>, _ db: Database
    ) throws -> Page<Conversation, ConversationCursor> {
        let isForward = request.direction == .forward
        var condition = "WHERE user_id = ?"
        var values: [any SQLBindable] = [userId]
        if let cursor = request.cursor {
            guard case .integer(let moment) = cursor.key else { return Page(elements: [], next: nil) }
            condition += " AND (last_activity, session_id) \(isForward ? "<" : ">") (?, ?)"
            values += [moment, cursor.sessionId]
        }
        let order = isForward ? "DESC" : "ASC"
        condition += " ORDER BY last_activity \(order), session_id \(order) LIMIT ?"
        values.append(request.limit + 1)
        return Page(try list(condition, values, db), request) {
            ConversationCursor(
                key: .integer($0.lastActivityAt.millisecondsSince1970), sessionId: $0.id.sessionId)
        }
    }

    /// In order of session ids; those with the prefix stand together, first.
    static func matching(
        userId: String, prefix: String, limit: Int, _ db: Database
    ) throws -> [Conversation] {
        try Array(
            list(
                "WHERE user_id = ? AND session_id >= ? ORDER BY session_id LIMIT ?", [userId, prefix, max(1, limit)], db
            )
            .prefix { $0.id.sessionId.utf8.starts(with: prefix.utf8) })
    }

    private static func list(
        _ condition: String, _ values: [any SQLBindable], _ db: Database
    ) throws -> [Conversation] {
        var rows: [(number: Int64, conversation: Conversation)] = []
        try db.sql("SELECT \(columns) FROM conversation \(condition)").bind(values).forEachRow { row in
            rows.append(
                (
                    row.integer(0),
                    Conversation(
                        id: ConversationID(userId: row.text(1), sessionId: row.text(2)),
                        title: row.optionalText(3),
                        createdAt: Date(millisecondsSince1970: row.integer(4)),
                        lastActivityAt: Date(millisecondsSince1970: row.integer(5)),
                        messageCount: Int(row.integer(6)),
                        workingDirectory: row.optionalText(7),
                        branch: row.optionalText(8),
                        metadata: MessageRow.object(row, 9))
                ))
        }
        return try rows.map { row in
            var conversation = row.conversation
            let scopes = try scopes(of: row.number, db)
            conversation.agents = scopes.map(\.agentId)
            for scope in scopes where conversation.preview.isEmpty {
                conversation.preview = try preview(scope: scope.number, db)
            }
            return conversation
        }
    }

    static func scopes(of conversation: Int64, _ db: Database) throws -> [(number: Int64, agentId: String)] {
        var scopes: [(number: Int64, agentId: String)] = []
        try db.sql("SELECT id, agent_id FROM scope WHERE conversation_id = ? ORDER BY id").bind(conversation)
            .forEachRow { scopes.append(($0.integer(0), $0.text(1))) }
        return scopes
    }

    /// The beginning of the first thing that a user said, looked for among the scope's first messages only: a list must not
    /// cost more for a long conversation.
    private static func preview(scope: Int64, _ db: Database) throws -> String {
        var preview = ""
        try db.sql(
            """
            SELECT substr(text, 1, 1000), parts FROM
            (SELECT role, text, parts, position FROM message WHERE scope_id = ? ORDER BY position LIMIT 32)
            WHERE role = 'user' ORDER BY position
            """
        ).bind(scope).forEachRow { row in
            guard preview.isEmpty else { return }
            let text =
                row.isNull(1)
                ? row.text(0)
                : MessageRow.parts(row, 1).compactMap(\.text).joined(separator: " ")
            preview = String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(200))
        }
        return preview
    }
}

extension Page {
    /// A page from rows that were read in the direction asked for, one more than the limit where there are more.
    init(_ rows: [Element], _ request: PageRequest<Cursor>, cursor: (Element) -> Cursor) {
        let elements = Array(rows.prefix(request.limit))
        self.init(
            elements: request.direction == .forward ? elements : elements.reversed(),
            next: rows.count > request.limit ? elements.last.map(cursor) : nil)
    }
}
