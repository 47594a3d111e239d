import GRDB
import RecollectCore

extension SearchIndex {
    /// How many of the newest matches are looked at: a word that half of all messages hold must not cost a look at each.
    private static let reach = 20_000

    /// The numbers of a user's conversations among whose newest matching messages a search would find the text. In a read
    /// transaction; what is not indexed yet is not found.
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
