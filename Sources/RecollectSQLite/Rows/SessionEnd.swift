import GRDB
import RecollectCore

/// The last message of a session, of any agent.
struct SessionEnd {
    let key: MessageSortKey
    let scope: ScopeRowID

    /// Creates the end of a session at a message.
    init(_ key: MessageSortKey, _ scope: ScopeRowID) {
        self.key = key
        self.scope = scope
    }

    /// Creates the end by reading it; `nil` for a session without messages.
    init?(of session: SessionRowID, _ db: Database) throws {
        let row = try db.sql(
            """
            SELECT \(MessageSortKey.sqlTime), agent_id, scope.id FROM scope JOIN message ON scope_row_id = scope.id
            AND position = (SELECT max(position) FROM message WHERE scope_row_id = scope.id)
            WHERE scope.session_row_id = ? ORDER BY position DESC LIMIT 1
            """
        ).bind(session)
        defer { row.reset() }
        guard try row.step() else { return nil }
        self.init(MessageSortKey(time: row.integer(0), agentId: ByteString(row.text(1))), row.value(2))
    }

    /// Whether a new message of a scope comes behind this one.
    func isBefore(_ key: MessageSortKey, of scope: ScopeRowID) -> Bool {
        self.scope == scope || self.key < key
    }
}
