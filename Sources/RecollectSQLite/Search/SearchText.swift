/// A term of a text: folded bytes that live only during the call that brings them, and where they came from.
struct SearchTerm {
    /// The folded UTF-8, at most `SearchText.longestTerm` bytes: letters, digits, marks and emoji, never a separator.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The bytes of the text that it stands for.
    let source: Range<Int>
}

/// Takes the terms of a text in their order.
protocol SearchTermReader {
    /// A word between two separators, folded as a whole.
    mutating func word(_ term: SearchTerm)
    /// A part of the identifier that `word` just gave: `Socket` of `WebSocketTask`.
    mutating func part(_ term: SearchTerm, isFirst: Bool)
    /// Two neighbouring characters of a script that is written without spaces.
    mutating func pair(_ term: SearchTerm)
    /// One character of such a script, after the pair that it ends; `isAlone` when it has no neighbour.
    mutating func character(_ term: SearchTerm, isAlone: Bool)
    /// Whether the rest of the text does not matter.
    var isFinished: Bool { get }
}

/// What a text is found by.
///
/// Words are runs of letters, digits and marks, folded (`Folding`), so case, accents, width and ligatures do not matter. The
/// humps of an identifier are parts; snake, kebab, dots and slashes separate words. Chinese, Japanese, Thai and others that
/// write without spaces give overlapping pairs and single characters, an emoji is a word. A word counts up to its first 64
/// bytes, and of a run of base64 (letters and digits joined by nothing but `+ / = - _`) the first 256.
enum SearchText {
    static let longestTerm = 64
    static let longestRun = 256

    /// Reads UTF-8 in one pass; bytes that are not UTF-8 and control characters separate.
    static func read<Reader: SearchTermReader>(_ text: UnsafeBufferPointer<UInt8>, into reader: inout Reader) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Word.capacity) { letters in
            withUnsafeTemporaryAllocation(of: Word.Hump.self, capacity: Word.mostHumps) { humps in
                guard let letters = letters.baseAddress, let humps = humps.baseAddress else { return }
                var scan = Scan(text: text, word: Word(letters: letters, humps: humps))
                scan.run(&reader)
            }
        }
    }

    /// Reads a string.
    static func read<Reader: SearchTermReader>(_ text: String, into reader: inout Reader) {
        var text = text
        text.withUTF8 { read($0, into: &reader) }
    }
}

/// One pass over a text.
private struct Scan {
    let text: UnsafeBufferPointer<UInt8>
    var word: Word
    var run = UnspacedRun()
    var page = Folding.Page.none
    /// Where the run of characters that base64 is made of began.
    var base64Start = 0

