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
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: TextWord.capacity) { letters in
            withUnsafeTemporaryAllocation(of: TextWord.Hump.self, capacity: TextWord.mostHumps) { humps in
                guard let letters = letters.baseAddress, let humps = humps.baseAddress else { return }
                var scan = Scan(text: text, word: TextWord(letters: letters, humps: humps))
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
    var word: TextWord
    var run = UnspacedText()
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
            withUTF8(scalar.value) { reader.word(SearchTerm(bytes: $0, source: source)) }
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
