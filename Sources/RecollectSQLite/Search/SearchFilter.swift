import Foundation
import GRDB
import RecollectCore

/// Which messages a query may show: its user's, of its session, agent, roles and dates.
struct SearchFilter {
    private let userId: String
    private let conversation: Int64?
    private let agentId: String?
    private let roles: Set<ByteString>
    private let timestamps: ClosedRange<Int64>
    private let message: SQL
    /// What is known of conversations and scopes that rows name.
    private var ownConversations: [Int64: Bool] = [:]
    private var ownScopes: [Int64: Bool] = [:]

    /// Nil where no message can pass.
    init?(_ db: Database, _ query: SearchQuery) throws {
        userId = query.userId
        agentId = query.agentId
        roles = Set(query.roles.map { ByteString($0.rawValue) })
        let from = query.from?.millisecondsSince1970 ?? .min
        let until = query.until.map { $0.millisecondsSince1970 - 1 } ?? .max
        guard from <= until else { return nil }
        message = try db.sql("SELECT conversation_id, scope_id, timestamp, role FROM message WHERE sequence = ?")
        timestamps = from...until
        if let sessionId = query.sessionId {
            conversation = try db.integer(
                "SELECT id FROM conversation WHERE user_id = ? AND session_id = ?", query.userId, sessionId)
            if conversation == nil { return nil }
        } else {
            conversation = nil
        }
    }

    /// The same filter as an expression of FTS5. It lets no message out that `admits` lets in, but some in that it does not.
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

    /// Whether most messages are likely to be turned away. Only what is faster depends on it.
    func isNarrow(_ db: Database) throws -> Bool {
        if conversation != nil || agentId != nil || !roles.isEmpty || timestamps != .min ... .max { return true }
        let own = try db.integer("SELECT count(*) FROM conversation WHERE user_id = ?", userId) ?? 0
        return try own < (db.integer("SELECT max(id) FROM conversation") ?? 0) / 4
    }

    /// Whether a message passes; false if it is gone.
    mutating func admits(_ sequence: Int64, _ db: Database) throws -> Bool {
        message.bind(sequence, at: 1)
        defer { message.reset() }
        guard try message.step(), try owns(conversation: message.integer(0), db) else { return false }
        if let conversation, message.integer(0) != conversation { return false }
        if let agentId, try !owns(scope: message.integer(1), of: agentId, db) { return false }
        guard timestamps.contains(message.integer(2)) else { return false }
        return roles.isEmpty || roles.contains(ByteString(message.text(3)))
    }

    private mutating func owns(conversation id: Int64, _ db: Database) throws -> Bool {
        if let known = ownConversations[id] { return known }
        let isOwn = try db.integer("SELECT 1 FROM conversation WHERE id = ? AND user_id = ?", id, userId) != nil
        ownConversations[id] = isOwn
        return isOwn
    }

    private mutating func owns(scope id: Int64, of agentId: String, _ db: Database) throws -> Bool {
        if let known = ownScopes[id] { return known }
        let isOwn = try db.integer("SELECT 1 FROM scope WHERE id = ? AND agent_id = ?", id, agentId) != nil
        ownScopes[id] = isOwn
        return isOwn
    }
}