    mutating func run<Reader: SearchTermReader>(_ reader: inout Reader) {
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            if byte < 0x80 {
                let kind = Folding.kind(ofASCII: byte)
                if kind == .separator {
                    endTerms(at: offset, &reader)
                    if reader.isFinished { return }
                    if !Self.isBase64Mark(byte) { base64Start = offset + 1 }
                } else {
                    if !run.isEmpty { run.end(&reader) }
                    word.append(ascii: byte | (kind == .upper ? 0x20 : 0), kind: kind, at: offset)
                }
                offset += 1
            } else {
                let (scalar, length) = Self.scalar(in: text, at: offset)
                take(scalar, offset..<offset + length, &reader)
                if reader.isFinished { return }
                offset += length
                base64Start = offset
            }
        }
        endTerms(at: text.count, &reader)
    }

    private mutating func endTerms<Reader: SearchTermReader>(at end: Int, _ reader: inout Reader) {
        if !word.isEmpty {
            word.end(at: end, isNoise: end - base64Start > SearchText.longestRun, &reader)
        }
        if !run.isEmpty { run.end(&reader) }
    }

    private mutating func take<Reader: SearchTermReader>(
        _ scalar: UInt32, _ source: Range<Int>, _ reader: inout Reader
    ) {
        if let kind = Folding.kindOfFrequent(scalar) {
            take(Folding.Scalar(value: scalar, kind: kind), source, &reader)
            return
        }
        if page.number != scalar >> 8 { page = Folding.page(of: scalar) }
        for index in page.range(of: scalar) { take(page.scalars[index], source, &reader) }
    }

    private mutating func take<Reader: SearchTermReader>(
        _ scalar: Folding.Scalar, _ source: Range<Int>, _ reader: inout Reader
    ) {
        switch scalar.kind {
        case .lower, .upper, .digit:
            if !run.isEmpty { run.end(&reader) }
            word.append(scalar, source)
        case .unspaced:
            endWord(at: source.lowerBound, &reader)
            run.append(scalar.value, source, &reader)
        case .voicing:
            run.voice(with: scalar.value)
        case .separator:
            endTerms(at: source.lowerBound, &reader)
        case .emoji:
            endTerms(at: source.lowerBound, &reader)
            withEncoded(scalar.value) { reader.word(SearchTerm(bytes: $0, source: source)) }
        }
    }

    private mutating func endWord<Reader: SearchTermReader>(at end: Int, _ reader: inout Reader) {
        if !word.isEmpty { word.end(at: end, isNoise: false, &reader) }
    }

    private static func isBase64Mark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "_"): return true
        default: return false
        }
    }

    /// The scalar at a place; U+FFFD, which separates, of length 1 where none begins.
    private static func scalar(in text: UnsafeBufferPointer<UInt8>, at offset: Int) -> (value: UInt32, length: Int) {
        let first = UInt32(text[offset])
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF5, offset + length <= text.count else { return (0xFFFD, 1) }
        var value = first & (0x7F >> UInt32(length))
        for index in offset + 1..<offset + length {
            guard text[index] & 0xC0 == 0x80 else { return (0xFFFD, 1) }
            value = value << 6 | UInt32(text[index] & 0x3F)
        }
        return Unicode.Scalar(value) == nil ? (0xFFFD, 1) : (value, length)
    }
}

/// The word that is being read.
private struct Word {
    /// Where a part of an identifier begins.
    struct Hump {
        var letter: Int
        var source: Int
        /// Whether it is the last capital of a row, as the `S` of `HTTPServer`.
        var endsCapitals: Bool
    }

    static let mostHumps = 16
    /// A composed syllable is written before it is known whether it fits.
    static let capacity = SearchText.longestTerm + 4

    let letters: UnsafeMutablePointer<UInt8>
    let humps: UnsafeMutablePointer<Hump>
    private var count = 0
    private var humpCount = 0
    private var start = 0
    private var isCut = false
    private var hasLower = false
    private var last = Folding.Kind.separator
    private var beforeLast = Folding.Kind.separator
    private var lastValue: UInt32 = 0
    private var lastLetter = 0
    private var lastSource = 0..<0

    init(letters: UnsafeMutablePointer<UInt8>, humps: UnsafeMutablePointer<Hump>) {
        self.letters = letters
        self.humps = humps
    }

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    mutating func append(ascii byte: UInt8, kind: Folding.Kind, at source: Int) {
        guard count < SearchText.longestTerm else {
            isCut = true
            return
        }
        begin(kind, source..<source + 1)
        letters[count] = byte
        count += 1
        lastValue = UInt32(byte)
    }

    mutating func append(_ scalar: Folding.Scalar, _ source: Range<Int>) {
        if count > 0, !isCut, let composed = Folding.syllable(lastValue, scalar.value) {
            count = lastLetter + encode(composed, to: letters + lastLetter)
            lastValue = composed
            return
        }
        guard !isCut, count + Folding.length(of: scalar.value) <= SearchText.longestTerm else {
            isCut = true
            return
        }
        // `Æ` is one capital, though two letters stand for it.
        if count == 0 || source != lastSource { begin(scalar.kind, source) }
        count += encode(scalar.value, to: letters + count)
        lastValue = scalar.value
    }

    @inline(__always)
    private mutating func begin(_ kind: Folding.Kind, _ source: Range<Int>) {
        if count == 0 {
            start = source.lowerBound
        } else if kind == .upper {
            if last != .upper { addHump(letter: count, source: source.lowerBound, endsCapitals: false) }
        } else if kind == .lower {
            if last == .upper, beforeLast == .upper {
                addHump(letter: lastLetter, source: lastSource.lowerBound, endsCapitals: true)
            }
            hasLower = true
        }
        beforeLast = last
        last = kind
        lastLetter = count
        lastSource = source
    }

