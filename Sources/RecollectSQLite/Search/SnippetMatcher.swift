/// Finds the places of a query's words in a text, one unit's at a time, in the text's own bytes.
struct SnippetMatcher: SearchTermReader {
    /// A place, and which unit of the query it is of.
    struct Match {
        var source: Range<Int>
        let unit: Int
        /// A whole identifier found by its beginning gives way to a part of it that is found.
        let isBeginning: Bool
    }

    /// A phrase of a unit.
    private struct Phrase {
        let unit: Int
        let terms: [[UInt8]]
        let mayGoOn: Bool
        /// The byte that its first term begins with: most terms of a text end here.
        let firstByte: UInt8
    }

    /// How much of a phrase the last terms were, and where it began.
    private struct Progress {
        var count = 0
        var start = 0
    }

    /// Farther apart in bytes, two matches do not stand in one snippet.
    static let reach = 120
    private static let mostMatches = 512

    private(set) var matches: [Match] = []
    private(set) var isFinished = false
    private let phrases: [Phrase]
    /// For each phrase, among the words of the text and among the parts of an identifier.
    private var inText: [Progress]
    private var inParts: [Progress]
    private let unitCount: Int
    /// Where each unit was found last.
    private var lastStart: [Int]
    /// Reading goes on to here, once all units were found together.
    private var end = Int.max

    init(words: SearchWords) {
        unitCount = words.units.count
        lastStart = Array(repeating: -Self.reach, count: unitCount)
        phrases = words.units.enumerated().flatMap { index, unit in
            unit.phrases.map {
                Phrase(unit: index, terms: $0, mayGoOn: unit.mayGoOn, firstByte: $0[0][0])
            }
        }
        inText = Array(repeating: Progress(), count: phrases.count)
        inParts = inText
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
        for index in phrases.indices {
            if let match = Self.advance(&inText[index], of: phrases[index], by: term) { add(match) }
        }
    }

    mutating func pair(_ term: SearchTerm) {
        word(term)
    }

    mutating func part(_ term: SearchTerm, isFirst: Bool) {
        for index in phrases.indices {
            if isFirst { inParts[index] = Progress() }
            if let match = Self.advance(&inParts[index], of: phrases[index], by: term) { add(match) }
        }
    }

    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        for phrase in phrases where phrase.terms.count == 1 && phrase.terms[0].elementsEqual(term.bytes) {
            add(Match(source: term.source, unit: phrase.unit, isBeginning: false))
        }
    }

    /// Goes on in a phrase with the next term; a match if that completes it.
    @inline(__always)
    private static func advance(_ progress: inout Progress, of phrase: Phrase, by term: SearchTerm) -> Match? {
        if progress.count == 0, phrase.firstByte != term.bytes[0] { return nil }
        var isBeginning = fits(term, phrase, at: progress.count)
        if isBeginning == nil, progress.count > 0 {
            progress.count = 0
            isBeginning = fits(term, phrase, at: 0)
        }
        guard let isBeginning else { return nil }
        if progress.count == 0 { progress.start = term.source.lowerBound }
        progress.count += 1
        guard progress.count == phrase.terms.count else { return nil }
        progress.count = 0
        return Match(
            source: progress.start..<term.source.upperBound, unit: phrase.unit, isBeginning: isBeginning)
    }

    /// Whether a term is the phrase's term at a place, wholly (false) or as a beginning (true); nil if it is not.
    private static func fits(_ term: SearchTerm, _ phrase: Phrase, at place: Int) -> Bool? {
        let wanted = phrase.terms[place]
        guard wanted.count <= term.bytes.count, wanted.elementsEqual(term.bytes.prefix(wanted.count))
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
