#if Postgres
    import Foundation
    import RecollectCore
    import RecollectSearch

    /// Searches by words.
    extension PostgresHistoryStore {
        /// Searches a user's messages: see `HistoryStore`. It finds what was saved before, and sees one state of the history.
        public func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
            let now = Date()
            return try await performing { database in
                try await database.reading { transaction in
                    try await SearchQueryReader.run(of: query.userId, in: transaction) {
                        try MessageSearch.page(of: query, in: $0, now: now)
                    }
                }
            }
        }

        /// The maximum number of messages whose sessions are in a list by text, the newest first.
        private static let maxMessages = 20_000

        /// Returns sequence numbers of messages with all words of a string, for a list of sessions.
        static func messages(
            of userId: String, holding text: String, in transaction: PostgresTransaction
        ) async throws -> [Int64] {
            try await SearchQueryReader.run(of: userId, in: transaction) { source in
                guard let search = try SessionSearch(text, of: userId, in: source) else { return [] }
                let words = ParsedQuery.Tier(expression: search.expression, words: [], hasPrefix: false)
                return try source.newest(
                    words, search.filter, limit: maxMessages, through: source.bounds().upperBound
                ).map(\.sequence.rawValue)
            }
        }
    }
#endif