    private mutating func addHump(letter: Int, source: Int, endsCapitals: Bool) {
        if humpCount == Self.mostHumps {
            isCut = true
        } else {
            humps[humpCount] = Hump(letter: letter, source: source, endsCapitals: endsCapitals)
            humpCount += 1
        }
    }

    /// Gives the word and its parts to the reader, unless it is noise, and begins anew.
    mutating func end<Reader: SearchTermReader>(at end: Int, isNoise: Bool, _ reader: inout Reader) {
        if !isNoise {
            // What ends the word may stem from its last character: `℉` is `f` behind a separator.
            let end = max(end, lastSource.upperBound)
            reader.word(term(0..<count, start..<end))
            if humpCount > 0, hasLower, !isCut { giveParts(end, &reader) }
        }
        self = Word(letters: letters, humps: humps)
    }

    private mutating func giveParts<Reader: SearchTermReader>(_ end: Int, _ reader: inout Reader) {
        dropPlurals()
        // Random letters have a hump at every other place; nobody looks for those.
        guard humpCount > 0, count >= 2 * (humpCount + 1) else { return }
        var from = Hump(letter: 0, source: start, endsCapitals: false)
        for index in 0...humpCount {
            let to = index < humpCount ? humps[index] : Hump(letter: count, source: end, endsCapitals: false)
            reader.part(term(from.letter..<to.letter, from.source..<to.source), isFirst: index == 0)
            from = to
        }
    }

    /// Keeps `URLs` whole: its `Ls` is no part.
    private mutating func dropPlurals() {
        var kept = 0
        for index in 0..<humpCount {
            let end = index + 1 < humpCount ? humps[index + 1].letter : count
            let isPlural =
                humps[index].endsCapitals && end == humps[index].letter + 2 && letters[end - 1] == UInt8(ascii: "s")
            if !isPlural {
                humps[kept] = humps[index]
                kept += 1
            }
        }
        humpCount = kept
    }

    private func term(_ range: Range<Int>, _ source: Range<Int>) -> SearchTerm {
        SearchTerm(
            bytes: UnsafeBufferPointer(start: letters + range.lowerBound, count: range.count), source: source)
    }
}

/// The run of characters without spaces that is being read: each pair of neighbours, and each alone.
private struct UnspacedRun {
    private var previous: (value: UInt32, source: Range<Int>)?
    /// Not given to the reader before the next character is known, which may be a mark that belongs to this one.
    private var current: (value: UInt32, source: Range<Int>)?

    var isEmpty: Bool { current == nil }

    mutating func append<Reader: SearchTermReader>(_ value: UInt32, _ source: Range<Int>, _ reader: inout Reader) {
        give(isLast: false, &reader)
        previous = current
        current = (value, source)
    }

    mutating func voice(with mark: UInt32) {
        if let last = current, let voiced = Folding.voiced(last.value, mark) { current?.value = voiced }
    }

    mutating func end<Reader: SearchTermReader>(_ reader: inout Reader) {
        give(isLast: true, &reader)
        previous = nil
        current = nil
    }

    private func give<Reader: SearchTermReader>(isLast: Bool, _ reader: inout Reader) {
        guard let current else { return }
        if let previous {
            withEncoded(previous.value, current.value) {
                reader.pair(
                    SearchTerm(bytes: $0, source: previous.source.lowerBound..<current.source.upperBound))
            }
        }
        withEncoded(current.value) {
            reader.character(
                SearchTerm(bytes: $0, source: current.source), isAlone: isLast && previous == nil)
        }
    }
}

/// Writes a scalar as UTF-8 and returns how many bytes that took.
private func encode(_ value: UInt32, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
    let length = Folding.length(of: value)
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

private func withEncoded(_ values: UInt32..., body: (UnsafeBufferPointer<UInt8>) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4 * values.count) { bytes in
        guard let start = bytes.baseAddress else { return }
        var count = 0
        for value in values { count += encode(value, to: start + count) }
        body(UnsafeBufferPointer(start: start, count: count))
    }
}
