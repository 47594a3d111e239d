import Foundation
import GRDB
import RecollectCore

/// Queries for the windows of scopes.
enum WindowQueries {
    // Created once: building the text would cost more than running it.
    private static let selection = """
        SELECT \(MessageRow.selected) FROM scope
        JOIN session ON session.id = scope.session_row_id
        CROSS JOIN message ON message.scope_row_id = scope.id AND message.position >= scope.window_start
        WHERE session.user_id = ?1 AND session.session_id = ?2 AND scope.agent_id = ?3
          AND \(isIndexed)
        ORDER BY message.position DESC LIMIT ?4
        """

    /// Whether the rows of both tables match their index entries: see `MessageQueries.confirm`.
    static let isIndexed = """
        EXISTS (SELECT 1 FROM session AS row WHERE row.id = session.id
          AND +row.user_id = ?1 AND +row.session_id = ?2)
          AND EXISTS (SELECT 1 FROM scope AS row WHERE row.id = scope.id
            AND +row.session_row_id = session.id AND +row.agent_id = ?3)
        """

    /// Returns the newest messages of a scope's window, oldest first.
    static func window(of scope: Scope, maxMessages: Int?, _ db: Database) throws -> [ConversationMessage] {
        let size = MessageWindow.size(for: maxMessages)
        if size == 0 { return [] }
        let statement = try db.sql(selection)
        try statement.bind(scope.userId, at: 1)
        try statement.bind(scope.sessionId, at: 2)
        try statement.bind(scope.agentId, at: 3)
        try statement.bind(Int64(size ?? -1), at: 4)
        var messages: [ConversationMessage] = []
        messages.reserveCapacity(size.map { min($0, 256) } ?? 0)
        try statement.forEachRow { messages.append(MessageRow.read($0)) }
        messages.reverse()
        // An index entry without a row means a damaged index.
        if messages.isEmpty { _ = try ScopeRow.find(scope, db, with: HeldStatement(ScopeRow.lookUp)) }
        return messages
    }

    /// The messages for the rule of a window by tokens.
    struct TokenWindowInput {
        /// The messages with the role `system` before all others.
        let instructions: [ConversationMessage]
        /// The newest of the other messages.
        let newest: ArraySlice<ConversationMessage>
        /// Whether `newest` has all other messages.
        let isAll: Bool
    }

    private static let allOldestFirst = selection.replacing("DESC LIMIT ?4", with: "ASC")
    // The metadata of a row is before its text, so most of the texts are not read.
    private static let pinnedCount = """
        SELECT count(*) FROM scope
        JOIN session ON session.id = scope.session_row_id
        CROSS JOIN message ON message.scope_row_id = scope.id AND message.position >= scope.window_start
        WHERE session.user_id = ?1 AND session.session_id = ?2 AND scope.agent_id = ?3
          AND instr(message.metadata, '"\(ConversationMessage.pinned)"')
        """

    /// Returns the instructions and the newest messages of a scope's window, or all messages if an earlier one is pinned.
    static func tokenWindow(of scope: Scope, newest count: Int, _ db: Database) throws -> TokenWindowInput {
        var newest = try window(of: scope, maxMessages: count, db)
        var isAll = newest.count < count
        if !isAll {
            let known = newest.count { $0.metadata[ConversationMessage.pinned] != nil }
            let all = try db.integer(pinnedCount, scope.userId, scope.sessionId, scope.agentId) ?? 0
            if all > known { (newest, isAll) = (try window(of: scope, maxMessages: nil, db), true) }
        }
        if isAll {
            let instructions = newest.prefix { $0.role == .system }
            return TokenWindowInput(
                instructions: Array(instructions), newest: newest[instructions.endIndex...], isAll: true)
        }
        let instructions = try instructions(of: scope, db)
        // If the newest messages begin with the last instructions, they are all others.
        let known = Set(instructions.map { ByteString($0.id) })
        let shared = newest.prefix { known.contains(ByteString($0.id)) }.count
        return TokenWindowInput(
            instructions: instructions, newest: newest.dropFirst(shared), isAll: shared > 0)
    }

    /// Returns the messages with the role `system` before all others of a scope's window.
    static func instructions(of scope: Scope, _ db: Database) throws -> [ConversationMessage] {
        var instructions: [ConversationMessage] = []
        let rows = try db.sql(allOldestFirst).bind(scope.userId, scope.sessionId, scope.agentId)
        defer { rows.reset() }
        while try rows.step() {
            let message = MessageRow.read(rows)
            guard message.role == .system else { break }
            instructions.append(message)
        }
        return instructions
    }

    /// Returns the windows of all agents of a session, in the order of their scopes' creation.
    static func windows(
        of session: SessionKey, _ db: Database
    ) throws -> [AgentMessages] {
        guard try MessageQueries.number(of: session, db) != nil else { return [] }
        var agents: [String] = []
        try db.sql(
            """
            SELECT scope.agent_id FROM session JOIN scope ON scope.session_row_id = session.id
            WHERE session.user_id = ? AND session.session_id = ? ORDER BY scope.id
            """
        ).bind(session.userId, session.sessionId).forEachRow { agents.append($0.text(0)) }
        return try agents.map { agent in
            AgentMessages(
                agentId: agent, messages: try window(of: session.scope(agentId: agent), maxMessages: nil, db))
        }
    }

    /// Returns a version of a session's windows in this database: the position of the feed and the start of each
    /// window. A trim without a new message moves a start without a change in the feed.
    static func version(of session: SessionKey, _ db: Database) throws -> String {
        var version = ""
        try db.sql(
            """
            SELECT \(Database.lastSequence), scope.id, scope.window_start FROM (SELECT 1)
            LEFT JOIN session ON session.user_id = ? AND session.session_id = ?
            LEFT JOIN scope ON scope.session_row_id = session.id ORDER BY scope.id
            """
        ).bind(session.userId, session.sessionId).forEachRow { row in
            if version.isEmpty { version = "\(row.integer(0))" }
            if !row.isNull(1) { version += " \(row.integer(1)):\(row.integer(2))" }
        }
        return version
    }
}
