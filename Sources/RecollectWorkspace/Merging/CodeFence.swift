/// The line that begins a fenced code block, by CommonMark 0.31, section 4.5.
struct CodeFence {
    /// At least three backticks or tildes.
    let marks: String

    /// Creates a fence from a line; `nil` for any other line.
    init?(_ line: String) {
        let rest = line.utf8.drop { $0 == UInt8(ascii: " ") }
        guard line.utf8.count - rest.count < 4, let mark = rest.first,
            mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~")
        else { return nil }
        let marks = rest.prefix { $0 == mark }
        // A line with more backticks after these is inline code.
        if mark == UInt8(ascii: "`"), rest.dropFirst(marks.count).contains(mark) { return nil }
        guard marks.count >= 3 else { return nil }
        self.marks = String(Substring(marks))
    }

    /// Whether a line ends the block: it has at least as many marks, and nothing else.
    func isClosed(by line: String) -> Bool {
        guard let other = CodeFence(line), other.marks.hasPrefix(marks) else { return false }
        return line.drop { $0 == " " }.dropFirst(other.marks.count).allSatisfy(\.isWhitespace)
    }
}
