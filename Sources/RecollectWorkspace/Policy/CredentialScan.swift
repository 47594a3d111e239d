/// Looks through a text once for what begins like a credential, and looks at each such place within bounds.
///
/// The bytes must outlive it.
struct CredentialScan {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int

    init(bytes: UnsafePointer<UInt8>, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// The first credential: what it is, and where it begins.
    func first() -> (name: String, place: Int)? {
        Self.kinds.withUnsafeBufferPointer { kinds in
            var isInWord = false
            for place in 0..<count {
                let kind = kinds[Int(bytes[place])]
                if kind & Self.beginsKey != 0, !isInWord, let name = key(at: place) { return (name, place) }
                if kind & Self.parts != 0, let found = valueAfter(place) { return found }
                isInWord = kind & Self.isWord != 0
            }
            return nil
        }
    }

    // MARK: Keys that services give

    /// How the keys of a service look: what they begin with, and how many characters of which kind follow.
    private struct Shape {
        let name: String
        let prefix: [UInt8]
        let lengths: ClosedRange<Int>
        /// Whether `-` and `_` are among them.
        let isDashed: Bool
        /// Whether other things begin so, a class in a style sheet for instance.
        let isAlsoWord: Bool

        init(
            _ name: String, _ prefix: String, _ lengths: ClosedRange<Int>, isDashed: Bool = false,
            isAlsoWord: Bool = false
        ) {
            self.name = name
            self.prefix = Array(prefix.utf8)
            self.lengths = lengths
            self.isDashed = isDashed
            self.isAlsoWord = isAlsoWord
        }
    }

    /// A longer prefix stands before its beginning.
    private static let shapes = [
        Shape("an API key of Anthropic", "sk-ant-", 20...400, isDashed: true),
        Shape("an API key of OpenAI", "sk-proj-", 20...400, isDashed: true),
        Shape("an API key", "sk-", 20...400, isDashed: true, isAlsoWord: true),
        Shape("a key of Stripe", "sk_live_", 16...300), Shape("a key of Stripe", "rk_live_", 16...300),
        Shape("a token of GitHub", "github_pat_", 40...300, isDashed: true),
        Shape("a token of GitHub", "ghp_", 30...300), Shape("a token of GitHub", "gho_", 30...300),
        Shape("a token of GitHub", "ghu_", 30...300), Shape("a token of GitHub", "ghs_", 30...300),
        Shape("a token of GitHub", "ghr_", 30...300),
        Shape("a token of GitLab", "glpat-", 20...300, isDashed: true),
        Shape("a token of Slack", "xoxb-", 20...300, isDashed: true),
        Shape("a token of Slack", "xoxp-", 20...300, isDashed: true),
        Shape("a token of Slack", "xoxa-", 20...300, isDashed: true),
        Shape("a token of Slack", "xoxs-", 20...300, isDashed: true),
        Shape("a token of Slack", "xoxr-", 20...300, isDashed: true),
        Shape("a token of Hugging Face", "hf_", 30...100), Shape("a token of npm", "npm_", 36...100),
        Shape("an AWS access key", "AKIA", 16...16), Shape("an AWS access key", "ASIA", 16...16),
        Shape("an API key of Google", "AIza", 35...35, isDashed: true),
    ]

    /// The first two bytes of all of these, of private key blocks and of signed tokens.
    private static let beginnings = Set((shapes.map(\.prefix) + [begin, object]).map { pair($0[0], $0[1]) })

    private static func pair(_ first: UInt8, _ second: UInt8) -> UInt16 { UInt16(first) << 8 | UInt16(second) }

    private func key(at place: Int) -> String? {
        guard place + 1 < count, Self.beginnings.contains(Self.pair(bytes[place], bytes[place + 1])) else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "-"): return isPrivateKey(at: place) ? "a private key" : nil
        case UInt8(ascii: "e"): return isSignedToken(at: place) ? "a signed token (JWT)" : nil
        default: break
        }
        for shape in Self.shapes where has(shape.prefix, at: place) {
            let start = place + shape.prefix.count
            let end = endOfRun(from: start, atMost: shape.lengths.upperBound + 1) {
                Self.isAlphanumeric($0) || shape.isDashed && ($0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_"))
            }
            let isWhole = end == count || Self.kinds[Int(bytes[end])] & Self.isBase64 == 0
            guard shape.lengths.contains(end - start), isWhole, !isCutShort(at: end) else { return nil }
            let value = CredentialValue(start: bytes + start, count: end - start)
            return value.isKey && !(shape.isAlsoWord && value.isOfShortParts) ? shape.name : nil
        }
        return nil
    }

