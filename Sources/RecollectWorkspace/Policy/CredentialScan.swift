/// A search of a string for credentials, in one pass, with bounded work at each candidate.
///
/// The bytes must outlive the value.
struct CredentialScan {
    let bytes: UnsafePointer<UInt8>
    let count: Int
    /// Whether the text was decoded from base64.
    let isDecoded: Bool

    init(bytes: UnsafePointer<UInt8>, count: Int, isDecoded: Bool = false) {
        self.bytes = bytes
        self.count = count
        self.isDecoded = isDecoded
    }

    /// Returns the description and the position of the first credential.
    func first() -> (name: String, position: Int)? {
        Self.kinds.withUnsafeBufferPointer { kinds in
            var isInWord = false
            // The start of the current run of base64, and the end of the text already decoded.
            var (run, endOfDecoded) = (0, 0)
            for position in 0..<count {
                let kind = kinds[Int(bytes[position])]
                if kind & Self.isEncoded == 0 {
                    if run < position, let found = encoded(from: run, to: position, &endOfDecoded) { return found }
                    run = position + 1
                }
                if kind & Self.beginsKey != 0, !isInWord, let name = key(at: position) { return (name, position) }
                if kind & Self.parts != 0, let found = value(after: position) { return found }
                // The colon of Chinese and Japanese, U+FF1A.
                if bytes[position] == 0x9A, position >= 2, bytes[position - 1] == 0xBC, bytes[position - 2] == 0xEF,
                    let found = value(after: position, ofNameBefore: position - 2)
                {
                    return found
                }
                isInWord = kind & Self.isWord != 0
            }
            return encoded(from: run, to: count, &endOfDecoded)
        }
    }

    // MARK: Values after a name

    /// Returns a credential after `:` or `=`.
    private func value(after position: Int, ofNameBefore end: Int? = nil) -> (name: String, position: Int)? {
        if has(Self.authority, at: position) { return webhook(after: position) ?? passwordOfAddress(after: position) }
        guard let name = CredentialName(endingAt: end ?? position, in: bytes) else {
            return bytes[position] == UInt8(ascii: ":") ? puttyKey(after: position) ?? login(after: position) : nil
        }
        switch name.kind {
        case .authorization: return isAuthorization(after: position) ? ("an authorization header", name.start) : nil
        case .assigned(let words): return isCredential(after: position) ? (words, name.start) : nil
        case .token: return isCredential(after: position, isNamedLoosely: true) ? ("a token", name.start) : nil
        }
    }

    /// Whether an authorization scheme with its credential follows: `Bearer …`.
    private func isAuthorization(after position: Int) -> Bool {
        let start = startOfValue(after: position).start
        let scheme = endOfRun(from: start, atMost: 16) { Self.isAlphanumeric($0) }
        guard scheme > start, scheme < count, bytes[scheme] == UInt8(ascii: " ") else { return false }
        let end = endOfRun(from: scheme + 1, atMost: 4_096) {
            Self.isDashedAlphanumeric($0) || "+/=.".utf8.contains($0)
        }
        let value = CredentialValue(start: bytes + scheme + 1, count: end - scheme - 1)
        return value.count >= 12 && value.isKey && !isCutShort(at: end)
    }

    /// Whether the value after a credential's name is a credential.
    private func isCredential(after position: Int, isNamedLoosely: Bool = false) -> Bool {
        var (start, quote) = startOfValue(after: position)
        if bytes[position] == UInt8(ascii: ":"), quote == nil, let assigned = startOfAssignedValue(pastTypeAt: start) {
            (start, quote) = assigned
        }
        guard quote != nil || !isNamedLoosely || bytes[position] == UInt8(ascii: "=") else { return false }
        let end = endOfValue(from: start, quote: quote)
        let value = CredentialValue(start: bytes + start, count: end - start)
        if value.isCredential(isQuoted: quote != nil) { return !isCutShort(at: end) }
        return !isNamedLoosely && isCredentialOnLineBelow(position)
    }

