import Foundation
import GRDB
import RecollectCore

/// The filter of a query: messages of its user, session, agent, roles and dates, without discarded sessions.
///
/// It caches results for sessions and scopes, so an instance serves one search.
final class SearchFilter {
    private let userId: String
    private let session: SessionRowID?
    private let agentId: String?
    private let roles: Set<ByteString>
    private let timestamps: ClosedRange<Int64>
    private let message: SQL
    private let sessionUser: SQL
    private let scopeAgent: SQL
    /// The results for sessions and scopes named by rows.
    private var ownSessions: [SessionRowID: Bool] = [:]
    private var ownScopes: [ScopeRowID: Bool] = [:]

    /// Creates the filter of a query, or returns `nil` if no message can pass.
    init?(_ db: Database, _ query: SearchQuery) throws {
        userId = query.userId
        agentId = query.agentId
        roles = Set(query.roles.map { ByteString($0.rawValue) })
        let from = query.from?.millisecondsSince1970 ?? .min
        let until = query.until.map { $0.millisecondsSince1970 - 1 } ?? .max
        guard from <= until else { return nil }
        message = try db.sql("SELECT \(Self.columns) FROM message m WHERE sequence = ?")
        // A branch is hidden along with its discarded session.
        sessionUser = try db.sql(
            """
            SELECT 1 FROM session WHERE id = ? AND user_id = ? AND discarded_at IS NULL AND (
              branch_of IS NULL OR
              (SELECT discarded_at FROM session AS origin WHERE origin.id = session.branch_of) IS NULL)
            """)
        scopeAgent = try db.sql("SELECT 1 FROM scope WHERE id = ? AND agent_id = ?")
        timestamps = from...until
        if let sessionId = query.sessionId {
            session = try MessageQueries.number(
                of: SessionKey(userId: query.userId, sessionId: sessionId), db)
            if session == nil { return nil }
        } else {
            session = nil
        }
    }

    /// The filter as an FTS5 expression. It matches all messages passing `matches`, and some others.
    var match: String {
        var groups = [[FilterTokens.user(userId)]]
        if let session { groups.append([FilterTokens.session(session)]) }
        if let agentId { groups.append([FilterTokens.agent(agentId)]) }
        if !roles.isEmpty { groups.append(roles.map { FilterTokens.role($0.string) }.sorted()) }
        if timestamps != .min ... .max { groups.append(FilterTokens.times(timestamps)) }
        return groups.map { tokens in
            "(" + tokens.map { "\"\($0)\"" }.joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
    }

    /// Whether the filter is likely to reject most messages. Only speed depends on it.
    func isNarrow(_ db: Database) throws -> Bool {
        if session != nil || agentId != nil || !roles.isEmpty || timestamps != .min ... .max { return true }
        let own = try db.integer("SELECT count(*) FROM session WHERE user_id = ?", userId) ?? 0
        return try own < (db.integer("SELECT max(id) FROM session") ?? 0) / 4
    }

    /// Whether a message passes. Returns false for a deleted message.
    func matches(_ sequence: SequenceNumber) throws -> Bool {
        try message.bind(sequence, at: 1)
        defer { message.reset() }
        return try message.step() && matches(message, columnsFrom: 0)
    }

    /// The columns of `message m` read by `matches`, in its order.
    static let columns = "m.session_row_id, m.scope_row_id, m.timestamp, m.role"

    /// Whether the message of a row with `columns` from an index on passes.
    func matches(_ row: SQL, columnsFrom column: Int32) throws -> Bool {
        let session: SessionRowID = row.value(column)
        guard try owns(session: session), self.session ?? session == session else {
            return false
        }
        if let agentId, try !owns(scope: row.value(column + 1), of: agentId) { return false }
        guard timestamps.contains(row.integer(column + 2)) else { return false }
        return roles.isEmpty || roles.contains(ByteString(row.text(column + 3)))
    }

    private func owns(session id: SessionRowID) throws -> Bool {
        if let known = ownSessions[id] { return known }
        try sessionUser.bind(id, at: 1)
        try sessionUser.bind(userId, at: 2)
        defer { sessionUser.reset() }
        let isOwn = try sessionUser.step()
        ownSessions[id] = isOwn
        return isOwn
    }

    private func owns(scope id: ScopeRowID, of agentId: String) throws -> Bool {
        if let known = ownScopes[id] { return known }
        try scopeAgent.bind(id, at: 1)
        try scopeAgent.bind(agentId, at: 2)
        defer { scopeAgent.reset() }
        let isOwn = try scopeAgent.step()
        ownScopes[id] = isOwn
        return isOwn
    }
}
