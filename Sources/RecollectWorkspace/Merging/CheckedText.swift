import RecollectCore

/// A string for `MergeCheck`, with its lines as numbers. Equal lines of all texts have the same number.
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

    /// Creates a string.
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

    /// The numbers of a string's lines.
    struct Lines: Sendable {
        let numbers: [Int]
        let haveBlocks: Bool
        let endWithLine: Bool

        init(_ text: String, _ numbering: inout LineNumbering) {
            endWithLine = text.utf8.last == UInt8(ascii: "\n")
            let lines = numbering.lines(of: text)
            numbers = lines.compactMap(\.number)
            haveBlocks = lines.contains(where: \.isMark)
        }
    }
}

/// Numbers for the lines of several texts. Lines equal in composed form have the same number. Each spelling of a line is
/// composed once.
struct LineNumbering: Sendable {
    struct Line: Sendable {
        /// The number; `nil` for a blank line and the marks of a conflict block.
        let number: Int?
        /// Whether the line begins, divides or ends a conflict block.
        let isMark: Bool
    }

    private var spellings = Numbering<ByteString>()
    /// The lines by the numbers of their spellings.
    private var lines: [Line] = []
    private var composed = Numbering<ByteString>()

    /// The composed lines by their numbers.
    var values: [ByteString] { composed.values }

    mutating func lines(of text: String) -> [Line] {
        let all = text.lines
        // Most lines are in all texts.
        if lines.isEmpty {
            spellings.reserveCapacity(all.count)
            composed.reserveCapacity(all.count)
        }
        var last: Int?
        return all.map { line in
            let spelling = spellings.number(ByteString(line), after: last)
            last = spelling
            if spelling == lines.count { lines.append(self.line(line)) }
            return lines[spelling]
        }
    }

    private mutating func line(_ text: String) -> Line {
        let isMark = Self.isMark(text.utf8[...])
        // An entry of a journal quotes its text, with a block in it.
        let unquoted = text.utf8.starts(with: Self.quotation.utf8) ? text.utf8.dropFirst(2) : text.utf8[...]
        let plain = unquoted.drop { $0 == UInt8(ascii: "\\") }
        if text.isBlank || Self.isMark(plain) || plain.elementsEqual(Self.note.utf8) {
            return Line(number: nil, isMark: isMark)
        }
        // In a block, a line that only begins like a mark has a backslash before it.
        if plain.starts(with: Self.mark.utf8) {
            return Line(
                number: composed.number(ByteString(String(decoding: plain, as: UTF8.self).composed)), isMark: false)
        }
        // A comment in front matter has a line of a version.
        let isComment = text.utf8.starts(with: Self.comment.utf8)
        let line = isComment ? String(text.dropFirst(Self.comment.count)) : text
        return Line(number: composed.number(ByteString(line.composed)), isMark: isMark)
    }

    private static let quotation = "> "
    private static let comment = "# recollect:or "
    private static let mark = "<!-- recollect:"
    private static let note = "*Conflicting changes: keep what is right, and delete the rest.*"

    /// Whether a line is a mark of a conflict block: `both`, also with a number, `or`, or `end`.
    private static func isMark(_ line: Substring.UTF8View) -> Bool {
        guard line.starts(with: mark.utf8) else { return false }
        let text = String(decoding: line.dropFirst(mark.utf8.count), as: UTF8.self)
        return ["or -->", "end -->"].contains(text)
            || text.hasPrefix("both") && text.hasSuffix(" -->")
                && text.dropFirst(4).dropLast(4).allSatisfy { $0 == " " || $0.isWholeNumber }
    }
}
