/// Finds the words of a query in a string, unit by unit, as byte ranges of the text.
struct SnippetMatcher: SearchTermReader {
    /// A range in the text and its unit of the query.
    struct Match {
        var source: Range<Int>
        let unit: Int
        /// Whether a prefix matched. A prefix match of a whole identifier is replaced by a match of one of its
        /// parts.
        let isBeginning: Bool
    }

    /// A phrase of a unit.
    private struct Phrase {
        let unit: Int
        let terms: [[UInt8]]
        let mayGoOn: Bool
        /// The first byte of its first term. Most terms of a string differ here.
        let firstByte: UInt8
        /// For each number of matched terms, how many of the last ones are also the first ones, and less than all. After a
        /// mismatch, these still match (Knuth, Morris and Pratt).
        let borders: [Int]

        init(unit: Int, terms: [[UInt8]], mayGoOn: Bool) {
            (self.unit, self.terms, self.mayGoOn, firstByte) = (unit, terms, mayGoOn, terms[0][0])
            var borders = [0, 0]
            for term in terms.dropFirst() {
                var border = borders[borders.count - 1]
                while border > 0, terms[border] != term { border = borders[border] }
                borders.append(terms[border] == term ? border + 1 : 0)
            }
            self.borders = borders
        }
    }

    /// The starts of the matched terms of a phrase.
    private struct Progress {
        var starts: [Int] = []
    }

    /// The maximum distance of two matches in one snippet, in bytes.
    static let maxMatchDistance = 120
    private static let maxMatchCount = 512

    private(set) var matches: [Match] = []
    private(set) var isFinished = false
    private let phrases: [Phrase]
    /// The progress of each phrase, among the words of the text and among the parts of an identifier.
    private var inText: [Progress]
    private var inParts: [Progress]
    private let unitCount: Int
    /// The words with other forms, by unit.
    private let forms: [(unit: Int, word: [UInt8], forms: WordForms)]
    private let stemmer: Stemmer?
    /// The start of the last match of each unit.
    private var lastStart: [Int]
    /// The end of reading, set once all units were found close together.
    private var end = Int.max

    /// Creates a matcher.
    /// - Parameter stemmer: The stemmer of the query; `nil` to find no other forms of words.
    init(words: ParsedQuery, stemmer: Stemmer? = nil) {
        self.stemmer = stemmer
        forms = words.units.enumerated().compactMap { index, unit in
            unit.forms.map { (index, unit.terms[0], $0) }
        }
        unitCount = words.units.count
        lastStart = Array(repeating: -Self.maxMatchDistance, count: unitCount)
        phrases = words.units.enumerated().flatMap { index, unit in
            unit.phrases.map {
                Phrase(unit: index, terms: $0, mayGoOn: unit.mayGoOn)
            }
        }
        inText = Array(repeating: Progress(), count: phrases.count)
        inParts = inText
    }

    /// Returns the range of matches for a snippet: among the close ones, those with the most different units, then
    /// the most matches, then the first. `nil` if there are none.
    func bestCluster() -> Range<Int>? {
        let sorted = matches.sorted { $0.source.lowerBound < $1.source.lowerBound }
        var best: (value: Int, range: Range<Int>)?
        for first in sorted.indices {
            var units: UInt64 = 0
            var count = 0
            var last = sorted[first].source.upperBound
            for match in sorted[first...] {
                guard match.source.upperBound <= sorted[first].source.lowerBound + Self.maxMatchDistance || count == 0
                else {
                    break
                }
                units |= 1 << UInt64(match.unit)
                count += 1
                last = max(last, match.source.upperBound)
            }
            let value = units.nonzeroBitCount * Self.maxMatchCount * 2 + count
            if value > best?.value ?? 0 { best = (value, sorted[first].source.lowerBound..<last) }
        }
        return best?.range
    }

    mutating func word(_ term: SearchTerm) {
        if term.source.lowerBound > end { isFinished = true }
        for index in phrases.indices {
            if let match = Self.advance(&inText[index], of: phrases[index], by: term) { add(match) }
        }
        addForms(of: term)
    }

    /// Adds a match of a word in another form than that of the query.
    private mutating func addForms(of term: SearchTerm) {
        guard let stemmer else { return }
        for (unit, word, forms) in forms where !term.bytes.elementsEqual(word) {
            let isForm =
                forms.words.contains { term.bytes.elementsEqual($0) }
                || forms.stems.contains { stem in
                    // A stem differs from the beginning of its words in the last letter at most.
                    term.bytes.starts(with: stem.dropLast())
                        && stemmer.stem(of: Array(term.bytes)) == stem
                }
            if isForm { add(Match(source: term.source, unit: unit, isBeginning: false)) }
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
        addForms(of: term)
    }

    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        // A character alone is between words.
        if isAlone { return word(term) }
        for phrase in phrases where phrase.terms.count == 1 && phrase.terms[0].elementsEqual(term.bytes) {
            add(Match(source: term.source, unit: phrase.unit, isBeginning: false))
        }
    }

    /// Advances a phrase by the next term. Returns a match if the phrase is complete.
    @inline(__always)
    private static func advance(_ progress: inout Progress, of phrase: Phrase, by term: SearchTerm) -> Match? {
        if progress.starts.isEmpty, phrase.firstByte != term.bytes[0] { return nil }
        var isBeginning = fits(term, phrase, at: progress.starts.count)
        while isBeginning == nil, !progress.starts.isEmpty {
            progress.starts.removeFirst(progress.starts.count - phrase.borders[progress.starts.count])
            isBeginning = fits(term, phrase, at: progress.starts.count)
        }
        guard let isBeginning else { return nil }
        progress.starts.append(term.source.lowerBound)
        guard progress.starts.count == phrase.terms.count else { return nil }
        defer { progress.starts.removeAll(keepingCapacity: true) }
        return Match(
            source: progress.starts[0]..<term.source.upperBound, unit: phrase.unit, isBeginning: isBeginning)
    }

    /// Returns false if a term equals the phrase's term at an index, true if it begins with it, and `nil`
    /// otherwise.
    private static func fits(_ term: SearchTerm, _ phrase: Phrase, at position: Int) -> Bool? {
        let wanted = phrase.terms[position]
        guard wanted.count <= term.bytes.count, wanted.elementsEqual(term.bytes.prefix(wanted.count))
        else { return nil }
        if wanted.count == term.bytes.count { return false }
        return phrase.mayGoOn && position == phrase.terms.count - 1 ? true : nil
    }

    private mutating func add(_ match: Match) {
        var mayAdd = matches.count < Self.maxMatchCount || lastStart[match.unit] < 0
        if let last = matches.last, last.unit == match.unit, last.isBeginning,
            last.source.lowerBound <= match.source.lowerBound, last.source.upperBound >= match.source.upperBound
        {
            matches.removeLast()
            mayAdd = true
        }
        // Further matches of a found unit change little.
        if mayAdd { matches.append(match) }
        lastStart[match.unit] = match.source.lowerBound
        if end == .max, lastStart.allSatisfy({ $0 > match.source.upperBound - Self.maxMatchDistance }) {
            end = match.source.upperBound + Self.maxMatchDistance
        }
    }
}