    /// Whether a sample was cut: `sk-abc…`.
    private func isCutShort(at end: Int) -> Bool {
        has(Self.dots, at: end) || has(Self.ellipsis, at: end) || has(Self.stars, at: end)
    }

    private static let dots = Array("...".utf8)
    private static let ellipsis = Array("…".utf8)
    private static let stars = Array("**".utf8)

    /// A block that begins `-----BEGIN … PRIVATE KEY` and has a key in it.
    private func isPrivateKey(at place: Int) -> Bool {
        guard has(Self.begin, at: place) else { return false }
        let start = place + Self.begin.count
        let end = endOfRun(from: start, atMost: 40) { $0 == UInt8(ascii: " ") || Self.isUpper($0) }
        guard (start..<end).contains(where: { has(Self.privateKey, at: $0) }) else { return false }
        // Past the headers, if it has any, comes a line of the key.
        var place = end
        while place < min(count, end + 600) {
            let run = endOfRun(from: place, atMost: 200) { Self.kinds[Int($0)] & Self.isBase64 != 0 }
            if run - place >= 40 { return CredentialValue(start: bytes + place, count: run - place).isVaried }
            place = max(run, place + 1)
        }
        return false
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let privateKey = Array("PRIVATE KEY".utf8)

    /// Three parts in the alphabet of URLs, of which two begin as JSON does.
    private func isSignedToken(at place: Int) -> Bool {
        var start = place
        for part in 0..<3 {
            guard part == 2 || has(Self.object, at: start) else { return false }
            let end = endOfRun(from: start, atMost: 8_192) { Self.isDashedAlphanumeric($0) }
            guard end - start >= (part == 2 ? 20 : 12) else { return false }
            guard part < 2 else { return CredentialValue(start: bytes + start, count: end - start).isKey }
            guard end < count, bytes[end] == UInt8(ascii: ".") else { return false }
            start = end + 1
        }
        return false
    }

    private static let object = Array("eyJ".utf8)

    // MARK: Values behind a name

    /// A credential after `:` or `=`.
    private func valueAfter(_ place: Int) -> (name: String, place: Int)? {
        if has(Self.authority, at: place) { return passwordOfAddress(after: place) }
        guard let name = CredentialName(endingAt: place, in: bytes) else { return nil }
        switch name.kind {
        case .authorization: return isAuthorization(after: place) ? ("an authorization header", name.start) : nil
        case .assigned(let words): return isSecret(after: place) ? (words, name.start) : nil
        case .token: return isSecret(after: place, isNamedLoosely: true) ? ("a token", name.start) : nil
        }
    }

    /// A scheme and what it carries: `Bearer …`.
    private func isAuthorization(after place: Int) -> Bool {
        let start = startOfValue(after: place).start
        let scheme = endOfRun(from: start, atMost: 16) { Self.isAlphanumeric($0) }
        guard scheme > start, scheme < count, bytes[scheme] == UInt8(ascii: " ") else { return false }
        let end = endOfRun(from: scheme + 1, atMost: 4_096) {
            Self.isDashedAlphanumeric($0) || "+/=.".utf8.contains($0)
        }
        let value = CredentialValue(start: bytes + scheme + 1, count: end - scheme - 1)
        return value.count >= 12 && value.isKey && !isCutShort(at: end)
    }

    /// A value that is a credential, if what it is assigned to is to hold one.
    private func isSecret(after place: Int, isNamedLoosely: Bool = false) -> Bool {
        var (start, quote) = startOfValue(after: place)
        if bytes[place] == UInt8(ascii: ":"), quote == nil, let assigned = startOfAssignedValue(pastTypeAt: start) {
            (start, quote) = assigned
        }
        guard quote != nil || !isNamedLoosely || bytes[place] == UInt8(ascii: "=") else { return false }
        let end = endOfValue(from: start, quote: quote)
        let value = CredentialValue(start: bytes + start, count: end - start)
        return value.isSecret(isQuoted: quote != nil) && !isCutShort(at: end)
    }

    /// Where a value begins, past blanks, what else belongs to the sign of assignment, Markdown's marks, and an opening quote, escaped or
    /// not.
    private func startOfValue(after place: Int) -> (start: Int, quote: UInt8?) {
        var start = place + 1
        let limit = min(count, start + 16)
        while start < limit, Self.kinds[Int(bytes[start])] & Self.leads != 0 { start += 1 }
        let isEscaped = start + 1 < count && bytes[start] == UInt8(ascii: "\\")
        let quote = isEscaped ? start + 1 : start
        guard quote < count, Self.kinds[Int(bytes[quote])] & Self.isQuote != 0 else { return (start, nil) }
        return (quote + 1, bytes[quote])
    }

    /// Where the value of `name: Type = value` begins; `nil` where there is no such thing.
    private func startOfAssignedValue(pastTypeAt start: Int) -> (start: Int, quote: UInt8?)? {
        var place = endOfRun(from: start, atMost: 40) { Self.isAlphanumeric($0) || $0 == UInt8(ascii: "?") }
        guard place > start else { return nil }
        while place < min(count, start + 48), bytes[place] == UInt8(ascii: " ") { place += 1 }
        guard place < count, bytes[place] == UInt8(ascii: "=") else { return nil }
        return startOfValue(after: place)
    }

    private func endOfValue(from start: Int, quote: UInt8?) -> Int {
        if let quote { return endOfRun(from: start, atMost: 512) { $0 != quote && $0 >= 0x20 } }
        var end = endOfRun(from: start, atMost: 512) { Self.kinds[Int($0)] & Self.endsValue == 0 && $0 > 0x20 }
        // The end of a sentence.
        while end > start, bytes[end - 1] == UInt8(ascii: ".") || bytes[end - 1] == UInt8(ascii: "!") { end -= 1 }
        return end
    }

    private static let authority = Array("://".utf8)

    /// The password of `scheme://user:password@host`.
    private func passwordOfAddress(after place: Int) -> (name: String, place: Int)? {
        let user = place + Self.authority.count
        let colon = endOfRun(from: user, atMost: 128) { $0 > 0x20 && !":/@?#\"'`<>".utf8.contains($0) }
        guard colon < count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let start = colon + 1
        let end = endOfRun(from: start, atMost: 256) { $0 > 0x20 && !"/@\"'`<>".utf8.contains($0) }
        guard end + 1 < count, bytes[end] == UInt8(ascii: "@"), bytes[end + 1] > 0x20 else { return nil }
        guard CredentialValue(start: bytes + start, count: end - start).isSecret(isQuoted: true) else { return nil }
        return ("a connection string with a password", user)
    }

    // MARK: Bytes

    private func has(_ other: [UInt8], at place: Int) -> Bool {
        guard place + other.count <= count else { return false }
        return other.indices.allSatisfy { bytes[place + $0] == other[$0] }
    }

    private func endOfRun(from start: Int, atMost limit: Int, _ belongs: (UInt8) -> Bool) -> Int {
        var end = start
        let last = min(count, start + limit)
        while end < last, belongs(bytes[end]) { end += 1 }
        return end
    }

    private static func isUpper(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isUpper(byte) || byte >= 0x61 && byte <= 0x7A || byte >= 0x30 && byte <= 0x39
    }

    private static func isDashedAlphanumeric(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static let isWord: UInt8 = 1
    private static let beginsKey: UInt8 = 2
    private static let parts: UInt8 = 4
    private static let isBase64: UInt8 = 8
    private static let endsValue: UInt8 = 16
    private static let leads: UInt8 = 32
    private static let isQuote: UInt8 = 64

    /// What each byte may be.
    private static let kinds: [UInt8] = (0...255).map { (byte: UInt8) in
        func flag(_ flag: UInt8, _ members: String) -> UInt8 { members.utf8.contains(byte) ? flag : 0 }
        return (isAlphanumeric(byte) ? isWord | isBase64 : 0) | flag(isWord, "_") | flag(isBase64, "+/=")
            | flag(beginsKey, "-esrgxhnA") | flag(parts, ":=") | flag(endsValue, ",;&\"'`)]}*|")
            | flag(leads, " \t=>:*")
            | flag(isQuote, "\"'`")
    }
}
