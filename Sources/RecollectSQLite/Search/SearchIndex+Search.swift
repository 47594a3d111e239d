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
        guard var applied = try QueryFields.applied(to: query, db), let filter = try SearchFilter(db, applied) else {
            return Page(elements: [], next: nil)
        }
        let hasOnlyFields = applied.text != query.text && applied.text.allSatisfy(\.isWhitespace)
        if hasOnlyFields, applied.order == .relevance { applied.order = .newestFirst }
        var search = try MessageSearch(db, applied, filter, now: now)
        if hasOnlyFields { return try search.allByDate() }
        return query.order == .relevance ? try search.byRelevance() : try search.byDate()
    }
}
