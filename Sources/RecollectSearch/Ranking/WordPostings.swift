import RecollectCore

/// The newest messages with a word of a query. Those of a word in very many messages are read on demand.
struct WordPostings {
    var unit: ParsedQuery.Unit
    private let tier: ParsedQuery.Tier
    private let source: any SearchSource
    private let filter: SearchFilter
    private let through: SequenceNumber
    /// The beginning of the searched messages.
    private let first: SequenceNumber
    private(set) var sequences: [SequenceNumber] = []
    /// The frequency of the word in each message, from 0 to 1.
    private(set) var frequencies: [Double] = []
    /// Whether these are all messages with the word.
    private(set) var isComplete = true
    /// The part of the word in the score of a message.
    var weight = 0.0

    /// The number of read messages of a word in fewer than `maxCount`, and of one in more.
    private static let (maxCount, maxFrequentCount) = (500, 100)
    /// The message before the newest `maxCount` with a word in more, if the index knows it.
    private var next: SequenceNumber?

    /// Creates the postings of a word with an expression, and reads its messages if there are not very many.
    init(
        _ unit: ParsedQuery.Unit, _ tier: ParsedQuery.Tier, in source: any SearchSource, _ filter: SearchFilter,
        through: SequenceNumber
    ) throws {
        (self.unit, self.tier, self.source, self.filter, self.through) = (unit, tier, source, filter, through)
        first = try source.bounds().lowerBound
        next = try source.message(beforeNewest: Self.maxCount, tier.expression, filter, through: through)
        if next == nil { try read(Self.maxCount) } else { isComplete = false }
    }

    /// Reads the newest messages of a word in very many, unless they were read.
    mutating func readNewest() throws {
        if next != nil, sequences.isEmpty { try read(Self.maxFrequentCount) }
    }

    private mutating func read(_ limit: Int) throws {
        let found = try source.newest(tier, filter, limit: limit, through: through)
        sequences = found.map(\.sequence)
        frequencies = found.map(\.score)
        isComplete = found.count < limit
    }

    /// Reads the newest messages with each word of a query.
    static func all(
        of words: ParsedQuery, in source: any SearchSource, _ filter: SearchFilter, through: SequenceNumber
    ) throws -> [WordPostings] {
        try source.together(words.units) {
            try WordPostings($0, words.tier(of: $0), in: source, filter, through: through)
        }
    }

    /// Returns the estimated number of all messages with the word.
    func count(through: SequenceNumber) -> Double {
        guard !isComplete, let last = next ?? sequences.last else { return Double(sequences.count) }
        let count = Double(next == nil ? sequences.count : Self.maxCount)
        let all = Double(through.rawValue - first.rawValue)
        return count * max(1, all / Double(through.rawValue - last.rawValue + 1))
    }
}

extension [WordPostings] {
    /// Removes the names among the units, unless there are no others. Returns whether there were any.
    @discardableResult
    mutating func removeNames(_ names: [ParsedQuery.Unit]) -> Bool {
        let others = filter { !names.contains(where: $0.unit.isSame) }
        guard !others.isEmpty, others.count < count else { return false }
        self = others
        return true
    }

    /// Whether a message may have all of the words. Reads nothing.
    var mayMeet: Bool {
        let known = filter { $0.isComplete && !$0.unit.mayGoOn }.sorted { $0.sequences.count < $1.sequences.count }
        guard let rarest = known.first else { return true }
        return !known.dropFirst().reduce(into: Set(rarest.sequences)) { $0.formIntersection($1.sequences) }.isEmpty
    }

    /// Returns an expression for all messages with all words, the rarest words first. `nil` if it would not speed up a search
    /// for all words.
    func meeting(through: SequenceNumber) -> SearchExpression? {
        let words = filter { !$0.unit.mayGoOn }.sorted { $0.count(through: through) < $1.count(through: through) }
            .map { $0.unit.expression(.stem) }
        return words.count > 2 ? .rarestFirst(words) : nil
    }
}

extension ParsedQuery {
    /// Returns the query with the words of very many messages as whole words: an index may read all matches of a beginning
    /// before the first result.
    func withWholeWords(_ postings: [WordPostings]) -> ParsedQuery {
        var query = self
        for frequent in postings where !frequent.isComplete { query.setWhole(frequent.unit.terms) }
        return query
    }

    /// Returns the query with the words in the index in place of beginnings, where they are few.
    func listingLongerWords(in source: any SearchSource) throws -> ParsedQuery {
        try listingLongerWords { try source.terms(longerThan: $0) }
    }
}
