import GRDB
import GRDBSQLite
import RecollectCore

/// The writer's cache between transactions: prepared statements, the rows of recent scopes, and the IDs of pending
/// messages.
///
/// Rows are valid until another write. `HistoryDatabase` drops them after commits of other connections and after a
/// rollback. Other writes of this connection show in its count of changed rows.
///
/// `@unchecked Sendable`: used only with the writer's role.
final class WriterCache: @unchecked Sendable {
    let pending = PendingMessageIDs()

    let begin = HeldStatement("BEGIN IMMEDIATE")
    let commit = HeldStatement("COMMIT")
    let lookUp = HeldStatement(ScopeRow.lookUp)
    let derivedID = HeldStatement(MessageQueries.sequenceOfID)
    let insertion = HeldStatement(MessageRow.insertion)

    /// The maximum number of cached scopes, to bound memory.
    private static let limit = 256

    private var rows: [Scope: ScopeRow] = [:]
    /// The ends of the sessions of these scopes.
    private var ends: [SessionRowID: SessionEnd] = [:]
    private var feed = FeedState(last: .zero, derivedThrough: .zero)
    /// The connection's count of changed rows at the end of the last append.
    private var changes: Int64 = 0

    /// Returns the row of a scope, from the cache if it is valid there, else from `read`.
    func row(of scope: Scope, _ db: Database, read: () throws -> ScopeRow) throws -> ScopeRow {
        let before = db.totalChanges
        if before != changes { dropRows() }
        if var row = rows[scope] {
            row.feed = feed
            return row
        }
        let row = try read()
        // `read` may have inserted a scope into the session of a cached one.
        if db.totalChanges != before { dropRows() }
        return row
    }

    /// Returns the end of the session of a scope's row, or `nil` for a session without messages.
    func end(of session: SessionRowID, _ db: Database) throws -> SessionEnd? {
        try ends[session] ?? SessionEnd(of: session, db)
    }

    /// Caches a scope's row and the end of its session after an append to this scope alone.
    func insert(_ row: ScopeRow, of scope: Scope, end: SessionEnd?, _ db: Database) {
        if rows.count >= Self.limit { dropRows() }
        rows[scope] = row
        ends[row.session] = end
        feed = row.feed
        changes = db.totalChanges
    }

    func dropRows() {
        rows = [:]
        ends = [:]
    }

    /// Empties the cache after a rollback: its sequence numbers will be used again.
    func forget() {
        dropRows()
        pending.forget()
    }

    /// Releases the statements. Call it before closing the connection: statements keep it open.
    func releaseStatements() {
        for statement in [begin, commit, lookUp, derivedID, insertion] { statement.release() }
    }
}

extension Database {
    /// The number of rows inserted, updated and deleted by this connection, rollbacks included.
    fileprivate var totalChanges: Int64 {
        sqlite3_total_changes64(sqliteConnection)
    }
}
