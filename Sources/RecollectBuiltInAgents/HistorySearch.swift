import RecollectCore

/// Finds messages for a question: those with all of its words, otherwise those with the most.
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
    /// The number of hits read per page. If no message has all words, this is also the number read for each word.
    private static let candidateCount = 100

    func find(_ question: HistoryQuestion, besides shown: Set<HistoryQuote.Location>) async throws -> Found {
        let words = question.words.words
        let isNew: (SearchHit) -> Bool = { !isHidden($0) && !shown.contains(HistoryQuote.Location($0)) }
        let wanted = Self.quotationCount + 1
        var query = query(words.joined(separator: " "), question)
        var hits: [SearchHit] = []
        var hasAnyWithAll = false
        repeat {
            let page = try await history.search(query)
            hasAnyWithAll = hasAnyWithAll || page.elements.contains { !isHidden($0) }
            hits += page.elements.filter(isNew)
            query.cursor = page.next
        } while hits.count < wanted && query.cursor != nil
        if hasAnyWithAll || words.count == 1 { return Found(hits, isPartial: false) }
        return Found(try await partial(question).filter(isNew), isPartial: true)
    }

    /// Returns messages with some of the words: those with the most words first, then by score, date and message
    /// ID.
    private func partial(_ question: HistoryQuestion) async throws -> [SearchHit] {
        var found: [HistoryQuote.Location: (hit: SearchHit, words: Int)] = [:]
        for word in question.words.words {
            for hit in try await history.search(query(word, question)).elements {
                let location = HistoryQuote.Location(hit)
                let known = found[location]
                let better = known.map { $0.hit.score >= hit.score ? $0.hit : hit } ?? hit
                found[location] = (better, (known?.words ?? 0) + 1)
            }
        }
        return found.values.sorted {
            ($0.words, $0.hit.score, $0.hit.timestamp, $0.hit.messageId)
                > ($1.words, $1.hit.score, $1.hit.timestamp, $1.hit.messageId)
        }.map(\.hit)
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
