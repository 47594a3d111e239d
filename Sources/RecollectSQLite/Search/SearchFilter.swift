import Foundation
import GRDB
import RecollectCore

/// The filter of a query: messages of its user, session, agent, roles and dates, without discarded sessions.
///
/// It caches results for sessions and scopes, so an instance serves one search.
final class SearchFilter {
    private let userId: String
    private let conversation: Int64?
    private let agentId: String?
    private let roles: Set<ByteString>
    private let timestamps: ClosedRange<Int64>
    private let message: SQL
    private let conversationUser: SQL
    private let scopeAgent: SQL
    /// The results for sessions and scopes named by rows.
    private var ownConversations: [Int64: Bool] = [:]
    private var ownScopes: [Int64: Bool] = [:]

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
        conversationUser = try db.sql(
            """
            SELECT 1 FROM conversation WHERE id = ? AND user_id = ? AND discarded_at IS NULL AND (
              branch_of IS NULL OR
              (SELECT discarded_at FROM conversation AS origin WHERE origin.id = conversation.branch_of) IS NULL)
            """)
        scopeAgent = try db.sql("SELECT 1 FROM scope WHERE id = ? AND agent_id = ?")
        timestamps = from...until
        if let sessionId = query.sessionId {
            conversation = try MessageQueries.number(
                of: ConversationID(userId: query.userId, sessionId: sessionId), db)
            if conversation == nil { return nil }
        } else {
            conversation = nil
        }
    }

    /// The filter as an FTS5 expression. It matches all messages passing `admits`, and some others.
    var match: String {
        var groups = [[SearchOwner.user(userId)]]
        if let conversation { groups.append([SearchOwner.conversation(conversation)]) }
        if let agentId { groups.append([SearchOwner.agent(agentId)]) }
        if !roles.isEmpty { groups.append(roles.map { SearchOwner.role($0.string) }.sorted()) }
        if timestamps != .min ... .max { groups.append(SearchOwner.times(timestamps)) }
        return groups.map { tokens in
            "(" + tokens.map { "\"\($0)\"" }.joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
    }

    /// Whether the filter is likely to reject most messages. Only speed depends on it.
    func isNarrow(_ db: Database) throws -> Bool {
        if conversation != nil || agentId != nil || !roles.isEmpty || timestamps != .min ... .max { return true }
        let own = try db.integer("SELECT count(*) FROM conversation WHERE user_id = ?", userId) ?? 0
        return try own < (db.integer("SELECT max(id) FROM conversation") ?? 0) / 4
    }

    /// Whether a message passes. Returns false for a deleted message.
    func admits(_ sequence: Int64) throws -> Bool {
        try message.bind(sequence, at: 1)
        defer { message.reset() }
        return try message.step() && admits(message, columnsFrom: 0)
    }

    /// The columns of `message m` read by `admits`, in its order.
    static let columns = "m.conversation_id, m.scope_id, m.timestamp, m.role"

    /// Whether the message of a row with `columns` from an index on passes.
    func admits(_ row: SQL, columnsFrom column: Int32) throws -> Bool {
        let conversation = row.integer(column)
        guard try owns(conversation: conversation), self.conversation ?? conversation == conversation else {
            return false
        }
        if let agentId, try !owns(scope: row.integer(column + 1), of: agentId) { return false }
        guard timestamps.contains(row.integer(column + 2)) else { return false }
        return roles.isEmpty || roles.contains(ByteString(row.text(column + 3)))
    }

    private func owns(conversation id: Int64) throws -> Bool {
        if let known = ownConversations[id] { return known }
        try conversationUser.bind(id, at: 1)
        try conversationUser.bind(userId, at: 2)
        defer { conversationUser.reset() }
        let isOwn = try conversationUser.step()
        ownConversations[id] = isOwn
        return isOwn
    }

    private func owns(scope id: Int64, of agentId: String) throws -> Bool {
        if let known = ownScopes[id] { return known }
        try scopeAgent.bind(id, at: 1)
        try scopeAgent.bind(agentId, at: 2)
        defer { scopeAgent.reset() }
        let isOwn = try scopeAgent.step()
        ownScopes[id] = isOwn
        return isOwn
    }
}
