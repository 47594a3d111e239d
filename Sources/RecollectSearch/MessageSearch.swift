import Foundation
import RecollectCore

/// A search for messages.
///
/// The order is total, and later messages do not change it: a page's cursor contains the end of the searched feed.
/// 1. Messages with every word in full come before messages with another form or the beginning of a word.
/// 2. In each of these groups, the newest 2,000 are ordered by score (`SearchScore`), and by age if scores are equal,
///    the newer first. Of three words or more, fewer are, because each word is looked up in each message (800 of five
///    words). Older ones follow by age alone. So a word in half of all messages costs no more than a rare one.
/// 3. If the query names a time (`DateExpression`), messages of that time with all other words are in the same two
///    groups.
/// 4. If words are misspelled, so are messages with the corrected words (`SpellingCorrector`).
/// 5. Messages with some of the words are last (`WordRanking`). If no message has all words, or for a whole question,
///    their neighbors in the session are hits, too, even without any of the words. A message that repeats others
///    (`MessageEcho`) is in this group even if it has all words. A word in no message counts as
///    the longer words beginning with it in the newest messages.
///
/// Forked copies of a message are shown once, unless the query names a session. Messages of several agents of a session
/// are shown once if their ID, role and content are the same, and so is a short question asked again in the same words,
/// unless the query names a session.
package struct MessageSearch {
    private let source: any SearchSource
    private let query: SearchQuery
    private let filter: SearchFilter
    private let stemmer: Stemmer
    private let through: SequenceNumber
    private let now: Date
    private let typed: ParsedQuery
    /// The words, without function words in a whole question.
    private let words: ParsedQuery
    /// The messages with each of several words.
    private var postings: [WordPostings]
    /// The other words of a query that names a time, and the filter of this time.
    private let dated: Dated?
    private var collector: HitCollector

    /// A query that names a time.
    private struct Dated {
        let name: String
        let words: ParsedQuery
        let filter: SearchFilter
    }

    private static let tool = ByteString(Role.tool.rawValue)
    /// The number of best matches checked for role and date, and of newest messages searched for longer words.
    private static let checkedCount = 100
    /// The number of newest matches ranked by score. Of three words or more, it is smaller.
    private static let rankedCount = 2000
    /// The maximum number of longer words in place of a word in no message.
    private static let maxLongerWords = 64
    /// The number of unranked matches read at once, at least.
    private static let batchCount = 100

    /// Returns a page of the hits of a query.
    /// - Parameter now: The date from which times in the query count: "yesterday".
    package static func page(
        of query: SearchQuery, in source: any SearchSource, now: Date
    ) throws -> Page<SearchHit, SearchCursor> {
        guard var applied = try QueryFields.applied(to: query, source),
            let filter = try SearchFilter(applied, in: source)
        else { return Page(elements: [], next: nil) }
        let hasOnlyFields = applied.text != query.text && applied.text.allSatisfy(\.isWhitespace)
        if hasOnlyFields, applied.order == .relevance { applied.order = .newestFirst }
        var search = try MessageSearch(applied, in: source, filter, now: now)
        if hasOnlyFields { return try search.allByDate() }
        return query.order == .relevance ? try search.byRelevance() : try search.byDate()
    }

    private init(_ query: SearchQuery, in source: any SearchSource, _ filter: SearchFilter, now: Date) throws {
        self.source = source
        self.query = query
        self.filter = filter
        self.now = now
        stemmer = Stemmer()
        through = try query.cursor?.through.map { SequenceNumber(rawValue: $0.sequence) } ?? source.bounds().upperBound
        typed = ParsedQuery(query.text, stemmer: stemmer)
        let words = typed.withoutFunctionWordsIfLong
        postings = words.units.count > 1 ? try WordPostings.all(of: words, in: source, filter, through: through) : []
        self.words = try words.withWholeWords(postings).listingLongerWords(in: source)
        dated = try Self.dated(query, stemmer, postings, now: now, source)
        collector = HitCollector(query, self.words, stemmer, in: source, filter, through: through)
    }

    /// Returns the words of a query besides the time that it names, and the filter of this time; `nil` if it names none,
    /// or has no other words except function words.
    private static func dated(
        _ query: SearchQuery, _ stemmer: Stemmer, _ postings: [WordPostings], now: Date, _ source: any SearchSource
    ) throws -> Dated? {
        guard let (time, rest) = ParsedQuery.time(in: query.text, now: now) else { return nil }
        let words = try ParsedQuery(rest, stemmer: stemmer).content.withWholeWords(postings)
            .listingLongerWords(in: source)
        guard !FunctionWords.content(of: words.units).isEmpty else { return nil }
        var narrow = query
        narrow.from = max(query.from ?? time.from, time.from)
        narrow.until = min(query.until ?? time.until, time.until)
        return try SearchFilter(narrow, in: source).map { Dated(name: time.name, words: words, filter: $0) }
    }

    /// Returns the page of the best hits.
    private mutating func byRelevance() throws -> Page<SearchHit, SearchCursor> {
        if try addRanked(words, filter, bases: [13, 11]) { return collector.page }
        if let dated {
            collector.search(for: dated.words, stemmer, dated.filter)
            if try addRanked(dated.words, dated.filter, bases: [9, 7]) { return collector.page }
        }
        let corrected = try correctedWords()
        if let corrected {
            collector.search(for: corrected, stemmer, filter, time: time)
            if try addRanked(corrected, filter, bases: [5, 3]) { return collector.page }
        }
        let hasComplete = collector.count > 0 && words.units.count == typed.units.count
        if words.units.count > 1 || !collector.late.isEmpty {
            let content = try searchForSomeWords(corrected)
            for ranked in try someWords(content) where !collector.hasSeen(ranked.sequence) {
                guard ranked.hasWord || !hasComplete else { continue }
                if try collector.add(ranked.sequence, score: ranked.score) { return collector.page }
            }
        }
        for sequence in collector.late.sorted(by: >) where !collector.hasSeen(sequence) {
            if try collector.add(sequence, score: 0) { break }
        }
        return collector.page
    }

    /// Returns the page of all messages passing the filter, by date.
    private mutating func allByDate() throws -> Page<SearchHit, SearchCursor> {
        _ = try addDated(.everything, filter)
        return collector.page
    }

    /// Returns the page of the hits next in an order by date.
    private mutating func byDate() throws -> Page<SearchHit, SearchCursor> {
        if let dated {
            if try addDated([(words, filter), (dated.words, dated.filter)]) { return collector.page }
        } else if try !words.units.isEmpty && addDated(words.anyForm, filter, hasPrefix: words.hasPrefix) {
            return collector.page
        }
        guard collector.count == 0 else { return collector.page }
        let corrected = try correctedWords()
        if let corrected {
            collector.search(for: corrected, stemmer, filter, time: time)
            if try addDated(corrected.anyForm, filter, hasPrefix: corrected.hasPrefix) { return collector.page }
        }
        guard collector.count == 0, typed.units.count > 1 else { return collector.page }
        let content = try searchForSomeWords(corrected)
        guard !content.units.isEmpty else { return collector.page }
        _ = try addDated(content.anyWord, filter)
        return collector.page
    }

    /// Returns the words with corrections, or `nil` if none is misspelled.
    private func correctedWords() throws -> ParsedQuery? {
        try SpellingCorrector(in: source, through: through, stemmer).corrected(dated?.words ?? words)
    }

    /// Returns the messages with each word, and reads those not yet read.
    private func postings(of words: ParsedQuery) throws -> [WordPostings] {
        try source.together(words.units) { unit in
            guard
                var known = postings.first(where: {
                    $0.unit.terms == unit.terms && $0.unit.requirement == unit.requirement
                })
            else { return try WordPostings(unit, words.tier(of: unit), in: source, filter, through: through) }
            known.unit = unit
            return known
        }
    }

    /// Returns the best messages with some of the words.
    private func someWords(_ content: ParsedQuery) throws -> [WordRanking.Ranked] {
        try WordRanking(
            content, postings(of: content), in: source, filter, dated: dated?.filter, through: through, now: now,
            stemmer: stemmer
        ).best()
    }

    /// Returns the newest messages passing the filter with a word in a form, among the newest ones with it.
    private func visible(
        _ unit: ParsedQuery.Unit, _ form: ParsedQuery.Unit.Form, first count: Int
    ) throws -> [SequenceNumber] {
        var visible: [SequenceNumber] = []
        // Most messages pass.
        for limit in [2 * count, Self.rankedCount] {
            let words = ParsedQuery.Tier(expression: unit.expression(form), words: [], hasPrefix: unit.isPrefix)
            let found = try source.newest(words, filter, limit: limit, through: through)
            visible = []
            for match in found where visible.count < count {
                if try source.passes(match.sequence, filter) { visible.append(match.sequence) }
            }
            if visible.count == count || found.count < limit { break }
        }
        return visible
    }

    /// Returns some longer words beginning with a word, in the newest messages with one of them.
    private func longerWords(than unit: ParsedQuery.Unit) throws -> [[UInt8]] {
        var document = SearchDocument()
        var words: Set<[UInt8]> = []
        for sequence in try visible(unit, .prefix, first: Self.checkedCount)
        where words.count < Self.maxLongerWords {
            try source.withText(of: sequence) { text in
                document.make(text: text, stemmer: stemmer)
                let terms = document.bytes.split(separator: UInt8(ascii: " "))
                words.formUnion(terms.lazy.filter { $0.starts(with: unit.terms[0]) }.map(Array.init))
            }
        }
        return Array(words.sorted { $0.lexicographicallyPrecedes($1) }.prefix(Self.maxLongerWords))
    }

    /// The time named in the query: messages of other times lack it.
    private var time: (name: String, timestamps: ClosedRange<Int64>)? {
        dated.map { ($0.name, $0.filter.timestamps) }
    }

    /// Returns the words of which a message may lack some. Further candidates are for them.
    private mutating func searchForSomeWords(_ corrected: ParsedQuery?) throws -> ParsedQuery {
        var content = (corrected ?? dated?.words ?? words).content
        for (index, unit) in content.units.enumerated() where unit.mayBeLonger {
            guard try visible(unit, .stem, first: 1).isEmpty else { continue }
            let longer = try longerWords(than: unit)
            guard !longer.isEmpty else { continue }
            content.match(longerWords: longer, at: index)
            // The postings of each word are of messages with all required words.
            postings = []
        }
        collector.search(for: content, stemmer, filter, isAnyEnough: true, time: time)
        return content
    }

    /// Adds the messages with an expression by date. Returns whether the page is complete.
    private mutating func addDated(_ expression: SearchExpression, _ filter: SearchFilter, hasPrefix: Bool = false)
        throws -> Bool
    {
        let dated = DatedExpression(expression: expression, hasPrefix: hasPrefix, filter: filter)
        return try source.forEachByDate(dated, query.order, through: through, after: firstDate) {
            try collector.add($0.sequence, score: Double($0.timestamp))
        }
    }

    /// Adds the messages with all words of one of the queries by date. Returns whether the page is complete.
    private mutating func addDated(_ queries: [(words: ParsedQuery, filter: SearchFilter)]) throws -> Bool {
        // A part of the matches, then twice as many, until the page is complete.
        var count = query.maxHitsPerSession == nil ? max(500, 2 * collector.missing) : .max
        while true {
            var found: [SequenceNumber: (match: DatedMatch, query: Int)] = [:]
            let isInOrder = DatedMatch.isInOrder(query.order)
            /// The end of the read part of the matches.
            var end: DatedMatch?
            for (number, (words, filter)) in queries.enumerated() where !words.units.isEmpty {
                var rest = count
                let dated = DatedExpression(
                    expression: words.anyForm, hasPrefix: words.hasPrefix, filter: filter)
                _ = try source.forEachByDate(dated, query.order, through: through, after: firstDate) { match in
                    if found[match.sequence] == nil { found[match.sequence] = (match, number) }
                    rest -= 1
                    if rest == 0 { end = [end, match].compactMap { $0 }.min(by: isInOrder) }
                    return rest == 0
                }
            }
            var searched: Int?
            for (match, number) in found.values.sorted(by: { isInOrder($0.match, $1.match) }) {
                if let end, isInOrder(end, match) { break }
                guard !collector.hasSeen(match.sequence) else { continue }
                if searched != number {
                    collector.search(for: queries[number].words, stemmer, queries[number].filter)
                    searched = number
                }
                if try collector.add(match.sequence, score: Double(match.timestamp)) { return true }
            }
            guard end != nil else { return false }
            count *= 2
        }
    }

    /// The date of the last hit before the page. The hits of each session count from the first page on.
    private var firstDate: Double? { query.maxHitsPerSession == nil ? query.cursor?.score : nil }

    /// Adds the messages with all words by score. Returns whether the page is complete.
    /// - Parameter bases: Added to the scores: for messages with the words in full, and for the others.
    private mutating func addRanked(_ words: ParsedQuery, _ filter: SearchFilter, bases: [Double]) throws -> Bool {
        let postings = words.units.count > 1 && !words.mayRequireBeginning ? try postings(of: words) : []
        guard postings.mayMeet else { return false }
        let meeting = postings.meeting(through: through)
        if words.isWholeQuestion {
            guard try source.mayFind(meeting ?? words.anyForm, through: through) else { return false }
        }
        let rankedCount = 2 * Self.rankedCount / max(2, words.units.count)
        for (var tier, base) in zip(words.tiers, bases) {
            if let meeting { tier.expression = .all([tier.expression, meeting]) }
            var bound = through
            var isRanked = true
            var batchCount = Self.batchCount
            while true {
                let wanted = isRanked ? rankedCount : max(batchCount, collector.missing)
                let found = try source.candidates(tier, filter, limit: wanted, through: bound)
                // Scores decrease from group to group and from ranked to unranked matches, as in the order.
                let scored =
                    isRanked
                    ? try ranked(found, filter).map { ($0.sequence, base + $0.score) }
                    : found.map { ($0.sequence, base - 1) }
                // Two scores may be equal only after the addition.
                for (sequence, score) in scored.sorted(by: { ($0.1, $0.0) > ($1.1, $1.0) })
                where !collector.hasSeen(sequence) {
                    if try collector.add(sequence, score: score) { return true }
                }
                guard found.count == wanted, let last = found.last else { break }
                bound = last.sequence.previous
                if !isRanked { batchCount *= 2 }
                isRanked = false
            }
        }
        return false
    }

    /// Returns candidates with their scores. Of the best ones, recent messages get a little more, and results of tools
    /// come after the other messages.
    private func ranked(
        _ found: [SearchMatch], _ filter: SearchFilter
    ) throws -> [SearchMatch] {
        var ordered = found.sorted { ($0.score, $0.sequence) > ($1.score, $1.sequence) }
        var best: [(index: Int, isTool: Bool, share: Double)] = []
        let recency = Recency(now: now)
        for (index, candidate) in ordered.enumerated() {
            // Messages of other users must not change the scores.
            guard let message = try source.facts(candidate.sequence, passing: filter) else { continue }
            best.append((index, message.role == Self.tool, recency.share(of: message.timestamp)))
            if best.count == Self.checkedCount { break }
        }
        let least = best.last.map { ordered[$0.index].score } ?? 0
        for (index, isTool, share) in best {
            let score = ordered[index].score
            // Scores are at most 1.
            ordered[index].score = isTool ? least * score : least + (score - least) * share
        }
        return ordered
    }
}
