import GRDB

/// A statement, prepared at its first use and then held. Finding it in a cache by its text costs as much as running
/// a short one.
final class HeldStatement {
    private let text: String
    private var statement: Statement?

    init(_ text: String) {
        self.text = text
    }

    /// Returns the statement, ready to bind. Always of the same connection.
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
