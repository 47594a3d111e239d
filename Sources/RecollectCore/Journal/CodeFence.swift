/// The line that begins a fenced code block, by CommonMark 0.31, section 4.5.
package struct CodeFence {
    package let mark: UInt8
    package let count: Int

    /// Creates a fence from a line's UTF-8 bytes; `nil` for any other line.
    package init?(_ line: some Collection<UInt8>) {
        let rest = line.drop { $0 == UInt8(ascii: " ") }
        guard let mark = rest.first, mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~"),
            line.prefix(4).prefix(while: { $0 == UInt8(ascii: " ") }).count < 4
        else { return nil }
        let count = rest.prefix { $0 == mark }.count
        // A line with more backticks after these is inline code.
        if mark == UInt8(ascii: "`"), rest.dropFirst(count).contains(mark) { return nil }
        guard count >= 3 else { return nil }
        self.mark = mark
        self.count = count
    }

    /// At least three backticks or tildes.
    package var marks: String { String(repeating: Character(UnicodeScalar(mark)), count: count) }

    /// Whether a line ends the block: it has at least as many marks, and nothing else.
    package func isClosed(by line: some Collection<UInt8>) -> Bool {
        guard let other = CodeFence(line), other.isClosing(self) else { return false }
        return line.drop { $0 == UInt8(ascii: " ") }.dropFirst(other.count).allSatisfy { $0 <= UInt8(ascii: " ") }
    }

    /// Whether this fence has the same mark as another one, at least as often.
    package func isClosing(_ other: CodeFence) -> Bool { mark == other.mark && count >= other.count }
}
