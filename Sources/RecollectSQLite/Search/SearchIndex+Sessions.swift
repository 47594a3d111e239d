import GRDB
import RecollectCore
import RecollectSearch

extension SearchIndex {
    /// The maximum number of matches used, newest first: a word in half of all messages must not require reading
    /// each one.
    private static let maxMatches = 20_000

    /// The maximum number of sessions named in an expression of the index.
    private static let maxSessions = 100

    /// Returns the numbers of sessions with a message that has all words of the text and passes its fields, from the newest matching messages of all
    /// of a user's sessions fulfilling a condition. In a read transaction. Finds only indexed messages.
    ///
    /// Only messages of these sessions count toward the maximum. A few sessions are searched inside the index.
    /// Otherwise, the session of each match is checked, so a condition rejecting most newer matches costs time.
    /// - Parameters:
    ///   - condition: The `WHERE` clause after `FROM session`, with the user.
    ///   - values: The values to bind.
    static func sessions(
        _ db: Database, of userId: String, holding text: String, where condition: String, _ values: [any SQLBindable]
    ) throws -> [SessionRowID] {
        let source = try SQLiteSearchSource(db, userId: userId)
        guard let search = try SessionSearch(text, of: userId, in: source) else { return [] }
        let (expression, filter, hasFields) = (search.expression, search.filter, search.hasFields)
        guard var match = hasFields ? expression.fts5(filter.tokens(of: userId)) : expression.fts5 else { return [] }
        let sessions: [SessionRowID] = try db.values(
            "SELECT id FROM session \(condition) LIMIT \(maxSessions + 1)", values)
        guard !sessions.isEmpty else { return [] }
        var check = ""
        var bound: [any SQLBindable] = []
        if sessions.count <= maxSessions {
            let owners = sessions.map { "\"\(FilterTokens.session($0))\"" }.joined(separator: " OR ")
            match = "(\(match)) AND (\(owners))"
        } else {
            match = "(\(match)) AND \"\(FilterTokens.user(userId))\""
            check = "AND EXISTS (SELECT 1 FROM session \(condition) AND id = m.session_row_id)"
            bound = values
        }
        // `CROSS JOIN` keeps this order of tables, so the index gives its matches from the newest on.
        let matches = """
            FROM message_search CROSS JOIN message m ON m.sequence = message_search.rowid
            WHERE message_search MATCH ? \(check) ORDER BY message_search.rowid DESC LIMIT \(maxMatches)
            """
        guard hasFields else {
            return try db.values(
                "SELECT DISTINCT session_row_id FROM (SELECT m.session_row_id \(matches))", [match] + bound)
        }
        let row = try db.sql("SELECT \(SQLiteSearchSource.columns) \(matches)").bind([match] + bound)
        defer { row.reset() }
        var found: Set<SessionRowID> = []
        while try row.step() {
            if try source.passes(row, columnsFrom: 0, filter, listed: false) { found.insert(row.value(0)) }
        }
        return found.sorted()
    }
}
