import GRDB
import GRDBSQLite
import RecollectCore

/// What the writer's connection keeps between transactions: the statements of a save, the scopes that were appended to last, and the
/// ids of the messages that are not settled.
///
/// The scopes hold as long as nothing else writes. `HistoryDatabase` drops them when another connection has committed and when a
/// transaction was undone; writes of another kind on this connection show in its count of changed rows.
///
/// `@unchecked Sendable`: used with the writer's role alone.
final class WriterCache: @unchecked Sendable {
    let unsettled = UnsettledIDs()

    let begin = HeldStatement("BEGIN IMMEDIATE")
    let commit = HeldStatement("COMMIT")
    let lookUp = HeldStatement(ScopeRow.lookUp)
    let settledID = HeldStatement("SELECT sequence FROM message_id WHERE scope_id = ? AND message_id = ?")
    let insertion = HeldStatement(MessageRow.insertion)

    /// A bound on memory, in scopes.
    private static let limit = 256

    private var rows: [Scope: ScopeRow] = [:]
    private var feed = FeedState(last: 0, settledThrough: 0)
    /// The connection's count of changed rows when the last append ended.
    private var changes: Int64 = 0

    /// A scope's row: as the last append left it if nothing was written since, else as it is read, or made.
    func row(of scope: Scope, _ db: Database, read: () throws -> ScopeRow) throws -> ScopeRow {
        let before = db.totalChanges
        if before != changes { dropRows() }
        if var row = rows[scope] {
            row.feed = feed
            return row
        }
        let row = try read()
        // A scope that was made may belong to the conversation of another.
        if db.totalChanges != before { dropRows() }
        try unsettled.follow(row.feed, db)
        return row
    }

    /// Keeps a scope's row as an append leaves it that changed no other scope.
    func keep(_ row: ScopeRow, of scope: Scope, _ db: Database) {
        if rows.count >= Self.limit { rows = [:] }
        rows[scope] = row
        feed = row.feed
        changes = db.totalChanges
    }

    func dropRows() {
        rows = [:]
    }

    /// Forgets all that was read or written: a transaction was undone, and with it numbers that will be given again.
    func forget() {
        dropRows()
        unsettled.forget()
    }

    /// Releases the statements. Before the connection is closed: a statement keeps it open.
    func releaseStatements() {
        for statement in [begin, commit, lookUp, settledID, insertion] { statement.release() }
    }
}

/// A statement that is prepared at its first use and then held: to look it up by its text costs as much as a short statement does.
final class HeldStatement {
    private let text: String
    private var statement: Statement?

    init(_ text: String) {
        self.text = text
    }

    /// The statement, ready to bind. Always of the same connection.
    func ready(_ db: Database) throws -> SQL {
        if let statement { return SQL(statement.sqliteStatement) }
        let statement = try db.cachedStatement(sql: text)
        self.statement = statement
        return SQL(statement.sqliteStatement)
    }

    func release() {
        statement = nil
    }
}

extension Database {
    /// How many rows this connection has inserted, changed or deleted since it was opened, also in transactions that were undone.
    fileprivate var totalChanges: Int64 {
        sqlite3_total_changes64(sqliteConnection)
    }
}
