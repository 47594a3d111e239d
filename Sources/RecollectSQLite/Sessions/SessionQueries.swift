import Foundation
import GRDB
import RecollectCore

/// The queries of a session library, with keyset pages. No query reads a message.
enum SessionQueries {
    private static let columns = """
        session.id, user_id, session_id, title, created_at, last_activity, message_count, working_directory, branch_name,
        metadata, preview, last_access, is_pinned, is_archived, last_sequence > read_through, discarded_at,
        branch_of, branch_after,
        first_message, \(TokenColumn.all.map(\.name).joined(separator: ", "))
        """

    /// The SQL condition for a scope with messages. Only such scopes count for a session's agents.
    static let hasSpoken = "EXISTS (SELECT 1 FROM message WHERE scope_row_id = scope.id)"

    static func one(_ id: SessionKey, _ db: Database) throws -> Session? {
        guard let number = try MessageQueries.number(of: id, db) else { return nil }
        return try list("WHERE session.id = ?", [number], db).first
    }

    static func page(
        _ query: SessionQuery, _ request: PageRequest<SessionCursor>, _ db: Database
    ) throws -> Page<Session, SessionCursor> {
        let selection = try SessionSelection(query, request, db)
        return Page(try list(selection.condition, selection.values, db), request) {
            SessionCursor(key: query.order.key(of: $0), sessionId: $0.id.sessionId)
        }
    }

    /// Returns at most `limit` sessions with an ID prefix, in the order of session IDs, without branches and
    /// discarded sessions. In this order they are the first ones from the prefix on.
    static func matching(
        userId: String, prefix: String, limit: Int, _ db: Database
    ) throws -> [Session] {
        try Array(
            list(
                """
                WHERE user_id = ? AND session_id >= ? AND branch_of IS NULL AND discarded_at IS NULL
                ORDER BY session_id LIMIT ?
                """, [userId, prefix, max(1, limit)], db
            )
            .prefix { $0.id.sessionId.utf8.starts(with: prefix.utf8) })
    }

    static func branches(of session: SessionKey, _ db: Database) throws -> [Session] {
        guard let number = try MessageQueries.number(of: session, db) else { return [] }
        return try list("WHERE branch_of = ? ORDER BY id", [number], db)
    }

    private static func list(
        _ condition: String, _ values: [any SQLBindable], _ db: Database
    ) throws -> [Session] {
        var sessions: [Session] = []
        var indices: [SessionRowID: Int] = [:]
        var origins: [Int: (session: SessionRowID, after: String?)] = [:]
        try db.sql("SELECT \(columns) FROM session \(condition)").bind(values).forEachRow { row in
            indices[row.value(0)] = sessions.count
            if let origin: SessionRowID = row.optionalValue(16) {
                origins[sessions.count] = (origin, row.optionalText(17))
            }
            sessions.append(session(row))
        }
        guard !sessions.isEmpty else { return [] }
        // One statement for all agents and one for all tags of a page, instead of two for each session.
        let numbers = indices.keys.jsonArray
        var agents: [(first: Position, scope: ScopeRowID, index: Int, agentId: String)] = []
        agents.reserveCapacity(indices.count)
        try db.sql(
            """
            SELECT session_row_id, id, agent_id, (SELECT min(position) FROM message WHERE scope_row_id = scope.id) AS first
            FROM scope WHERE session_row_id IN (SELECT value FROM json_each(?)) AND first IS NOT NULL
            """
        ).bind(numbers).forEachRow { row in
            if let index = indices[row.value(0)] { agents.append((row.value(3), row.value(1), index, row.text(2))) }
        }
        agents.sort { ($0.first, $0.scope) < ($1.first, $1.scope) }
        for agent in agents { sessions[agent.index].agentIds.append(agent.agentId) }
        try db.sql(
            """
            SELECT session_row_id, tag FROM tag
            WHERE session_row_id IN (SELECT value FROM json_each(?)) ORDER BY session_row_id, tag
            """
        ).bind(numbers).forEachRow { row in
            if let index = indices[row.value(0)] { sessions[index].tags.append(row.text(1)) }
        }
        for (index, origin) in origins {
            let sessionId = try db.optionalText("SELECT session_id FROM session WHERE id = ?", origin.session)
            sessions[index].branchPoint = sessionId.map { BranchPoint(sessionId: $0, messageId: origin.after) }
        }
        return sessions
    }

    private static func session(_ row: SQL) -> Session {
        Session(
            id: SessionKey(userId: row.text(1), sessionId: row.text(2)),
            title: row.optionalText(3),
            createdAt: Date(millisecondsSince1970: row.integer(4)),
            lastActivityAt: Date(millisecondsSince1970: row.integer(5)),
            messageCount: Int(row.integer(6)),
            preview: row.text(10),
            firstMessage: row.optionalText(18),
            workingDirectory: row.optionalText(7),
            branchName: row.optionalText(8),
            metadata: MessageRow.object(row, 9),
            lastAccessedAt: Date(millisecondsSince1970: row.integer(11)),
            isPinned: row.integer(12) != 0,
            isArchived: row.integer(13) != 0,
            isUnread: row.integer(14) != 0,
            usage: TokenUsage(
                input: Int(row.integer(19)), output: Int(row.integer(20)), cacheCreation: Int(row.integer(21)),
                cacheRead: Int(row.integer(22))),
            discardedAt: row.optionalInteger(15).map(Date.init(millisecondsSince1970:)))
    }
}
