import RecollectCore

/// A part of a text where two devices wrote different things and both are kept, marked so that people see it and that it is
/// read back as what it was made of.
///
/// ```markdown
/// <!-- recollect:both -->
/// *Changed in two places at once; both are kept. Keep what is right and delete the rest.*
///
/// Tea at four.
///
/// <!-- recollect:or -->
///
/// Tea at five.
///
/// <!-- recollect:end -->
/// ```
///
/// The alternatives stand in the order of their bytes, so that two devices write the same.
struct LabelledBlock: Hashable {
    /// What was written, each different from the others; without blank lines around it.
    let alternatives: Set<String>
    /// Tells a block from another one of the same alternatives that it must not be taken for: 1, seldom more.
    var number = 1

    private static let or = "<!-- recollect:or -->"
    private static let end = "<!-- recollect:end -->"
    private static let label =
        "*Changed in two places at once; both are kept. Keep what is right and delete the rest.*"

    /// The lines. A lone alternative is marked too, without the label.
    var lines: [String] {
        let ordered = alternatives.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let parts = ordered.map { [""] + $0.lines.map(Self.escaped) + [""] }
        let begin = "<!-- recollect:both\(number == 1 ? "" : " \(number)") -->"
        return [begin] + (ordered.count > 1 ? [Self.label] : []) + Array(parts.joined(separator: [Self.or])) + [
            Self.end
        ]
    }

    /// The text, without a line end behind it.
    var text: String { lines.joined(separator: "\n") }

    /// Reads the block that begins at a line; `nil` where none begins there or it does not end.
    /// - Returns: the block, and how many lines it takes.
    static func read(_ lines: ArraySlice<String>) -> (block: LabelledBlock, count: Int)? {
        guard let number = lines.first.flatMap(number(of:)),
            let last = lines.dropFirst().firstIndex(where: { $0 == end || Self.number(of: $0) != nil }),
            lines[last] == end
        else { return nil }
        var inner = lines[(lines.startIndex + 1)..<last]
        if inner.first == label { inner = inner.dropFirst() }
        let parts = inner.split(separator: or, omittingEmptySubsequences: false)
        let alternatives = parts.map { $0.trimmingBlankLines.map(unescaped).joined(separator: "\n") }
        let block = LabelledBlock(alternatives: Set(alternatives.filter { !$0.isEmpty }), number: number)
        return (block, last - lines.startIndex + 1)
    }

    /// The number of the block that a line begins; `nil` for any other line.
    private static func number(of line: String) -> Int? {
        guard line.utf8.starts(with: "<!-- recollect:both".utf8), line.hasSuffix(" -->") else { return nil }
        let number = line.dropFirst("<!-- recollect:both".count).dropLast(" -->".count)
        return number.isEmpty ? 1 : Int(number.dropFirst()).flatMap { number == " \($0)" && $0 > 1 ? $0 : nil }
    }

    /// A line as it stands outside a block.
    static func harmless(_ line: String) -> String {
        line == or || line == end || number(of: line) != nil ? "\\" + line : line
    }

    /// A line that could be taken for one of the marks gets a backslash before it.
    private static func escaped(_ line: String) -> String {
        isMarkLike(line) ? "\\" + line : line
    }

    private static func unescaped(_ line: String) -> String {
        line.hasPrefix("\\") && isMarkLike(line) ? String(line.dropFirst()) : line
    }

    private static func isMarkLike(_ line: String) -> Bool {
        line.drop { $0 == "\\" }.hasPrefix("<!-- recollect:") || line.drop { $0 == "\\" } == label
    }
}

extension String {
    /// The lines, without their ends, whichever those are.
    var lines: [String] {
        var text = self
        return text.withUTF8 { bytes in
            bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
                var end = line.endIndex
                while end > line.startIndex, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
                return String(decoding: line[..<end], as: UTF8.self)
            }
        }
    }

    /// Whether there is nothing to be seen in a line.
    var isBlank: Bool {
        utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }
}

extension RandomAccessCollection where Element == String {
    /// The lines without the blank ones around them.
    var trimmingBlankLines: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}

// MARK: - In a day of the journal

extension LabelledBlock {
    /// The block of some texts.
    static func text(of alternatives: Set<String>) -> String { LabelledBlock(alternatives: alternatives).text }

    /// What a text that is a block, and nothing else, was made of; the text itself of any other one.
    static func alternatives(in text: String) -> Set<String> {
        let lines = text.lines
        guard let (block, count) = read(lines[...]), count == lines.count else { return [text] }
        return block.alternatives
    }
}
