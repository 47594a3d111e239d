import RecollectCore

/// Finds messages for a question: those with all of its words, otherwise those with some.
struct HistorySearch {
    let history: any HistoryStore
    let userId: String
    /// The session to search; `nil` for all.
    let sessionId: String?
    /// Whether a hit is excluded: the question itself, a summary, or a message to or from the historian.
    let isHidden: @Sendable (SearchHit) -> Bool

    /// The hits, best first.
    struct Found {
        var hits: [SearchHit] = []
        /// Whether the hits lack some of the words.
        var isPartial = false
        /// Whether there are more hits.
        var hasMore = false
    }

    /// The maximum number of quotes in a reply.
    static let quotationCount = 5
    /// The number of hits read per page.
    private static let candidateCount = 100

    func find(_ question: HistoryQuestion, besides shown: Set<HistoryQuote.Location>) async throws -> Found {
        var query = query(question.words.words.joined(separator: " "), question)
        var hits: [SearchHit] = []
        var isPartial: Bool?
        repeat {
            let page = try await history.search(query)
            // A neighbor of a match may have none of the words.
            for hit in page.elements where !isHidden(hit) && hit.snippet.runs.contains(where: \.isMatch) {
                let isIncomplete = !hit.missingWords.isEmpty
                // After messages with all words, those with some are irrelevant.
                if isIncomplete, isPartial == false { return Found(hits, isPartial: false) }
                isPartial = isPartial ?? isIncomplete
                if !shown.contains(HistoryQuote.Location(hit)) { hits.append(hit) }
            }
            query.cursor = page.next
        } while hits.count <= Self.quotationCount && query.cursor != nil
        return Found(hits, isPartial: isPartial ?? false)
    }

    private func query(_ text: String, _ question: HistoryQuestion) -> SearchQuery {
        SearchQuery(
            userId: userId, text: text, sessionId: sessionId, roles: question.isOfUser ? [.user] : [.user, .assistant],
            from: question.time?.from, until: question.time?.until, limit: Self.candidateCount)
    }
}

extension HistorySearch.Found {
    fileprivate init(_ hits: [SearchHit], isPartial: Bool) {
        let count = HistorySearch.quotationCount
        self.init(hits: Array(hits.prefix(count)), isPartial: isPartial, hasMore: hits.count > count)
    }
}
