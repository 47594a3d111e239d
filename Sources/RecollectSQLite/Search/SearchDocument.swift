/// A message as the index holds it: folded terms with a space between, so that FTS5's plain `ascii` tokenizer, and with it
/// any program that has SQLite, reads and writes the index.
///
/// First come the tokens of the message's owner (`SearchOwner`), then the text's words and pairs in their order, so that a
/// phrase is a phrase; last the parts of identifiers and the single characters, each once, for a phrase must not break on
/// them.
struct SearchDocument: SearchTermReader {
    /// The document as text.
    private(set) var bytes: [UInt8] = []
    private var tail: [UInt8] = []
    private var seen: Set<UInt64> = []
    /// Where the last word begins in `bytes`.
    private var lastWord = 0
    private var takesParts = false

    var isFinished: Bool { false }

    /// Begins another document, keeping the memory of the last.
    mutating func make(owner: String..., text: UnsafeBufferPointer<UInt8>) {
        bytes.removeAll(keepingCapacity: true)
        tail.removeAll(keepingCapacity: true)
        seen.removeAll(keepingCapacity: true)
        for tokens in owner {
            bytes.append(contentsOf: tokens.utf8)
            bytes.append(UInt8(ascii: " "))
        }
        SearchText.read(text, into: &self)
        bytes.append(contentsOf: tail)
    }

    mutating func word(_ term: SearchTerm) {
        bytes.append(UInt8(ascii: " "))
        lastWord = bytes.count
        bytes.append(contentsOf: term.bytes)
    }

    mutating func part(_ term: SearchTerm, isFirst: Bool) {
        // The identifier as a whole decides: its parts stay neighbours, and `SocketTask` is found as a phrase.
        if isFirst { takesParts = seen.insert(bytes[lastWord...].withUnsafeBufferPointer(Self.hash)).inserted }
        if takesParts { appendToTail(term) }
    }

    mutating func pair(_ term: SearchTerm) {
        word(term)
    }

    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        if seen.insert(Self.hash(term.bytes)).inserted { appendToTail(term) }
    }

    private mutating func appendToTail(_ term: SearchTerm) {
        tail.append(UInt8(ascii: " "))
        tail.append(contentsOf: term.bytes)
    }

    /// FNV-1a. Two different identifiers of one message that share all 64 bits would cost the second its parts.
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
