import GRDB
import RecollectCore

/// The row of a session.
enum SessionRow {
    /// The upper bound of an access by date, in milliseconds. Each later access adds 1 to the user's latest one
    /// and stays exact.
    static let lastAccess: Int64 = 1 << 51

    /// Returns the scopes of a session, in the order of their creation.
    static func scopes(of session: SessionRowID, _ db: Database) throws -> [(id: ScopeRowID, agentId: String)] {
        var scopes: [(id: ScopeRowID, agentId: String)] = []
        try db.sql("SELECT id, agent_id FROM scope WHERE session_row_id = ? ORDER BY id").bind(session)
            .forEachRow { scopes.append(($0.value(0), $0.text(1))) }
        return scopes
    }

    /// Restores a discarded session.
    static func restore(_ number: SessionRowID, _ db: Database) throws {
        try db.run("UPDATE session SET discarded_at = NULL WHERE id = ?", number)
        try db.recordChange(.sessionUpdated, MessageQueries.id(of: number, db))
    }

    /// Moves the creation date of a session back to its first message, for a message placed before the others.
    static func backdate(_ number: SessionRowID, _ db: Database) throws {
        try db.run(
            """
            UPDATE session SET created_at = first.timestamp FROM (
              SELECT timestamp FROM scope JOIN message ON scope_row_id = scope.id
              AND position = (SELECT min(position) FROM message WHERE scope_row_id = scope.id)
              WHERE scope.session_row_id = ?1 ORDER BY position LIMIT 1) AS first
            WHERE id = ?1 AND created_at > first.timestamp
            """, number)
    }

    /// Whether a session has unread messages, including pending ones.
    static func isUnread(_ number: SessionRowID, _ db: Database) throws -> Bool {
        try db.integer(
            """
            SELECT 1 FROM session WHERE id = ? AND (last_sequence > read_through OR EXISTS (
              SELECT 1 FROM message WHERE sequence > max(read_through, \(FeedState.derivedThroughSQL))
              AND session_row_id = session.id))
            """, number) != nil
    }
}
