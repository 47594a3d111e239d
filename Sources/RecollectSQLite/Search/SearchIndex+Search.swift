import Foundation
import GRDB
import RecollectCore
import RecollectSearch

extension SearchIndex {
    /// Finds messages in the order of the query. In a read transaction. Finds only indexed messages.
    /// - Parameter now: The date from which times in the query count: "yesterday".
    static func search(
        _ db: Database, _ query: SearchQuery, now: Date = Date()
    ) throws -> Page<SearchHit, SearchCursor> {
        try MessageSearch.page(of: query, in: SQLiteSearchSource(db, userId: query.userId), now: now)
    }
}
