import Foundation
import RecollectCore

/// Ranks the messages with any of a query's words.
///
/// A message's score is the sum over its words (BM25): rare words in the searched history count more than frequent
/// ones, repetitions and long messages less. To it come shares of the scores of its neighbors and of its session, so
/// that the answer to a question is found with it. Messages of an author named in the query count more
/// (`NamedAuthors`), and messages that repeat others less (`MessageEcho`).
///
/// The work is bounded, whatever the size of the history: of each word, the newest messages are read (`WordPostings`). A
/// word in few messages is known exactly. Of more frequent words, the messages with two of them are read, too. The best
/// messages are then scored again from their texts.
struct WordRanking {
    /// A ranked message.
    struct Ranked {
        let sequence: SequenceNumber
        /// From 0 to 1.
        let score: Double
        /// Whether the message has one of the words, and not only its neighbors.
        let hasWord: Bool
    }

    /// The maximum number of frequent words read in pairs, and of messages read for a pair. Equal scores rank by age, and
    /// only `maxTexts` are ranked.
    private static let (maxPairedWords, maxPairPostings) = (3, 60)
    /// The maximum number of messages of a named time read for a frequent word.
    private static let maxDatedPostings = 300
    /// The number of messages whose neighbors are read: if all words are known exactly, and otherwise, when all their
    /// texts are read, too.
    private static let (maxMatches, maxTexts) = (200, 60)
    /// The shares of the scores of the neighbors before and after a message, by distance.
    private static let neighborShares = [0.5, 0.25]
    /// The share of each of the best scores of a message's session, and their number.
    private static let (sessionShare, sessionCount) = (0.3, 3)
    /// The exponent of a word's weight. It favors a rare word over several frequent ones.
    private static let rarity = 1.6
    /// The factors of the messages of a named author, of messages that repeat others, and of the words of quotations.
    private static let (namedAuthor, echo, quotation) = (2.5, 0.5, 0.3)
    /// The factor of the messages of a time named in the query.
    private static let namedTime = 2.0
    /// The factor of results of tools, so that messages about them come first.
    private static let (tool, toolShare) = (ByteString(Role.tool.rawValue), 0.5)
    /// The maximum number of bytes read of texts, so that some hundred messages of a megabyte cost little.
    private static let maxTextBytes = 8 << 20
    /// The maximum number of ranked messages.
    private static let maxRanked = 1000

    private let source: any SearchSource
    private let words: ParsedQuery
    private let filter: SearchFilter
    private let dated: SearchFilter?
    private let through: SequenceNumber
    private let recency: Recency
    private let stemmer: Stemmer
    /// The messages with each word, and its weight.
    private let postings: [WordPostings]

    /// Creates the ranking of a query.
    /// - Parameters:
    ///   - words: The query without its function words.
    ///   - postings: The messages with each of these words.
    ///   - dated: The filter of a time named in the query.
    ///   - now: The date from which the ages of messages count.
    init(
        _ words: ParsedQuery, _ postings: [WordPostings], in source: any SearchSource, _ filter: SearchFilter,
        dated: SearchFilter? = nil, through: SequenceNumber, now: Date, stemmer: Stemmer
    ) throws {
        self.source = source
        self.words = words
        self.filter = filter
        self.dated = dated
        self.through = through
        recency = Recency(now: now)
        self.stemmer = stemmer
        var postings = try source.together(postings) { list in
            var list = list
            try list.readNewest()
            return list
        }
        // The estimated number of searched messages.
        let all = try WordPostings(
            ParsedQuery.Unit(text: "", terms: [], mayGoOn: false),
            ParsedQuery.Tier(expression: .everything, words: [], hasPrefix: false), in: source, filter, through: through
        ).count(through: through)
        for index in postings.indices {
            let count = postings[index].count(through: through)
            let total = max(all, count)
            postings[index].weight = pow(log(1 + (total - count + 0.5) / (count + 0.5)), Self.rarity)
        }
        self.postings = postings
    }

    /// Returns the best messages.
    func best() throws -> [Ranked] {
        var postings = postings
        var authors = try NamedAuthors(postings.map { ($0.unit, $0.sequences) }, in: source)
        postings.removeNames(authors.units)
        var own = try ownScores(postings)
        let isComplete = postings.allSatisfy(\.isComplete)
        let top = own.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
            .prefix(isComplete ? Self.maxMatches : Self.maxTexts).map(\.key)
        let neighbors = try neighbors(of: top)
        let messages = try messages(order(Set(top).union(neighbors.keys), by: own))
        authors.add(messages.values.lazy.compactMap(\.name), among: postings.map(\.unit))
        if postings.removeNames(authors.units) { own = try ownScores(postings) }
        // A neighbor may lack a required word, or have an excluded one.
        let allowed = words.hasRequirements ? Set(own.keys) : nil
        if !isComplete {
            var scorer = TextScorer(postings.map { ($0.unit, $0.weight) }, stemmer)
            try rescore(order(messages.keys, by: own), &scorer, &own)
        }
        // A quotation is no evidence for its session and neighbors.
        for (sequence, message) in messages where message.echo.isQuotation { own[sequence]? *= Self.quotation }
        var scores = own
        for (sequence, others) in neighbors {
            for (other, distance) in others {
                scores[sequence, default: 0] += Self.neighborShares[distance - 1] * (own[other] ?? 0)
            }
        }
        let sessions = Dictionary(grouping: messages.keys) { messages[$0]?.session }
        for sequences in sessions.values {
            let best = sequences.map { own[$0] ?? 0 }.sorted(by: >).prefix(Self.sessionCount).reduce(0, +)
            for sequence in sequences where scores[sequence] ?? 0 > 0 {
                scores[sequence, default: 0] += Self.sessionShare * best
            }
        }
        for (sequence, message) in messages {
            if authors.contains(role: message.role, name: message.name) {
                scores[sequence, default: 0] *= Self.namedAuthor
            }
            if let dated, dated.timestamps.contains(message.timestamp) {
                scores[sequence, default: 0] *= Self.namedTime
            }
            scores[sequence, default: 0] *= recency.share(of: message.timestamp)
            if message.role == Self.tool { scores[sequence, default: 0] *= Self.toolShare }
            if message.echo.isLate(in: words) { scores[sequence, default: 0] *= Self.echo }
        }
        let total = postings.reduce(0) { $0 + $1.weight }
        return scores.lazy.filter { $0.value > 0 && allowed?.contains($0.key) ?? true }.map {
            Ranked(sequence: $0.key, score: $0.value / (total + $0.value), hasWord: own[$0.key] ?? 0 > 0)
        }
        .sorted { ($0.score, $0.sequence) > ($1.score, $1.sequence) }.prefix(Self.maxRanked).map { $0 }
    }

