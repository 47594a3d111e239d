import Foundation
import GRDB
import RecollectCore

extension SearchIndex {
    /// Finds messages in the order of the query. In a read transaction. Finds only indexed messages.
    /// - Parameter now: The date from which times in the query count: "yesterday".
    static func search(
        _ db: Database, _ query: SearchQuery, now: Date = Date()
    ) throws -> Page<SearchHit, SearchCursor> {
        try SearchScore.install(on: db)
        guard let query = try QueryFields.applied(to: query, db), let filter = try SearchFilter(db, query) else {
            return Page(elements: [], next: nil)
        }
        var search = try MessageSearch(db, query, filter, now: now)
        return query.order == .relevance ? try search.byRelevance() : try search.byDate()
    }
}
