/// The name before a `:` or `=`, if it is one under which credentials are kept: `password`, `API_KEY`, `"clientSecret"`, `API key`.
///
/// Read backwards from the sign, without copying: every sign of a text is looked at.
struct CredentialName {
    enum Kind {
        /// A header that carries credentials.
        case authorization
        /// What is assigned is a credential, in words.
        case assigned(String)
        /// A lone `token`, which is also a word of other trades: a credential only in quotes or behind `=`.
        case token
    }

    let kind: Kind
    /// Where the name begins.
    let start: Int

    /// The name that ends before a place; `nil` where it is another, or none.
    init?(endingAt end: Int, in bytes: UnsafePointer<UInt8>) {
        let limit = max(0, end - 48)
        var place = end
        // What may stand between a name and its sign: blanks, a closing quote, escaped too, or bracket, Markdown's marks, a number.
        while place > limit, Self.between.contains(bytes[place - 1]) { place -= 1 }
        guard place > limit, Self.lastLetters.contains(bytes[place - 1] | 0x20) else { return nil }
        for name in Self.names {
            guard let start = Self.start(of: name.backwards, endingAt: place, notBefore: limit, in: bytes) else {
                continue
            }
            if case .token = name.kind, start > 0, Self.isPartOfName(bytes[start - 1]) { continue }
            kind = name.kind
            self.start = start
            return
        }
        return nil
    }

    /// Where a name begins that ends at a place, in whatever case, with `_`, `-` or one blank between its letters.
    private static func start(
        of backwards: [UInt8], endingAt end: Int, notBefore limit: Int, in bytes: UnsafePointer<UInt8>
    ) -> Int? {
        var place = end
        var blanks = 0
        for letter in backwards {
            while place > limit, place < end, isJoint(bytes[place - 1]), blanks < 2 {
                if bytes[place - 1] == UInt8(ascii: " ") { blanks += 1 }
                place -= 1
            }
            guard place > limit, bytes[place - 1] | 0x20 == letter, blanks < 2 else { return nil }
            place -= 1
        }
        return place
    }

    private static func isJoint(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private static let between = Array(" \t\"'`\\*]0123456789_".utf8)
    private static let lastLetters = Array(Set(names.compactMap(\.backwards.first)))

    private static let names: [(backwards: [UInt8], kind: Kind)] = [
        (["authorization"], Kind.authorization),
        (["password", "passwd", "passphrase", "passwort", "kennwort", "pwd"], .assigned("a password")),
        (["apikey"], .assigned("an API key")),
        (
            ["secret", "secretkey", "accesskey", "accountkey", "privatekey", "encryptionkey", "signingkey"],
            .assigned("a secret key")
        ),
        (
            ["accesstoken", "authtoken", "apitoken", "bearertoken", "refreshtoken", "bottoken", "secrettoken"],
            .assigned("a token")
        ),
        (["token"], .token),
    ].flatMap { names, kind in names.map { (Array($0.utf8.reversed()), kind) } }
}
