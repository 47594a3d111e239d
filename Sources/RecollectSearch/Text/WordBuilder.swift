/// The word currently read.
struct WordBuilder {
    /// The start of a part of an identifier.
    struct CaseBoundary {
        var letter: Int
        var source: Int
        /// Whether it is the last of several capitals, as the `S` of `HTTPServer`.
        var endsCapitals: Bool
    }

    static let maxCaseBoundaries = 16
    /// The size of the buffer: a composed syllable is written before its length is checked.
    static let capacity = Tokenizer.maxTermLength + 4

    let letters: UnsafeMutablePointer<UInt8>
    let caseBoundaries: UnsafeMutablePointer<CaseBoundary>
    private var count = 0
    private var caseBoundaryCount = 0
    private var start = 0
    private var isCut = false
    private var hasLower = false
    private var last = CharacterFolding.Kind.separator
    private var beforeLast = CharacterFolding.Kind.separator
    private var lastValue: UInt32 = 0
    private var lastLetter = 0
    private var lastSource = 0..<0

    init(letters: UnsafeMutablePointer<UInt8>, caseBoundaries: UnsafeMutablePointer<CaseBoundary>) {
        self.letters = letters
        self.caseBoundaries = caseBoundaries
    }

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    mutating func append(ascii byte: UInt8, kind: CharacterFolding.Kind, at source: Int) {
        guard count < Tokenizer.maxTermLength else {
            isCut = true
            return
        }
        begin(kind, source..<source + 1)
        letters[count] = byte
        count += 1
        lastValue = UInt32(byte)
    }

    mutating func append(_ scalar: CharacterFolding.Scalar, _ source: Range<Int>) {
        if count > 0, !isCut, let composed = CharacterFolding.syllable(lastValue, scalar.value) {
            count = lastLetter + encodeUTF8(composed, to: letters + lastLetter)
            lastValue = composed
            return
        }
        guard !isCut, count + CharacterFolding.length(of: scalar.value) <= Tokenizer.maxTermLength else {
            isCut = true
            return
        }
        // `Æ` is one capital, although it folds to two letters.
        if count == 0 || source != lastSource { begin(scalar.kind, source) }
        count += encodeUTF8(scalar.value, to: letters + count)
        lastValue = scalar.value
    }

    @inline(__always)
    private mutating func begin(_ kind: CharacterFolding.Kind, _ source: Range<Int>) {
        if count == 0 {
            start = source.lowerBound
        } else if kind == .upper {
            if last != .upper { addCaseBoundary(letter: count, source: source.lowerBound, endsCapitals: false) }
        } else if kind == .lower {
            if last == .upper, beforeLast == .upper {
                addCaseBoundary(letter: lastLetter, source: lastSource.lowerBound, endsCapitals: true)
            }
            hasLower = true
        }
        beforeLast = last
        last = kind
        lastLetter = count
        lastSource = source
    }

    private mutating func addCaseBoundary(letter: Int, source: Int, endsCapitals: Bool) {
        if caseBoundaryCount == Self.maxCaseBoundaries {
            isCut = true
        } else {
            caseBoundaries[caseBoundaryCount] = CaseBoundary(letter: letter, source: source, endsCapitals: endsCapitals)
            caseBoundaryCount += 1
        }
    }

    /// Passes the word and its parts to the reader, unless it is noise, and starts a new word.
    mutating func end<Reader: SearchTermReader>(at end: Int, isNoise: Bool, _ reader: inout Reader) {
        if !isNoise {
            // The end of the word may come from its last character: `℉` is `f` after a separator.
            let end = max(end, lastSource.upperBound)
            reader.word(term(0..<count, start..<end))
            if caseBoundaryCount > 0, hasLower, !isCut { emitParts(end, &reader) }
        }
        self = WordBuilder(letters: letters, caseBoundaries: caseBoundaries)
    }

    private mutating func emitParts<Reader: SearchTermReader>(_ end: Int, _ reader: inout Reader) {
        dropPlurals()
        // Random letters have a hump at every other position. Nobody searches for those.
        guard caseBoundaryCount > 0, count >= 2 * (caseBoundaryCount + 1) else { return }
        var from = CaseBoundary(letter: 0, source: start, endsCapitals: false)
        for index in 0...caseBoundaryCount {
            let to =
                index < caseBoundaryCount
                ? caseBoundaries[index] : CaseBoundary(letter: count, source: end, endsCapitals: false)
            reader.part(term(from.letter..<to.letter, from.source..<to.source), isFirst: index == 0)
            from = to
        }
    }

    /// Removes plural humps: `URLs` stays whole, and its `Ls` is not a part.
    private mutating func dropPlurals() {
        var kept = 0
        for index in 0..<caseBoundaryCount {
            let end = index + 1 < caseBoundaryCount ? caseBoundaries[index + 1].letter : count
            let isPlural =
                caseBoundaries[index].endsCapitals && end == caseBoundaries[index].letter + 2
                && letters[end - 1] == UInt8(ascii: "s")
            if !isPlural {
                caseBoundaries[kept] = caseBoundaries[index]
                kept += 1
            }
        }
        caseBoundaryCount = kept
    }

    private func term(_ range: Range<Int>, _ source: Range<Int>) -> SearchTerm {
        SearchTerm(
            bytes: UnsafeBufferPointer(start: letters + range.lowerBound, count: range.count), source: source)
    }
}

/// The current run of characters without spaces: each pair of neighbors, and each character alone.
struct UnspacedText {
    private var previous: (value: UInt32, source: Range<Int>)?
    /// Passed to the reader only after the next character is known, because a mark may follow.
    private var current: (value: UInt32, source: Range<Int>)?

    var isEmpty: Bool { current == nil }

    mutating func append<Reader: SearchTermReader>(_ value: UInt32, _ source: Range<Int>, _ reader: inout Reader) {
        give(isLast: false, &reader)
        previous = current
        current = (value, source)
    }

    mutating func voice(with mark: UInt32) {
        if let last = current, let voiced = CharacterFolding.voiced(last.value, mark) { current?.value = voiced }
    }

    mutating func end<Reader: SearchTermReader>(_ reader: inout Reader) {
        give(isLast: true, &reader)
        previous = nil
        current = nil
    }

    private func give<Reader: SearchTermReader>(isLast: Bool, _ reader: inout Reader) {
        guard let current else { return }
        if let previous {
            withUTF8(previous.value, current.value) {
                reader.pair(
                    SearchTerm(bytes: $0, source: previous.source.lowerBound..<current.source.upperBound))
            }
        }
        withUTF8(current.value) {
            reader.character(
                SearchTerm(bytes: $0, source: current.source), isAlone: isLast && previous == nil)
        }
    }
}

/// Writes a scalar as UTF-8 and returns the number of bytes.
private func encodeUTF8(_ value: UInt32, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
    let length = CharacterFolding.length(of: value)
    if length == 1 {
        bytes[0] = UInt8(truncatingIfNeeded: value)
        return 1
    }
    for index in 0..<length {
        let bits = UInt8(truncatingIfNeeded: value >> UInt32(6 * (length - 1 - index)))
        let lead: UInt8 = length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0
        bytes[index] = index == 0 ? lead | bits : 0x80 | bits & 0x3F
    }
    return length
}

func withUTF8(_ values: UInt32..., body: (UnsafeBufferPointer<UInt8>) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4 * values.count) { bytes in
        guard let start = bytes.baseAddress else { return }
        var count = 0
        for value in values { count += encodeUTF8(value, to: start + count) }
        body(UnsafeBufferPointer(start: start, count: count))
    }
}
