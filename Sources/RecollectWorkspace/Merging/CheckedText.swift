import RecollectCore

/// A text for `MergeCheck`, with its lines as numbers. Equal lines of all texts have the same number.
struct CheckedText {
    /// The lines, without blank lines and the marks of conflict blocks.
    let lines: [Int]
    /// Whether the text has conflict blocks.
    let hasBlocks: Bool
    /// Whether the last line has a line end. Without one, it may be incomplete.
    let endsWithLine: Bool
    /// The occurrences of each line.
    let counts: [Int]
    /// The position of each line that occurs once; `nil` for other lines.
    let positions: [Int?]

    /// Creates a text.
    /// - Parameter count: The number of different lines in all texts.
    init(_ lines: Lines, of count: Int) {
        self.lines = lines.numbers
        hasBlocks = lines.haveBlocks
        endsWithLine = lines.endWithLine
        var counts = Array(repeating: 0, count: count)
        for line in lines.numbers { counts[line] += 1 }
        var positions: [Int?] = Array(repeating: nil, count: count)
        for (position, line) in lines.numbers.enumerated() where counts[line] == 1 { positions[line] = position }
        self.counts = counts
        self.positions = positions
    }

    /// The numbers of a text's lines.
    struct Lines {
        let numbers: [Int]
        let haveBlocks: Bool
        let endWithLine: Bool

        init(_ text: String, _ numbering: inout Numbering<ByteString>) {
            endWithLine = text.utf8.last == UInt8(ascii: "\n")
            let all = text.composed.lines
            var last: Int?
            numbers = all.filter { !$0.isBlank && !Self.isMark($0) }.map { line in
                // A comment in front matter has a line of a version.
                let isComment = line.utf8.starts(with: Self.comment.utf8)
                let text = isComment ? String(line.dropFirst(Self.comment.count)) : line
                let number = numbering.number(ByteString(text), after: last)
                last = number
                return number
            }
            haveBlocks = all.contains { $0.utf8.starts(with: "<!-- recollect:".utf8) }
        }

        private static let comment = "# recollect:or "

        private static func isMark(_ line: String) -> Bool {
            let plain = line.utf8.drop { $0 == UInt8(ascii: "\\") }
            return plain.starts(with: "<!-- recollect:".utf8)
                || plain.starts(with: "*Changed in two places at once;".utf8)
        }
    }
}
