import RecollectCore

/// A conflict block: a part of a file with the different texts of two devices. It is labeled for readers, and can be
/// read back as its alternatives.
///
/// ```markdown
/// <!-- recollect:both -->
/// *Conflicting changes: keep what is right, and delete the rest.*
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
/// The alternatives are sorted by their bytes, so all devices write the same block.
struct ConflictBlock: Hashable {
    /// The alternatives, without blank lines around them.
    let alternatives: Set<String>
    /// The number of the block, to distinguish it from other blocks with the same alternatives: usually 1.
    var number = 1

    private static let mark = "<!-- recollect:"
    private static let beginning = "<!-- recollect:both"
    private static let or = "<!-- recollect:or -->"
    private static let end = "<!-- recollect:end -->"
    private static let label = "*Conflicting changes: keep what is right, and delete the rest.*"

    /// The lines of the block. A single alternative has the marks, but no label.
    var lines: [String] {
        let ordered = alternatives.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let parts = ordered.map { [""] + $0.lines.map(Self.escaped) + [""] }
        let begin = "\(Self.beginning)\(number == 1 ? "" : " \(number)") -->"
        return [begin] + (ordered.count > 1 ? [Self.label] : []) + Array(parts.joined(separator: [Self.or])) + [
            Self.end
        ]
    }

    /// The text of the block, without a line end at its end.
    var text: String { lines.joined(separator: "\n") }

    /// Reads the block beginning at the first line; `nil` if there is none, or if it has no end.
    /// - Returns: The block and its number of lines.
    static func read(_ lines: ArraySlice<String>) -> (block: ConflictBlock, count: Int)? {
        guard let number = lines.first.flatMap(number(of:)),
            let last = lines.dropFirst().firstIndex(where: { $0 == end || Self.number(of: $0) != nil }),
            lines[last] == end
        else { return nil }
        var inner = lines[(lines.startIndex + 1)..<last]
        if inner.first == label { inner = inner.dropFirst() }
        let parts = inner.split(separator: or, omittingEmptySubsequences: false)
        let alternatives = parts.map { $0.trimmingBlankLines.map(unescaped).joined(separator: "\n") }
        let block = ConflictBlock(alternatives: Set(alternatives.filter { !$0.isEmpty }), number: number)
        return (block, last - lines.startIndex + 1)
    }

    /// Returns the number of the block beginning in a line; `nil` for other lines.
    private static func number(of line: String) -> Int? {
        guard line.utf8.starts(with: beginning.utf8), line.hasSuffix(" -->") else { return nil }
        let number = line.dropFirst(beginning.count).dropLast(" -->".count)
        return number.isEmpty ? 1 : Int(number.dropFirst()).flatMap { number == " \($0)" && $0 > 1 ? $0 : nil }
    }

    /// Returns a line for use outside a block: a mark is escaped.
    static func harmless(_ line: String) -> String {
        guard line.utf8.starts(with: mark.utf8) else { return line }
        return line == or || line == end || number(of: line) != nil ? "\\" + line : line
    }

    /// Adds a backslash to a line similar to a mark.
    private static func escaped(_ line: String) -> String {
        looksLikeMarker(line) ? "\\" + line : line
    }

    private static func unescaped(_ line: String) -> String {
        line.hasPrefix("\\") && looksLikeMarker(line) ? String(line.dropFirst()) : line
    }

    private static func looksLikeMarker(_ line: String) -> Bool {
        line.drop { $0 == "\\" }.hasPrefix(mark) || line.drop { $0 == "\\" } == label
    }
}

// MARK: - In a day of the journal

extension ConflictBlock {
    /// Creates a block from a string; `nil` if the text is not exactly one block.
    init?(whole text: ByteText) {
        guard text.bytes.starts(with: Self.beginning.utf8) else { return nil }
        let lines = text.text.lines
        guard let (block, count) = Self.read(lines[...]), count == lines.count else { return nil }
        self = block
    }

    /// Returns the text of a block with alternatives.
    static func text(of alternatives: Set<String>) -> String { ConflictBlock(alternatives: alternatives).text }

    /// Returns the alternatives of a string if it is a single block; otherwise the text itself.
    static func alternatives(in text: String) -> Set<String> {
        ConflictBlock(whole: ByteText(text))?.alternatives ?? [text]
    }
}
