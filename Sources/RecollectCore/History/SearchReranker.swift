/// Ranks the results of a search with a model of the caller, such as embeddings or a cross-encoder.
///
/// ```swift
/// struct EmbeddingReranker: SearchReranker {
///     let similarity: @Sendable (_ text: String, _ query: String) async throws -> Double
///
///     func scores(of candidates: [SearchCandidate], for query: SearchQuery) async throws -> [Double] {
///         var scores: [Double] = []
///         for candidate in candidates {
///             scores.append(candidate.hit.score + (try await similarity(candidate.message.text, query.text)))
///         }
///         return scores
///     }
/// }
///
/// func best(in history: any HistoryStore, by reranker: EmbeddingReranker) async throws -> [SearchHit] {
///     try await history.search(SearchQuery(userId: "ana", text: "late boats", limit: 5), by: reranker)
/// }
/// ```
///
/// This package has no model. A reranker decides only the order: it sees messages that the search found for the query's
/// user, and can add none of its own.
public protocol SearchReranker: Sendable {
    /// Returns other texts to search for, such as synonyms or the question in other words. By default, there are none.
    func expansions(of query: SearchQuery) async throws -> [String]

    /// Returns the scores of candidates for a query, in their order. Larger is better.
    /// - Parameter candidates: The hits of the query, the best first, then those of its expansions.
    func scores(of candidates: [SearchCandidate], for query: SearchQuery) async throws -> [Double]
}

extension SearchReranker {
    /// Returns no texts.
    public func expansions(of query: SearchQuery) async throws -> [String] { [] }
}

/// A message found by a search, to be ranked.
public struct SearchCandidate: Hashable, Sendable {
    /// The hit of the search.
    public var hit: SearchHit
    /// The whole message.
    public var message: ConversationMessage

    /// Creates a candidate.
    public init(hit: SearchHit, message: ConversationMessage) {
        self.hit = hit
        self.message = message
    }
}

extension HistoryStore {
    /// Returns the best hits of a query by a reranker, at most `query.limit`.
    ///
    /// Searches for the text of the query and for at most eight expansions of it, with the same filters, then reads the
    /// found messages. A message deleted in between is left out. The score of a hit is that of the reranker; hits with
    /// equal scores are in the order of the search. There are no further pages; the query's cursor and order do not count.
    /// - Parameters:
    ///   - query: The query.
    ///   - reranker: Ranks the candidates.
    ///   - candidates: The maximum number of messages found for each text.
    /// - Throws: `invalidArgument` if the reranker returns another number of scores; errors of the reranker.
    public func search(
        _ query: SearchQuery, by reranker: some SearchReranker, candidates count: Int = 50
    ) async throws -> [SearchHit] {
        var candidates: [SearchCandidate] = []
        var known: Set<[ByteString]> = []
        for text in try await [query.text] + reranker.expansions(of: query).prefix(8) {
            var expanded = query
            (expanded.text, expanded.order, expanded.cursor) = (text, .relevance, nil)
            expanded.limit = max(count, query.limit)
            for hit in try await search(expanded).elements {
                let id = [hit.session.sessionId, hit.agentId, hit.messageId].map(ByteString.init)
                guard known.insert(id).inserted,
                    let stored = try await message(hit.messageId, in: hit.session, agentId: hit.agentId)
                else { continue }
                candidates.append(SearchCandidate(hit: hit, message: stored.message))
            }
        }
        let scores = try await reranker.scores(of: candidates, for: query)
        guard scores.count == candidates.count else {
            throw RecollectError(
                .invalidArgument,
                "the reranker returned \(scores.count) scores for \(candidates.count) candidates; return one for each")
        }
        let ranked = zip(candidates, scores).enumerated().sorted {
            ($1.element.1, $0.offset) < ($0.element.1, $1.offset)
        }
        return ranked.prefix(query.limit).map { _, element in
            var hit = element.0.hit
            hit.score = element.1
            return hit
        }
    }
}
