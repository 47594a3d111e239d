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
        while place > limit {
            let width = Self.widthOfBlank(endingAt: place, notBefore: limit, in: bytes)
            guard width > 0 else { break }
            place -= width
        }
        guard place > limit, Self.lastLetters.contains(bytes[place - 1] | 0x20) else { return nil }
        for name in Self.names {
            guard let start = Self.start(of: name.backwards, endingAt: place, notBefore: limit, in: bytes) else {
                continue
            }
            if name.isWord, start > 0, Self.isPartOfName(bytes[start - 1]) { continue }
            kind = name.kind
            self.start = start
            return
        }
        return nil
    }

    /// The width in bytes of a blank or mark between a name and its sign; 0 for other text. French has a no-break space before a colon.
    private static func widthOfBlank(endingAt end: Int, notBefore limit: Int, in bytes: UnsafePointer<UInt8>) -> Int {
        if between.contains(bytes[end - 1]) { return 1 }
        let blank = noBreakSpaces.first { blank in
            end - blank.count >= limit && blank.indices.allSatisfy { bytes[end - blank.count + $0] == blank[$0] }
        }
        return blank?.count ?? 0
    }

    /// Where a name begins that ends at a place, in whatever case, with `_`, `-` or up to two blanks between its letters.
    private static func start(
        of backwards: [UInt8], endingAt end: Int, notBefore limit: Int, in bytes: UnsafePointer<UInt8>
    ) -> Int? {
        var place = end
        var blanks = 0
        for letter in backwards {
            while place > limit, place < end, isJoint(bytes[place - 1]), blanks < 3 {
                if bytes[place - 1] == UInt8(ascii: " ") { blanks += 1 }
                place -= 1
            }
            guard place > limit, bytes[place - 1] | 0x20 == letter, blanks < 3 else { return nil }
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
    private static let noBreakSpaces = ["\u{A0}", "\u{202F}"].map { Array($0.utf8) }
    private static let lastLetters = Array(Set(names.compactMap(\.backwards.first)))

    private static let names: [(backwards: [UInt8], kind: Kind, isWord: Bool)] =
        [
            (["authorization"], Kind.authorization, false),
            (["password", "passwd", "passphrase", "passwort", "kennwort", "pwd"], .assigned("a password"), false),
            // French, Spanish, Portuguese, Dutch, Swedish, Danish and Norwegian, Finnish, Polish, Czech and Slovak, Hungarian, Russian,
            // Ukrainian, Chinese, Japanese, Korean.
            (
                [
                    "motdepasse", "contraseña", "contrasen\u{303}a", "contrasena", "senha",
                    "wachtwoord",
                    "lösenord", "adgangskode", "passord", "salasana", "hasło", "heslo", "jelszó", "пароль", "密码", "密碼",
                    "パスワード", "비밀번호",
                ], .assigned("a password"), true
            ),
            (["apikey"], .assigned("an API key"), false),
            (
                ["secret", "secretkey", "accesskey", "accountkey", "privatekey", "encryptionkey", "signingkey"],
                .assigned("a secret key"), false
            ),
            (
                ["accesstoken", "authtoken", "apitoken", "bearertoken", "refreshtoken", "bottoken", "secrettoken"],
                .assigned("a token"), false
            ),
            (["token"], .token, true),
        ].flatMap { names, kind, isWord in names.map { ($0.utf8.reversed().map { $0 | 0x20 }, kind, isWord) } }
}
