import Foundation
import GRDB
import RecollectCore

/// The conditions and the order of a session list as SQL, with the values to bind.
struct SessionSelection {
    /// The clauses after `FROM session`.
    private(set) var condition: String
    private(set) var values: [any SQLBindable]

    init(_ query: SessionQuery, _ request: PageRequest<SessionCursor>, _ db: Database) throws {
        condition = """
            WHERE user_id = ? AND branch_of IS NULL AND discarded_at IS \(query.isDiscarded ? "NOT NULL" : "NULL")
            """
        values = [query.userId]
        if let isPinned = query.isPinned { add("is_pinned = \(isPinned ? 1 : 0)") }
        if let isArchived = query.isArchived { add("is_archived = \(isArchived ? 1 : 0)") }
        if let isUnread = query.isUnread { add("last_sequence \(isUnread ? ">" : "<=") read_through") }
        if let from = query.from { add("last_activity >= ?", from.millisecondsSince1970) }
        if let until = query.until { add("last_activity < ?", until.millisecondsSince1970) }
        let tags = Set(query.tags.map(ByteString.init))
        // With a condition for each tag, 1,000 tags or more would be nested too deep for SQLite.
        if !tags.isEmpty {
            condition += " AND id IN (SELECT session_row_id FROM tag WHERE tag IN ("
            condition += repeatElement("?", count: tags.count).joined(separator: ",")
            condition += ") GROUP BY session_row_id HAVING count(*) = \(tags.count))"
            values += tags.map(\.string)
        }
        if let agentId = query.agentId {
            add(
                """
                EXISTS (SELECT 1 FROM scope WHERE session_row_id = session.id AND agent_id = ?
                AND \(SessionQueries.hasSpoken))
                """, agentId)
        }
        if !query.text.isEmpty {
            let found = try SearchIndex.sessions(
                db, of: query.userId, holding: query.text, where: condition, values)
            add(
                """
                (instr(lower(ifnull(title, '')), lower(?)) > 0 OR instr(lower(ifnull(preview, '')), lower(?)) > 0
                 OR id IN (SELECT value FROM json_each(?)))
                """, query.text, query.text, found.jsonArray)
        }
        let isAscending = query.order.isAscending != (query.isReversed != (request.direction == .backward))
        let key = query.order.expression
        if let cursor = request.cursor {
            let comparison = isAscending ? ">" : "<"
            // SQLite uses an index on an expression for a comparison with this expression, but not for row values
            // containing it.
            if query.order == .title { add("\(key) \(comparison)= ?", cursor.key) }
            add("(\(key), session_id) \(comparison) (?, ?)", cursor.key, cursor.sessionId)
        }
        let direction = isAscending ? "ASC" : "DESC"
        condition += " ORDER BY \(key) \(direction), session_id \(direction) LIMIT ?"
        // One row more shows whether there is another page.
        values.append(min(request.limit, .max - 1) + 1)
    }

    private mutating func add(_ term: String, _ bound: any SQLBindable...) {
        condition += " AND \(term)"
        values += bound
    }
}

extension SessionQuery.Order {
    /// The sort key as SQL, in the form used by the index.
    fileprivate var expression: String {
        switch self {
        case .lastActivity: "last_activity"
        case .lastAccess: "last_access"
        case .creation: "created_at"
        case .title: "(coalesce(nullif(title, ''), nullif(preview, ''), session_id)) COLLATE NOCASE"
        case .messageCount: "message_count"
        }
    }
}

extension SessionCursor.Key: SQLBindable {
    package func bind(to statement: SQL, at index: Int32) throws {
        switch self {
        case .integer(let value): try value.bind(to: statement, at: index)
        case .text(let text): try text.bind(to: statement, at: index)
        }
    }
}
