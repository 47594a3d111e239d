import GRDB
import RecollectCore

extension SearchIndex {
    /// The maximum number of matches examined, newest first: a word in half of all messages must not require
    /// reading each one.
    private static let reach = 20_000

    /// Returns the numbers of a user's sessions with the text in their messages, from the newest matching messages.
    /// In a read transaction. Finds only indexed messages.
    static func conversations(_ db: Database, of userId: String, holding text: String) throws -> [Int64] {
        let words = SearchWords(text)
        guard !words.tiers.isEmpty else { return [] }
        let match = words.tiers.map { "(\($0.match))" }.joined(separator: " OR ")
        return try db.integers(
            """
            SELECT DISTINCT conversation_id FROM message WHERE sequence IN
            (SELECT rowid FROM message_search WHERE message_search MATCH ? ORDER BY rowid DESC LIMIT \(reach))
            """, "(\(match)) AND \"\(SearchOwner.user(userId))\"")
    }
}
