/// A name for credentials before a `:` or `=`: `password`, `API_KEY`, `"clientSecret"`, `API key`.
///
/// Matched backwards from the operator and without copying, because this runs for every operator of a string.
struct CredentialName {
    enum Kind {
        /// A header with credentials.
        case authorization
        /// A credential, with its description.
        case assigned(String)
        /// A lone `token`, also a common word: a credential only in quotes or after `=`.
        case token
    }

    let kind: Kind
    /// The position of the name.
    let start: Int

    /// Creates a name from the text before a position; `nil` if no name for credentials ends there.
    init?(endingAt end: Int, in bytes: UnsafePointer<UInt8>) {
        let limit = max(0, end - 48)
        var position = end
        // Skips characters between a name and its operator: blanks, a closing quote, escaped or not, a bracket,
        // Markdown marks, digits.
        while position > limit {
            let width = Self.widthOfBlank(endingAt: position, notBefore: limit, in: bytes)
            guard width > 0 else { break }
            position -= width
        }
        guard position > limit, Self.endsName[Int(bytes[position - 1] | 0x20)] else { return nil }
        for name in Self.names {
            guard let start = Self.start(of: name.backwards, endingAt: position, notBefore: limit, in: bytes) else {
                continue
            }
            if name.isWord, start > 0, Self.isPartOfName(bytes[start - 1]) { continue }
            kind = name.kind
            self.start = start
            return
        }
        return nil
    }

    /// Returns the width in bytes of a blank or mark between a name and its operator; 0 for other text. French has
    /// a no-break space before a colon.
    private static func widthOfBlank(endingAt end: Int, notBefore limit: Int, in bytes: UnsafePointer<UInt8>) -> Int {
        switch bytes[end - 1] {
        case 0xA0: end - 2 >= limit && bytes[end - 2] == 0xC2 ? 2 : 0
        case 0xAF: end - 3 >= limit && bytes[end - 2] == 0x80 && bytes[end - 3] == 0xE2 ? 3 : 0
        case let byte: isBetween[Int(byte)] ? 1 : 0
        }
    }

    /// Returns the start of a name ending at a position. The comparison ignores the case of ASCII letters, and
    /// allows `_`, `-` or up to two blanks between letters.
    private static func start(
        of backwards: [UInt8], endingAt end: Int, notBefore limit: Int, in bytes: UnsafePointer<UInt8>
    ) -> Int? {
        var position = end
        var blanks = 0
        for letter in backwards {
            while position > limit, position < end, isJoint(bytes[position - 1]), blanks < 3 {
                if bytes[position - 1] == UInt8(ascii: " ") { blanks += 1 }
                position -= 1
            }
            guard position > limit, bytes[position - 1] | 0x20 == letter, blanks < 3 else { return nil }
            position -= 1
        }
        return position
    }

    private static func isJoint(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private static let isBetween = table(" \t\"'`\\*]0123456789_".utf8)
    private static let endsName = table(names.compactMap(\.backwards.first))

    /// Whether each byte is among some bytes.
    private static func table(_ bytes: some Sequence<UInt8>) -> [Bool] {
        var table = Array(repeating: false, count: 256)
        for byte in bytes { table[Int(byte)] = true }
        return table
    }

    private static let names: [(backwards: [UInt8], kind: Kind, isWord: Bool)] =
        [
            (["authorization"], Kind.authorization, false),
            (["password", "passwd", "passphrase", "passwort", "kennwort", "pwd"], .assigned("a password"), false),
            // French, Spanish, Portuguese, Dutch, Swedish, Danish and Norwegian, Finnish, Polish, Czech and Slovak,
            // Hungarian, Russian, Ukrainian, Chinese, Japanese, Korean.
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
