/// A message in the form of the index: folded terms separated by spaces. FTS5's plain `ascii` tokenizer reads it,
/// and so does any program with SQLite.
///
/// The document begins with the tokens of the message's owner (`FilterTokens`). The text's words, pairs, and characters
/// alone follow in order, so that phrases match. The parts of identifiers, the characters of pairs and the stems (`_s` and
/// the stem) are last, each once, because they must not interrupt a phrase. `_i` before the parts of each identifier keeps
/// them from being a phrase with the words before. A word has no term for its stem if it follows from the
/// stem: it is the stem itself, the stem with a final `e` (`message` of `messag`), or the stem with `y` for a final `i`
/// (`history` of `histori`).
package struct SearchDocument: SearchTermReader {
    /// The document as text.
    package private(set) var bytes: [UInt8] = []
    private var tail: [UInt8] = []
    private var seen: Set<UInt64> = []
    /// The start of the last word in `bytes`.
    private var lastWord = 0
    private var takesParts = false
    /// Whether the parts of an identifier are last in the tail. A mark follows them: they are no phrase with a character.
    private var endsWithParts = false

    package var isFinished: Bool { false }

    package init() {}

    /// Starts another document and reuses the memory of the last.
    package mutating func make(owner: String..., text: UnsafeBufferPointer<UInt8>, stemmer: Stemmer) {
        bytes.removeAll(keepingCapacity: true)
        tail.removeAll(keepingCapacity: true)
        seen.removeAll(keepingCapacity: true)
        endsWithParts = false
        for tokens in owner {
            bytes.append(contentsOf: tokens.utf8)
            bytes.append(UInt8(ascii: " "))
        }
        let start = bytes.count
        Tokenizer.read(text, into: &self)
        bytes.append(contentsOf: tail)
        tail.removeAll(keepingCapacity: true)
        bytes[start...].withUnsafeBufferPointer { words in
            stemmer.forEachStem(in: words) { stem, word in
                if !Self.follows(word, from: stem) { appendStem(stem) }
            }
        }
        bytes.append(contentsOf: tail)
    }

    private mutating func appendStem(_ stem: UnsafeBufferPointer<UInt8>) {
        // Another start value, so that a stem is not taken for a single character or an identifier.
        guard seen.insert(~Self.hash(stem)).inserted else { return }
        tail.append(contentsOf: Self.stemMark)
        tail.append(contentsOf: stem)
    }

    private static let stemMark = Array(" _s".utf8)

    /// Whether a word has no term for its stem, which differs from the word.
    private static func follows(
        _ word: Slice<UnsafeBufferPointer<UInt8>>, from stem: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        switch word.last {
        case UInt8(ascii: "e"): stem.elementsEqual(word.dropLast())
        case UInt8(ascii: "y"): stem.last == UInt8(ascii: "i") && stem.dropLast().elementsEqual(word.dropLast())
        default: false
        }
    }

    /// Returns the terms of the index for the words with a stem.
    static func terms(ofStem stem: [UInt8], _ stemmer: Stemmer) -> [[UInt8]] {
        var words = [stem, stem + [UInt8(ascii: "e")]]
        if stem.last == UInt8(ascii: "i") { words.append(stem.dropLast() + [UInt8(ascii: "y")]) }
        return words.filter { stemmer.stem(of: $0) == stem } + [stemMark.dropFirst() + stem]
    }

    package mutating func word(_ term: SearchTerm) {
        bytes.append(UInt8(ascii: " "))
        lastWord = bytes.count
        bytes.append(contentsOf: term.bytes)
    }

    package mutating func part(_ term: SearchTerm, isFirst: Bool) {
        // Parts are added once per identifier: they stay adjacent, and `SocketTask` is found as a phrase.
        if isFirst { takesParts = seen.insert(bytes[lastWord...].withUnsafeBufferPointer(Self.hash)).inserted }
        guard takesParts else { return }
        if isFirst { tail.append(contentsOf: Self.identifierMark) }
        appendToTail(term)
        endsWithParts = true
    }

    private static let identifierMark = Array(" _i".utf8)

    package mutating func pair(_ term: SearchTerm) {
        word(term)
    }

    package mutating func character(_ term: SearchTerm, isAlone: Bool) {
        if isAlone {
            word(term)
        } else if seen.insert(Self.hash(term.bytes)).inserted {
            if endsWithParts { tail.append(contentsOf: Self.identifierMark) }
            endsWithParts = false
            appendToTail(term)
        }
    }

    private mutating func appendToTail(_ term: SearchTerm) {
        tail.append(UInt8(ascii: " "))
        tail.append(contentsOf: term.bytes)
    }

    /// Returns the FNV-1a hash of bytes. If two identifiers of a message have the same 64-bit hash, the parts of
    /// the second are not indexed.
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash = firstHash
        for byte in bytes { hash = next(hash, byte) }
        return hash
    }

    /// Calls `body` with the hash of each term of a document, in order.
    static func forEachTerm(in document: UnsafeBufferPointer<UInt8>, _ body: (UInt64) -> Void) {
        var hash = firstHash
        for byte in document {
            if byte != UInt8(ascii: " ") {
                hash = next(hash, byte)
            } else if hash != firstHash {
                body(hash)
                hash = firstHash
            }
        }
        if hash != firstHash { body(hash) }
    }

    private static let firstHash: UInt64 = 0xCBF2_9CE4_8422_2325
    private static func next(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
