import GRDB
import RecollectCore

/// The newest messages with a word of a query. Those of a word in very many messages are read on demand.
struct WordPostings {
    var unit: ParsedQuery.Unit
    private let tier: ParsedQuery.Tier
    private let filter: SearchFilter
    private let through: SequenceNumber
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
    init(_ unit: ParsedQuery.Unit, _ tier: ParsedQuery.Tier, _ filter: SearchFilter, through: SequenceNumber) throws {
        (self.unit, self.tier, self.filter, self.through) = (unit, tier, filter, through)
        next = try filter.sequence(afterNewest: Self.maxCount, tier.match, through: through)
        if next == nil { try read(Self.maxCount) } else { isComplete = false }
    }

    /// Reads the newest messages of a word in very many, unless they were read.
    mutating func readNewest() throws {
        if next != nil, sequences.isEmpty { try read(Self.maxFrequentCount) }
    }

    private mutating func read(_ limit: Int) throws {
        let found = try filter.newest(tier.match, phraseCount: tier.phraseCount, limit: limit, through: through)
        sequences = found.map(\.sequence)
        frequencies = found.map(\.frequency)
        isComplete = found.count < limit
    }

    /// Reads the newest messages with each word of a query.
    static func all(
        of words: ParsedQuery, _ filter: SearchFilter, through: SequenceNumber
    ) throws -> [WordPostings] {
        try words.units.map { try WordPostings($0, words.tier(of: $0), filter, through: through) }
    }

    /// Returns the estimated number of all messages with the word.
    func count(through: SequenceNumber) -> Double {
        guard !isComplete, let last = next ?? sequences.last else { return Double(sequences.count) }
        let count = Double(next == nil ? sequences.count : Self.maxCount)
        return count * max(1, Double(through.rawValue) / Double(through.rawValue - last.rawValue + 1))
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

    /// Returns an FTS5 expression, true for all messages with all words: the rarest words first. `nil` if it would not
    /// speed up a search for all words.
    func meeting(through: SequenceNumber) -> String? {
        let words = filter { !$0.unit.mayGoOn }.sorted { $0.count(through: through) < $1.count(through: through) }
            .map { ParsedQuery.match(of: $0.unit, .stem) }
        guard words.count > 2 else { return nil }
        // FTS5 looks up all words of an `AND` for each match of any of them. `NOT` a term of no message keeps it from joining
        // nested ones, so that each word is looked up only for the messages with all rarer ones. `NOT` binds first.
        return words.dropFirst().reduce(words[0]) { rarer, word in "(\(rarer) AND \(word)) NOT \"_\"" }
    }
}

extension ParsedQuery {
    /// Returns the query with the words of very many messages as whole words: FTS5 reads all matches of a beginning before
    /// the first result.
    func withWholeWords(_ postings: [WordPostings]) -> ParsedQuery {
        var query = self
        for frequent in postings where !frequent.isComplete { query.setWhole(frequent.unit.terms) }
        return query
    }
}
