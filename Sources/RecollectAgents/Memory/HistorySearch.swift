import RecollectCore

/// Finds what answers a question: messages with all of its words, or else those with most of them.
struct HistorySearch {
    let history: any HistoryStore
    let userId: String
    /// Only this session; `nil` for all.
    let sessionId: String?
    /// Hits that are no answer: the question itself, and what was said to and by the historian.
    let isHidden: @Sendable (SearchHit) -> Bool

    /// What was found, best first.
    struct Found {
        var hits: [SearchHit] = []
        /// Whether some words are missing in them.
        var isPartial = false
        /// Whether there is more.
        var hasMore = false
    }

    /// How many places one answer quotes.
    static let quotationCount = 5
    /// How many hits are looked at for each word where no message has all of them.
    private static let candidateCount = 100

    func find(_ question: HistoryQuestion, besides shown: Set<HistoryQuote.Place>) async throws -> Found {
        let words = question.words.words
        let isNew: (SearchHit) -> Bool = { !isHidden($0) && !shown.contains(HistoryQuote.Place($0)) }
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

    /// Messages with some of the words: those with the most of them first, then the better ones.
    private func partial(_ question: HistoryQuestion) async throws -> [SearchHit] {
        var found: [HistoryQuote.Place: (hit: SearchHit, words: Int)] = [:]
        for word in question.words.words {
            for hit in try await history.search(query(word, question)).elements {
                let place = HistoryQuote.Place(hit)
                let known = found[place]
                let better = known.map { $0.hit.score >= hit.score ? $0.hit : hit } ?? hit
                found[place] = (better, (known?.words ?? 0) + 1)
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
