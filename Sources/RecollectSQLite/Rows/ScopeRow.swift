import GRDB
import RecollectCore

/// The state of a scope before an append, read in one statement.
struct ScopeRow {
    let session: SessionRowID
    let scope: ScopeRowID
    /// The session's scope of messages without an agent; `nil` if there is none.
    let unassigned: ScopeRowID?
    var windowStart: Position
    /// The role of the last message in the window.
    var lastRole: Role?
    /// The time of its last message's `MessageSortKey`; `nil` without messages.
    var lastTime: Int64?
    var feed: FeedState
    /// Whether the session is discarded.
    var isDiscarded = false

    /// Returns the row of a scope, also in a discarded session; `nil` if nothing was ever saved in it.
    static func find(_ scope: Scope, _ db: Database, with statement: HeldStatement) throws -> ScopeRow? {
        switch try lookUp(scope, db, with: statement) {
        case .scope(let row): row
        case .discarded(_, let row): row
        case .nothing, .session: nil
        }
    }

    /// Returns the row of a scope, and creates the session and the scope if they are missing.
    /// - Parameter restores: Whether a discarded session is restored even if it has the scope.
    static func findOrMake(
        _ scope: Scope, createdAt: Int64, restores: Bool = true, _ db: Database,
        with statement: HeldStatement = HeldStatement(lookUp)
    ) throws -> ScopeRow {
        let session: SessionRowID
        switch try lookUp(scope, db, with: statement) {
        case .scope(let row): return row
        case .session(let number): session = number
        case .discarded(let number, let row):
            if let row, !restores { return row }
            // Saving to a discarded session restores it.
            try SessionRow.restore(number, db)
            return try findOrMake(scope, createdAt: createdAt, db, with: statement)
        case .nothing: session = try makeSession(scope.session, createdAt: createdAt, db)
        }
        return ScopeRow(
            session: session, scope: try makeScope(of: session, agentId: scope.agentId, db),
            unassigned: try self.scope(of: session, agentId: "", db), windowStart: .start, lastRole: nil,
            feed: try FeedState(db))
    }

    /// Returns the number of an agent's scope in a session, and creates the scope if it is missing.
    static func findOrMakeScope(of session: SessionRowID, agentId: String, _ db: Database) throws -> ScopeRowID {
        try scope(of: session, agentId: agentId, db) ?? makeScope(of: session, agentId: agentId, db)
    }

    /// Returns the number of an agent's scope in a session; `nil` if nothing was ever saved in it.
    static func scope(of session: SessionRowID, agentId: String, _ db: Database) throws -> ScopeRowID? {
        let scope: ScopeRowID? = try db.value(
            "SELECT id FROM scope WHERE session_row_id = ? AND agent_id = ?", session, agentId)
        if let scope { try confirm(scope, of: session, agentId: agentId, db) }
        return scope
    }

    /// Returns the position at which a scope's window begins.
    static func windowStart(of scope: ScopeRowID, _ db: Database) throws -> Position {
        try db.value("SELECT window_start FROM scope WHERE id = ?", scope) ?? .start
    }

    /// Returns the time of the `MessageSortKey` of a scope's last message.
    static func lastTime(of scope: ScopeRowID, _ db: Database) throws -> Int64? {
        try db.integer(
            "SELECT \(MessageSortKey.sqlTime) FROM message WHERE scope_row_id = ? ORDER BY position DESC LIMIT 1", scope
        )
    }

    /// Compares a scope's row with the index entry used to find it: see `MessageQueries.confirm`.
    private static func confirm(_ scope: ScopeRowID, of session: SessionRowID, agentId: String, _ db: Database) throws {
        let isRow = try db.integer(
            "SELECT session_row_id = ? AND agent_id = ? FROM scope WHERE id = ?", session, agentId, scope)
        guard isRow == 1 else { throw DatabaseError.damagedIndex }
    }

    private static func makeScope(of session: SessionRowID, agentId: String, _ db: Database) throws -> ScopeRowID {
        try db.run(
            "INSERT INTO scope (id, session_row_id, agent_id, window_start) VALUES (1 + \(Eraser.lastScope), ?, ?, 0)",
            session, agentId)
        return db.lastInserted()
    }

    static func makeSession(_ id: SessionKey, createdAt: Int64, _ db: Database) throws -> SessionRowID {
        try db.run(
            """
            INSERT INTO session (id, user_id, session_id, created_at, last_activity, last_access, message_count)
            VALUES (1 + \(Eraser.lastSession), ?1, ?2, ?3, ?3, min(?3, \(SessionRow.lastAccess)), 0)
            """, id.userId, id.sessionId, createdAt)
        return db.lastInserted()
    }

    private enum Found {
        case nothing
        case discarded(SessionRowID, ScopeRow?)
        case session(SessionRowID)
        case scope(ScopeRow)
    }

    static let lookUp = """
        SELECT session.id, scope.id, scope.window_start, \(Database.lastSequence),
          (SELECT role FROM message WHERE scope_row_id = scope.id AND position >= scope.window_start
           ORDER BY position DESC LIMIT 1), \(FeedState.derivedThroughSQL), session.discarded_at,
          (SELECT id FROM scope WHERE session_row_id = session.id AND agent_id = ''),
          (SELECT \(MessageSortKey.sqlTime) FROM message WHERE scope_row_id = scope.id ORDER BY position DESC LIMIT 1)
        FROM session
        LEFT JOIN scope ON scope.session_row_id = session.id AND scope.agent_id = ?
        WHERE session.user_id = ? AND session.session_id = ?
        """

    private static func lookUp(_ scope: Scope, _ db: Database, with statement: HeldStatement) throws -> Found {
        let statement = try statement.ready(db)
        try statement.bind(scope.agentId, at: 1)
        try statement.bind(scope.userId, at: 2)
        try statement.bind(scope.sessionId, at: 3)
        defer { statement.reset() }
        guard try statement.step() else { return .nothing }
        try MessageQueries.confirm(statement.value(0), is: scope.session, db)
        if !statement.isNull(1) {
            try confirm(statement.value(1), of: statement.value(0), agentId: scope.agentId, db)
        }
        let row = statement.optionalValue(1).map { scope in
            ScopeRow(
                session: statement.value(0), scope: scope,
                unassigned: statement.optionalValue(7), windowStart: statement.value(2),
                lastRole: statement.optionalText(4).map(Role.init(rawValue:)), lastTime: statement.optionalInteger(8),
                feed: FeedState(last: statement.value(3), derivedThrough: statement.value(5)),
                isDiscarded: !statement.isNull(6))
        }
        guard statement.isNull(6) else { return .discarded(statement.value(0), row) }
        return row.map(Found.scope) ?? .session(statement.value(0))
    }
}
