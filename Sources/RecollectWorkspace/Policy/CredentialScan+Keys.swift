/// Keys of services, private key blocks and signed tokens.
extension CredentialScan {
    /// The form of a service's keys: a prefix, and the number and kind of the following characters.
    private struct Shape {
        let name: String
        let prefix: [UInt8]
        let lengths: ClosedRange<Int>
        /// Whether the following characters include `-` and `_`.
        let isDashed: Bool
        /// Whether other words have the same prefix, such as style sheet classes.
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

    /// The shapes of all services. A longer prefix comes before a prefix of itself.
    private static let shapes = [
        Shape("an Anthropic API key", "sk-ant-", 20...400, isDashed: true),
        Shape("an OpenAI API key", "sk-proj-", 20...400, isDashed: true),
        Shape("an API key", "sk-", 20...400, isDashed: true, isAlsoWord: true),
        Shape("a Stripe API key", "sk_live_", 16...300), Shape("a Stripe API key", "rk_live_", 16...300),
        Shape("a GitHub token", "github_pat_", 40...300, isDashed: true),
        Shape("a GitHub token", "ghp_", 30...300), Shape("a GitHub token", "gho_", 30...300),
        Shape("a GitHub token", "ghu_", 30...300), Shape("a GitHub token", "ghs_", 30...300),
        Shape("a GitHub token", "ghr_", 30...300),
        Shape("a GitLab token", "glpat-", 20...300, isDashed: true),
        Shape("a Slack token", "xoxb-", 20...300, isDashed: true),
        Shape("a Slack token", "xoxp-", 20...300, isDashed: true),
        Shape("a Slack token", "xoxa-", 20...300, isDashed: true),
        Shape("a Slack token", "xoxs-", 20...300, isDashed: true),
        Shape("a Slack token", "xoxr-", 20...300, isDashed: true),
        Shape("a Hugging Face token", "hf_", 30...100), Shape("an npm token", "npm_", 36...100),
        Shape("an AWS access key", "AKIA", 16...16), Shape("an AWS access key", "ASIA", 16...16),
        Shape("a Google API key", "AIza", 35...35, isDashed: true),
        Shape("a Google token", "ya29.", 20...400, isDashed: true),
        Shape("an age secret key", "AGE-SECRET-KEY-1", 50...70),
        Shape("a Docker token", "dckr_pat_", 20...100, isDashed: true),
        Shape("a Slack token", "xapp-", 20...300, isDashed: true),
        Shape("a SendGrid API key", "SG.", 20...24, isDashed: true),
        Shape("a Stripe API key", "sk_test_", 16...300), Shape("a Stripe API key", "rk_test_", 16...300),
    ]

    /// The first two bytes of all prefixes, private key blocks (also of delimiter rows of tables), signed tokens and entries
    /// of `.netrc`.
    private static let beginnings = Set(
        (shapes.map(\.prefix) + [begin, object, machine]).map { pair($0[0], $0[1]) })

    private static func pair(_ first: UInt8, _ second: UInt8) -> UInt16 { UInt16(first) << 8 | UInt16(second) }

    /// Returns the description of a key at this position; `nil` without one.
    func key(at position: Int) -> String? {
        guard position + 1 < count, Self.beginnings.contains(Self.pair(bytes[position], bytes[position + 1])) else {
            return nil
        }
        switch bytes[position] {
        case UInt8(ascii: "-"):
            if isPrivateKey(at: position) { return "a private key" }
            return isTableWithPassword(at: position) ? "a table of passwords" : nil
        case UInt8(ascii: "m"): return isNetrc(at: position) ? "a .netrc password" : nil
        case UInt8(ascii: "e"): return isSignedToken(at: position) ? "a signed token (JWT)" : nil
        default: break
        }
        for shape in Self.shapes where has(shape.prefix, at: position) {
            let start = position + shape.prefix.count
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

    /// Whether the text continues as an abbreviated sample: `sk-abc…`.
    func isCutShort(at end: Int) -> Bool {
        has(Self.dots, at: end) || has(Self.ellipsis, at: end) || has(Self.stars, at: end)
    }

    private static let dots = Array("...".utf8)
    private static let ellipsis = Array("…".utf8)
    private static let stars = Array("**".utf8)

    /// Whether a block with a key begins here: `-----BEGIN … PRIVATE KEY`.
    private func isPrivateKey(at position: Int) -> Bool {
        guard has(Self.begin, at: position) else { return false }
        let start = position + Self.begin.count
        let end = endOfRun(from: start, atMost: 40) { $0 == UInt8(ascii: " ") || Self.isUpper($0) }
        guard (start..<end).contains(where: { has(Self.privateKey, at: $0) }) else { return false }
        // A line of the key follows the headers, if there are any.
        var position = end
        while position < min(count, end + 600) {
            let run = endOfRun(from: position, atMost: 200) { Self.kinds[Int($0)] & Self.isBase64 != 0 }
            if run - position >= 40 { return CredentialValue(start: bytes + position, count: run - position).isVaried }
            position = max(run, position + 1)
        }
        return false
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let privateKey = Array("PRIVATE KEY".utf8)

    /// Whether three parts in the URL alphabet of base64 follow, the first two of them encoded JSON objects.
    private func isSignedToken(at position: Int) -> Bool {
        var start = position
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
}
