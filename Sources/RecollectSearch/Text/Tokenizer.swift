/// The splitting of a string into search terms.
///
/// Words are runs of letters, digits and marks, folded (`CharacterFolding`), so case, accents, width and ligatures do
/// not matter. The humps of a camel-case identifier are its parts. Snake case, kebab case, dots and slashes separate
/// words. Scripts written without spaces, such as Chinese, Japanese and Thai, give overlapping pairs and single
/// characters. An emoji is a word. Only the first 64 bytes of a word count, and only the first 256 bytes of a base64
/// run (letters and digits joined only by `+ / = - _`).
package enum Tokenizer {
    static let maxTermLength = 64
    static let maxRunLength = 256

    /// Reads UTF-8 in one pass. Invalid UTF-8 and control characters are separators.
    package static func read<Reader: SearchTermReader>(_ text: UnsafeBufferPointer<UInt8>, into reader: inout Reader) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: WordBuilder.capacity) { letters in
            withUnsafeTemporaryAllocation(of: WordBuilder.CaseBoundary.self, capacity: WordBuilder.maxCaseBoundaries) {
                caseBoundaries in
                guard let letters = letters.baseAddress, let caseBoundaries = caseBoundaries.baseAddress else { return }
                var scan = Scan(text: text, word: WordBuilder(letters: letters, caseBoundaries: caseBoundaries))
                scan.run(&reader)
            }
        }
    }

    /// Reads a string.
    package static func read<Reader: SearchTermReader>(_ text: String, into reader: inout Reader) {
        var text = text
        text.withUTF8 { read($0, into: &reader) }
    }
}

/// One pass over a string.
private struct Scan {
    let text: UnsafeBufferPointer<UInt8>
    var word: WordBuilder
    var run = UnspacedText()
    var page = CharacterFolding.Page.none
    /// The start of the current run of base64 characters.
    var base64Start = 0

    mutating func run<Reader: SearchTermReader>(_ reader: inout Reader) {
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            if byte < 0x80 {
                let kind = CharacterFolding.kind(ofASCII: byte)
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
            word.end(at: end, isNoise: end - base64Start > Tokenizer.maxRunLength, &reader)
        }
        if !run.isEmpty { run.end(&reader) }
    }

    private mutating func take<Reader: SearchTermReader>(
        _ scalar: UInt32, _ source: Range<Int>, _ reader: inout Reader
    ) {
        if let kind = CharacterFolding.kindOfCommonScalar(scalar) {
            take(CharacterFolding.Scalar(value: scalar, kind: kind), source, &reader)
            return
        }
        if page.number != scalar >> 8 { page = CharacterFolding.page(of: scalar) }
        for index in page.range(of: scalar) { take(page.scalars[index], source, &reader) }
    }

    private mutating func take<Reader: SearchTermReader>(
        _ scalar: CharacterFolding.Scalar, _ source: Range<Int>, _ reader: inout Reader
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

    /// Returns the scalar at an offset, or the separator U+FFFD of length 1 if none begins there.
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