    /// Returns the start of a value, after blanks, the rest of the assignment operator, Markdown marks, and an
    /// opening quote, escaped or not.
    private func startOfValue(after position: Int) -> (start: Int, quote: UInt8?) {
        var start = position + 1
        let limit = min(count, start + 16)
        while start < limit, Self.kinds[Int(bytes[start])] & Self.leads != 0 { start += 1 }
        let isEscaped = start + 1 < count && bytes[start] == UInt8(ascii: "\\")
        let quote = isEscaped ? start + 1 : start
        guard quote < count, Self.kinds[Int(bytes[quote])] & Self.isQuote != 0 else { return (start, nil) }
        return (quote + 1, bytes[quote])
    }

    /// Returns the start of the value in `name: Type = value`; `nil` for any other text.
    private func startOfAssignedValue(pastTypeAt start: Int) -> (start: Int, quote: UInt8?)? {
        var position = endOfRun(from: start, atMost: 40) { Self.isAlphanumeric($0) || $0 == UInt8(ascii: "?") }
        guard position > start else { return nil }
        while position < min(count, start + 48), bytes[position] == UInt8(ascii: " ") { position += 1 }
        guard position < count, bytes[position] == UInt8(ascii: "=") else { return nil }
        return startOfValue(after: position)
    }

    private func endOfValue(from start: Int, quote: UInt8?) -> Int {
        if let quote { return endOfRun(from: start, atMost: 512) { $0 != quote && $0 >= 0x20 } }
        var end = endOfRun(from: start, atMost: 512) { Self.kinds[Int($0)] & Self.endsValue == 0 && $0 > 0x20 }
        // Punctuation at the end of a sentence is not part of the value.
        while end > start, bytes[end - 1] == UInt8(ascii: ".") || bytes[end - 1] == UInt8(ascii: "!") { end -= 1 }
        return end
    }

    private static let authority = Array("://".utf8)

    /// Returns the password of `scheme://user:password@host`.
    private func passwordOfAddress(after position: Int) -> (name: String, position: Int)? {
        let user = position + Self.authority.count
        let colon = endOfRun(from: user, atMost: 128) { $0 > 0x20 && !":/@?#\"'`<>".utf8.contains($0) }
        guard colon < count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let start = colon + 1
        let end = endOfRun(from: start, atMost: 256) { $0 > 0x20 && !"/@\"'`<>".utf8.contains($0) }
        guard end + 1 < count, bytes[end] == UInt8(ascii: "@"), bytes[end + 1] > 0x20 else { return nil }
        guard CredentialValue(start: bytes + start, count: end - start).isCredential(isQuoted: true) else { return nil }
        return ("a connection string with a password", user)
    }

    // MARK: Bytes

    func has(_ other: [UInt8], at position: Int) -> Bool {
        guard position + other.count <= count else { return false }
        return other.indices.allSatisfy { bytes[position + $0] == other[$0] }
    }

    func endOfRun(from start: Int, atMost limit: Int, _ belongs: (UInt8) -> Bool) -> Int {
        var end = start
        let last = min(count, start + limit)
        while end < last, belongs(bytes[end]) { end += 1 }
        return end
    }

    static func isUpper(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isUpper(byte) || byte >= 0x61 && byte <= 0x7A || byte >= 0x30 && byte <= 0x39
    }

    static func isDashedAlphanumeric(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static let isWord: UInt8 = 1
    private static let beginsKey: UInt8 = 2
    static let parts: UInt8 = 4
    static let isBase64: UInt8 = 8
    private static let endsValue: UInt8 = 16
    private static let leads: UInt8 = 32
    static let isQuote: UInt8 = 64
    static let isEncoded: UInt8 = 128

    /// The classes of each byte.
    static let kinds: [UInt8] = (0...255).map { (byte: UInt8) in
        func flag(_ flag: UInt8, _ members: String) -> UInt8 { members.utf8.contains(byte) ? flag : 0 }
        return (isAlphanumeric(byte) ? isWord | isBase64 | isEncoded : 0) | flag(isWord, "_") | flag(isBase64, "+/=")
            | flag(isEncoded, "+/") | flag(beginsKey, "-esrgxhnAdySm")
            | flag(parts, ":=") | flag(endsValue, ",;&\"'`)]}*|")
            | flag(leads, " \t=>:*")
            | flag(isQuote, "\"'`")
    }
}