    private func ownScores(_ postings: [WordPostings]) throws -> [SequenceNumber: Double] {
        var own: [SequenceNumber: Double] = [:]
        for list in postings {
            for (sequence, frequency) in zip(list.sequences, list.frequencies) {
                own[sequence, default: 0] += list.weight * frequency
            }
        }
        try addPairs(postings, to: &own)
        try addDated(postings, to: &own)
        return own
    }

    /// Adds the newest messages with two frequent words each.
    private func addPairs(_ postings: [WordPostings], to own: inout [SequenceNumber: Double]) throws {
        let frequent = postings.filter { !$0.isComplete }.sorted { $0.weight > $1.weight }.prefix(Self.maxPairedWords)
        let pairs = frequent.enumerated().flatMap { index, first in frequent.dropFirst(index + 1).map { (first, $0) } }
        let found = try source.together(pairs) { first, second in
            let both = [first, second].map { words.tier(of: $0.unit).expression }
            return try source.newest(
                ParsedQuery.Tier(expression: .all(both), words: [], hasPrefix: false), filter,
                limit: Self.maxPairPostings, through: through)
        }
        for ((first, second), messages) in zip(pairs, found) {
            for message in messages {
                own[message.sequence] = max(own[message.sequence] ?? 0, 0.5 * (first.weight + second.weight))
            }
        }
    }

    /// Adds the messages of the named time with a frequent word, among the newest ones.
    private func addDated(_ postings: [WordPostings], to own: inout [SequenceNumber: Double]) throws {
        guard let dated else { return }
        var others: [SequenceNumber: Double] = [:]
        let frequent = postings.filter { !$0.isComplete }
        let found = try source.together(frequent) {
            try source.newest(words.tier(of: $0.unit), dated, limit: Self.maxDatedPostings, through: through)
        }
        for (list, messages) in zip(frequent, found) {
            for message in messages where own[message.sequence] == nil {
                others[message.sequence, default: 0] += list.weight * message.score
            }
        }
        own.merge(others) { first, _ in first }
    }

    /// Returns the neighbors of messages and of their neighbors, with the distance in messages.
    private func neighbors(
        of sequences: [SequenceNumber]
    ) throws -> [SequenceNumber: [(sequence: SequenceNumber, distance: Int)]] {
        var neighbors: [SequenceNumber: [SequenceNumber: Int]] = [:]
        let found = try source.together(sequences) {
            ($0, try source.neighbors(of: $0, count: Self.neighborShares.count))
        }
        for (sequence, sides) in found {
            for side in sides {
                for (index, other) in side.enumerated() where other <= through {
                    neighbors[sequence, default: [:]][other] = index + 1
                    neighbors[other, default: [:]][sequence] = index + 1
                }
            }
        }
        // Sums in another order may differ in the last digit, and each page of hits needs the same ones.
        return neighbors.mapValues { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }

    /// Returns messages with the best scores first.
    private func order(_ sequences: some Sequence<SequenceNumber>, by own: [SequenceNumber: Double]) -> [SequenceNumber]
    {
        sequences.map { ($0, own[$0] ?? 0) }.sorted { ($0.1, $0.0) > ($1.1, $1.0) }.map(\.0)
    }

    /// Reads messages, the first ones until the limit of bytes.
    private func messages(_ sequences: [SequenceNumber]) throws -> [SequenceNumber: SearchedMessage] {
        var messages: [SequenceNumber: SearchedMessage] = [:]
        var bytes = 0
        for part in parts(of: sequences) where bytes <= Self.maxTextBytes {
            let found = try source.together(part) { ($0, try source.message($0, passing: nil)) }
            for case (let sequence, let message?) in found where bytes <= Self.maxTextBytes {
                messages[sequence] = message
                bytes += message.byteCount
            }
        }
        return messages
    }

    /// Scores messages from their texts, the first ones until the limit of bytes.
    private func rescore(
        _ sequences: [SequenceNumber], _ scorer: inout TextScorer, _ own: inout [SequenceNumber: Double]
    ) throws {
        var bytes = 0
        for part in parts(of: sequences) where bytes <= Self.maxTextBytes {
            let found = try source.together(part) { sequence in
                (sequence, try source.withText(of: sequence) { ($0.count, scorer.score($0)) })
            }
            for case (let sequence, let (count, score)?) in found where bytes <= Self.maxTextBytes {
                own[sequence] = score
                bytes += count
            }
        }
    }

    /// Returns sequence numbers in parts of 100: the messages of a part are read at once.
    private func parts(of sequences: [SequenceNumber]) -> [ArraySlice<SequenceNumber>] {
        stride(from: 0, to: sequences.count, by: 100).map { sequences[$0..<min($0 + 100, sequences.count)] }
    }
}
