/// A possible credential, and the tests to tell it from a sample.
///
/// The bytes must outlive the value.
struct CredentialValue {
    let count: Int
    private let bytes: UnsafeBufferPointer<UInt8>

    init(start: UnsafePointer<UInt8>, count: Int) {
        self.count = count
        bytes = UnsafeBufferPointer(start: start, count: count)
    }

    /// Whether the value is random enough for a generated key: mixed letters and digits, or letters of both cases,
    /// and no sample words.
    var isKey: Bool {
        let classes = Classes(bytes)
        guard classes.digits > 0 && classes.letters > 0 || classes.upper > 1 && classes.lower > 1 else { return false }
        return isVaried && !isSample
    }

    /// Whether the value is likely a password: long enough, mixed, not a sample, and not code.
    func isCredential(isQuoted: Bool) -> Bool {
        guard count >= 8, count < 512, !bytes.contains(where: { $0 == 0x20 || $0 >= 0x80 }) else { return false }
        let classes = Classes(bytes)
        let isMixed =
            classes.letters > 0 && classes.digits > 0
            || classes.upper > 0 && classes.lower > 0 && bytes.dropLast().contains { "!@#$%^&*".utf8.contains($0) }
        return isMixed && isVaried && !isCode(isQuoted: isQuoted) && !isSample
    }

    /// Whether the value has enough different characters, and does not consist mostly of runs such as `1234` or
    /// `aaaa`.
    var isVaried: Bool {
        var seen: (UInt64, UInt64) = (0, 0)
        var steps = 0
        for (index, byte) in bytes.enumerated() {
            if byte < 64 { seen.0 |= 1 << UInt64(byte) } else { seen.1 |= 1 << UInt64(byte & 63) }
            if index > 0, byte == bytes[index - 1] || byte == bytes[index - 1] &+ 1 { steps += 1 }
        }
        return seen.0.nonzeroBitCount + seen.1.nonzeroBitCount >= min(10, max(6, count / 3)) && steps * 2 < count
    }

    /// Whether the value consists of short parts between `-` or `_`, like a name.
    var isOfShortParts: Bool {
        bytes.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }.allSatisfy { $0.count < 12 }
    }

    /// Whether the value is a variable, a call, a template, a path, an address, a resource name or a date.
    private func isCode(isQuoted: Bool) -> Bool {
        guard let first = bytes.first else { return true }
        if "$<{%~/".utf8.contains(first) || bytes.suffix(1).elementsEqual(">".utf8) { return true }
        if bytes.starts(with: "arn:".utf8) || bytes.starts(with: "urn:".utf8) { return true }
        if contains("://") || contains("${") || contains("{{") || contains("</") || first == UInt8(ascii: ".") {
            return true
        }
        let isDate =
            count >= 10 && bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-")
            && bytes.prefix(4).allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
        guard !isDate else { return true }
        guard !isQuoted else { return false }
        if bytes.contains(where: { "([{<$\\".utf8.contains($0) }) { return true }
        // `config.password2`, `input2`
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areNames = parts.allSatisfy { part in part.first.map(Self.isLetter) ?? false }
        let digits = bytes.count { $0 >= 0x30 && $0 <= 0x39 }
        return areNames && (parts.count > 1 || digits == 1 && bytes.last.map { $0 >= 0x30 && $0 <= 0x39 } ?? false)
    }

    /// Whether the value has a word for samples.
    private var isSample: Bool {
        Self.stand.contains { contains($0) } || Self.standAlone.contains { contains($0, alone: true) }
    }

    private static let stand = [
        "yourkey", "yourapi", "yourtoken", "yoursecret", "yourpass", "example", "sample", "placeholder", "change",
        "replace",
        "insert", "dummy", "redacted", "secret", "password", "passwd", "token", "apikey", "api_key", "api-key", "xxxx",
        "foobar", "function", "undefined", "required", "optional", "...", "***",
    ]

    /// Short words, common in random text, and therefore matched only alone.
    private static let standAlone = ["your", "here", "todo", "fake", "mock", "demo", "test", "key"]

    /// Whether the value contains a word, in any case.
    /// - Parameter alone: Whether letters and digits next to the word prevent a match.
    private func contains(_ word: String, alone: Bool = false) -> Bool {
        let word = Array(word.utf8)
        guard count >= word.count else { return false }
        return (0...(count - word.count)).contains { start in
            let isHere = word.indices.allSatisfy { index in
                let byte = bytes[start + index]
                return (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == word[index]
            }
            return isHere && (!alone || !isPartOfWord(start - 1) && !isPartOfWord(start + word.count))
        }
    }

    private func isPartOfWord(_ position: Int) -> Bool {
        guard bytes.indices.contains(position) else { return false }
        return bytes[position] | 0x20 >= 0x61 && bytes[position] | 0x20 <= 0x7A
            || bytes[position] >= 0x30 && bytes[position] <= 0x39
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte == 0x5F }

    /// The numbers of uppercase letters, lowercase letters and digits.
    private struct Classes {
        var upper = 0
        var lower = 0
        var digits = 0
        var letters: Int { upper + lower }

        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            for byte in bytes {
                if byte >= 0x41 && byte <= 0x5A { upper += 1 }
                if byte >= 0x61 && byte <= 0x7A { lower += 1 }
                if byte >= 0x30 && byte <= 0x39 { digits += 1 }
            }
        }
    }
}
