/// Finds the places of a query's words in a text, one unit's at a time, in the text's own bytes.
struct SnippetMatcher: SearchTermReader {
    /// A place, and which unit of the query it is of.
    struct Match {
        var source: Range<Int>
        let unit: Int
        /// A whole identifier found by its beginning gives way to a part of it that is found.
        let isBeginning: Bool
    }

    /// A unit's phrase, and how much of it the last terms were, in the text and among the parts of an identifier.
    private struct Phrase {
        let unit: Int
        let terms: [[UInt8]]
        let mayGoOn: Bool
        var inText = Progress()
        var inParts = Progress()
    }

    private struct Progress {
        var count = 0
        var start = 0
    }

    /// Farther apart in bytes, two matches do not stand in one snippet.
    static let reach = 140
    private static let mostMatches = 512

    private(set) var matches: [Match] = []
    private(set) var isFinished = false
    private var phrases: [Phrase]
    private let unitCount: Int
    /// Where each unit was found last.
    private var lastStart: [Int]
    /// Reading goes on to here, once all units were found together.
    private var end = Int.max

    init(words: SearchWords) {
        unitCount = words.units.count
        lastStart = Array(repeating: -Self.reach, count: unitCount)
        phrases = words.units.enumerated().flatMap { index, unit in
            unit.phrases.map { Phrase(unit: index, terms: $0, mayGoOn: unit.mayGoOn) }
        }
    }

    /// The matches that a snippet should show: of those that stand together the most different ones, then the most, then
    /// the first; empty if there are none.
    func bestCluster() -> Range<Int>? {
        let sorted = matches.sorted { $0.source.lowerBound < $1.source.lowerBound }
        var best: (value: Int, range: Range<Int>)?
        for first in sorted.indices {
            var units: UInt64 = 0
            var count = 0
            var last = sorted[first].source.upperBound
            for match in sorted[first...] {
                guard match.source.upperBound <= sorted[first].source.lowerBound + Self.reach || count == 0 else {
                    break
                }
                units |= 1 << UInt64(match.unit)
                count += 1
                last = max(last, match.source.upperBound)
            }
            let value = units.nonzeroBitCount * Self.mostMatches * 2 + count
            if value > best?.value ?? 0 { best = (value, sorted[first].source.lowerBound..<last) }
        }
        return best?.range
    }

    mutating func word(_ term: SearchTerm) {
        if term.source.lowerBound > end { isFinished = true }
        for index in phrases.indices { advance(index, \.inText, term) }
    }

    mutating func pair(_ term: SearchTerm) {
        word(term)
    }

    mutating func part(_ term: SearchTerm, isFirst: Bool) {
        for index in phrases.indices {
            if isFirst { phrases[index].inParts = Progress() }
            advance(index, \.inParts, term)
        }
    }

    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        for phrase in phrases where phrase.terms.count == 1 && phrase.terms[0].elementsEqual(term.bytes) {
            add(Match(source: term.source, unit: phrase.unit, isBeginning: false))
        }
    }

    private mutating func advance(_ index: Int, _ progress: WritableKeyPath<Phrase, Progress>, _ term: SearchTerm) {
        let count = phrases[index][keyPath: progress].count
        guard let isBeginning = fits(term, phrases[index], at: count) else {
            phrases[index][keyPath: progress].count = 0
            if count > 0 { advance(index, progress, term) }
            return
        }
        if count == 0 { phrases[index][keyPath: progress].start = term.source.lowerBound }
        guard count + 1 == phrases[index].terms.count else {
            phrases[index][keyPath: progress].count += 1
            return
        }
        phrases[index][keyPath: progress].count = 0
        add(
            Match(
                source: phrases[index][keyPath: progress].start..<term.source.upperBound, unit: phrases[index].unit,
                isBeginning: isBeginning))
    }

    /// Whether a term is the phrase's term at a place, wholly (false) or as a beginning (true); nil if it is not.
    @inline(__always)
    private func fits(_ term: SearchTerm, _ phrase: Phrase, at place: Int) -> Bool? {
        let wanted = phrase.terms[place]
        guard wanted.count <= term.bytes.count, wanted[0] == term.bytes[0],
            wanted.elementsEqual(term.bytes.prefix(wanted.count))
        else { return nil }
        if wanted.count == term.bytes.count { return false }
        return phrase.mayGoOn && place == phrase.terms.count - 1 ? true : nil
    }

    private mutating func add(_ match: Match) {
        if let last = matches.last, last.unit == match.unit, last.isBeginning,
            last.source.lowerBound <= match.source.lowerBound, last.source.upperBound >= match.source.upperBound
        {
            matches.removeLast()
        }
        matches.append(match)
        lastStart[match.unit] = match.source.lowerBound
        if end == .max, lastStart.allSatisfy({ $0 > match.source.upperBound - Self.reach }) {
            end = match.source.upperBound + Self.reach
        }
        if matches.count == Self.mostMatches { isFinished = true }
    }
}
