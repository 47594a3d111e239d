/// Values alone on a line below their name: YAML blocks, multiline strings, keys under a heading.
extension CredentialScan {
    /// Whether the line below the one ending after an assignment operator has a credential.
    func isCredentialOnLineBelow(_ sign: Int) -> Bool {
        var line = endOfRun(from: sign + 1, atMost: 8) { Self.marks.contains($0) }
        // Without such a mark, a line below a name is not necessarily its value.
        var isMarked = (sign + 1..<line).contains { Self.markBytes.contains(bytes[$0]) }
        let quotes = (sign + 1..<line).count { Self.kinds[Int(bytes[$0])] & Self.isQuote != 0 }
        // Two quotes are an empty string.
        guard quotes != 2, var position = startOfLine(below: line) else { return false }
        for _ in 0..<2 {
            line = endOfRun(from: position, atMost: 16) { $0 == UInt8(ascii: "`") || Self.isAlphanumeric($0) }
            let isFence = has(Self.fence, at: position)
            guard line == position || isFence, let next = startOfLine(below: line) else { break }
            isMarked = isMarked || isFence
            position = next
        }
        guard position < count else { return false }
        if Self.kinds[Int(bytes[position])] & Self.isQuote != 0 {
            isMarked = true
            position += 1
        }
        let end = endOfRun(from: position, atMost: 512) { $0 > 0x20 && Self.kinds[Int($0)] & Self.isQuote == 0 }
        let rest = endOfRun(from: end, atMost: 8) { Self.closing.contains($0) }
        guard rest == count || startOfLine(below: rest) != nil, !isCutShort(at: end) else { return false }
        // A line with an assignment of its own is not a value.
        let firstSign = endOfRun(from: position, atMost: end - position) { Self.kinds[Int($0)] & Self.parts == 0 }
        guard endOfRun(from: firstSign, atMost: 3, { $0 == UInt8(ascii: "=") }) == end else { return false }
        let value = CredentialValue(start: bytes + position, count: end - position)
        return value.isCredential(isQuoted: false) && (isMarked || value.count >= 16 && value.isKey)
    }

    /// Returns the start of the line below a line's end, after its indentation and a list mark; `nil` if the
    /// position is not at a line's end.
    private func startOfLine(below position: Int) -> Int? {
        var next = position
        if next < count, bytes[next] == UInt8(ascii: "\r") { next += 1 }
        guard next < count, bytes[next] == UInt8(ascii: "\n") else { return nil }
        next = endOfRun(from: next + 1, atMost: 32) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return has(Self.item, at: next) || has(Self.quotation, at: next) ? next + 2 : next
    }

    /// The characters allowed between the operator and the end of its line: marks of Markdown and YAML, opening
    /// quotes, continuations.
    private static let marks = Array(" \t*|>+-\\\"'`".utf8)
    private static let markBytes = Array("|>\\\"'`".utf8)
    private static let closing = Array("\"'`,; \t".utf8)
    private static let fence = Array("```".utf8)
    private static let item = Array("- ".utf8)
    private static let quotation = Array("> ".utf8)
}
