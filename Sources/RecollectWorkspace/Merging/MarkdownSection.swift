import Foundation

/// A text as it is merged: a tree of sections by their headings, in each the lines that stand under it. Sections of one heading
/// in one place are one.
struct MarkdownSection: Hashable {
    /// What of a text is read as Markdown.
    enum Syntax {
        /// Headings, lists, blocks of code.
        case markdown
        /// The same, but headings are lines like others.
        case withoutHeadings
        /// Lines and nothing else.
        case plain
    }

    /// What is merged as a whole: a line, a list item with what belongs to it, a fenced block of code.
    struct Unit: Hashable {
        let text: String
        /// Whether it is an item of a list without an order.
        let isItem: Bool
        /// How many blank lines stand before it.
        var spacing: Int
    }

    /// What stands in a section, in order.
    enum Piece: Hashable {
        case unit(Unit)
        /// A block of alternatives that an earlier merge left.
        case block(LabelledBlock)

        /// How many blank lines stand before it.
        var spacing: Int {
            if case .unit(let unit) = self { unit.spacing } else { 1 }
        }

        /// The piece with at least so many blank lines before it.
        func with(spacing: Int) -> Piece {
            guard case .unit(var unit) = self else { return self }
            unit.spacing = max(unit.spacing, spacing)
            return .unit(unit)
        }
    }

    /// The line of the heading; empty for the text before the first one.
    var heading = ""
    var spacing = 0
    var pieces: [Piece] = []
    var children: [MarkdownSection] = []

    /// How many marks its heading begins with; 0 for the text before the first one.
    var level: Int { Self.level(of: heading) ?? 0 }

    private static func level(of line: String) -> Int? {
        let level = line.utf8.prefix { $0 == UInt8(ascii: "#") }.count
        guard (1...6).contains(level) else { return nil }
        let next = line.utf8.dropFirst(level).first ?? UInt8(ascii: " ")
        return next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") ? level : nil
    }

    /// The children by their headings.
    var childrenByHeading: [String: MarkdownSection] {
        Dictionary(uniqueKeysWithValues: children.map { ($0.heading, $0) })
    }

    /// Sections of one parent, united by heading. Content of later sections goes behind content of the first.
    private static func united(_ sections: [MarkdownSection]) -> [MarkdownSection] {
        var united: [MarkdownSection] = []
        var places: [String: Int] = [:]
        var isSplit: Set<Int> = []
        for section in sections {
            if let place = places[section.heading] {
                united[place].pieces += section.pieces
                united[place].children += section.children
                isSplit.insert(place)
            } else {
                places[section.heading] = united.count
                united.append(section)
            }
        }
        for place in isSplit { united[place].children = Self.united(united[place].children) }
        return united
    }
}

// MARK: - Reading

extension MarkdownSection {
    /// Reads a text.
    init(_ text: String, as syntax: Syntax) {
        self = Self.read(text, as: syntax).section
    }

    /// Reads a text, and says whether a heading repeats in a section of it or of an alternative in a block.
    static func read(_ text: String, as syntax: Syntax) -> (section: MarkdownSection, hasRepeatedHeadings: Bool) {
        // Composed, so that `==` is equality of bytes: two spellings of a letter would else be one in a set and two in a file.
        var reader = Reader(lines: text.composed.lines[...], syntax: syntax)
        let section = reader.section(deeperThan: 0)
        return (section, reader.hasRepeatedHeadings)
    }

    private struct Reader {
        var lines: ArraySlice<String>
        let syntax: Syntax
        var spacing = 0
        private(set) var hasRepeatedHeadings = false

        init(lines: ArraySlice<String>, syntax: Syntax) {
            self.lines = lines
            self.syntax = syntax
        }

        private func headingLevel(_ line: String) -> Int? {
            syntax == .markdown ? MarkdownSection.level(of: line) : nil
        }

        /// Reads what stands up to the next heading, and the sections below it.
        mutating func section(deeperThan level: Int) -> MarkdownSection {
            var section = MarkdownSection()
            while let line = lines.first {
                if line.isBlank {
                    lines.removeFirst()
                    spacing += 1
                } else if let deeper = headingLevel(line) {
                    guard deeper > level else { break }
                    lines.removeFirst()
                    let before = takeSpacing()
                    var child = self.section(deeperThan: deeper)
                    child.heading = line
                    child.spacing = before
                    section.children.append(child)
                } else if let block = LabelledBlock.read(lines) {
                    lines.removeFirst(block.count)
                    _ = takeSpacing()
                    if syntax == .markdown,
                        block.block.alternatives.contains(where: {
                            MarkdownSection.read($0, as: syntax).hasRepeatedHeadings
                        })
                    {
                        hasRepeatedHeadings = true
                    }
                    if !block.block.alternatives.isEmpty { section.pieces.append(.block(block.block)) }
                } else {
                    section.pieces.append(.unit(unit()))
                }
            }
            let united = MarkdownSection.united(section.children)
            if united.count < section.children.count { hasRepeatedHeadings = true }
            section.children = united
            return section
        }

        /// The blank lines before a text. An indented one has some, so that it never becomes a part of an item that comes to stand
        /// above it.
        private mutating func takeSpacing(before text: String = "") -> Int {
            defer { spacing = 0 }
            return max(spacing, syntax != .plain && Self.isIndented(text) ? 1 : 0)
        }

        private mutating func unit() -> Unit {
            if let block = fencedBlock() {
                lines.removeFirst(block.count)
                return Unit(text: block.text, isItem: false, spacing: takeSpacing(before: block.text))
            }
            let count = itemCount()
            // A mark of a block that is none would make one of what a merge puts below it.
            let text = lines.prefix(count ?? 1).map(LabelledBlock.harmless).joined(separator: "\n")
            lines.removeFirst(count ?? 1)
            return Unit(text: text, isItem: count != nil, spacing: takeSpacing(before: text))
        }

        /// The fenced block of code that begins here. One that goes to the end of the text is closed: what a merge puts below it would
        /// else be in it.
        private func fencedBlock() -> (text: String, count: Int)? {
            guard syntax != .plain, let fence = lines.first.flatMap(Self.fence) else { return nil }
            let closing = lines.dropFirst().firstIndex { line in
                Self.fence(line).map { $0.hasPrefix(fence) && line.trimmed == $0 } ?? false
            }
            let block = lines[...(closing ?? lines.index(before: lines.endIndex))]
            let text = (closing == nil ? block.trimmingBlankLines + [fence] : block).joined(separator: "\n")
            return (text, block.count)
        }

        /// How many lines a list item takes that begins here: the lines right below that are indented belong to it.
        private func itemCount() -> Int? {
            guard syntax != .plain, let first = lines.first, Self.isItem(first) else { return nil }
            return 1 + lines.dropFirst().prefix { Self.isIndented($0) && !$0.isBlank }.count
        }

        private static func isItem(_ line: String) -> Bool {
            let rest = line.utf8.drop { $0 == UInt8(ascii: " ") }
            guard !isIndented(line), let mark = rest.first else { return false }
            return [UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "+")].contains(mark)
                && rest.dropFirst().first == UInt8(ascii: " ")
        }

        /// Whether a line below an item belongs to it.
        private static func isIndented(_ line: String) -> Bool {
            line.utf8.starts(with: "  ".utf8) || line.utf8.first == UInt8(ascii: "\t")
        }

        private static func fence(_ line: String) -> String? {
            let rest = line.drop { $0 == " " }
            guard line.utf8.count - rest.utf8.count < 4, let mark = rest.first, mark == "`" || mark == "~" else {
                return nil
            }
            let fence = rest.prefix { $0 == mark }
            // What has more marks of its kind behind it is code in a line (CommonMark 4.5).
            if mark == "`", rest.dropFirst(fence.count).contains("`") { return nil }
            return fence.count >= 3 ? String(fence) : nil
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var rest = self[...]
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest.drop { $0 == " " })
    }
}

// MARK: - Writing

extension MarkdownSection {
    /// The text, with one line end at its end; empty for a section of nothing.
    var text: String {
        var writer = Writer()
        writer.write(self)
        return writer.lines.isEmpty ? "" : writer.lines.joined(separator: "\n") + "\n"
    }

    /// The text without blank lines around it.
    var lone: String { text.lines.trimmingBlankLines.joined(separator: "\n") }

    private struct Writer {
        var lines: [String] = []

        mutating func write(_ section: MarkdownSection) {
            if !section.heading.isEmpty { write(section.heading, spacing: section.spacing) }
            for piece in section.pieces {
                switch piece {
                case .unit(let unit): write(unit.text, spacing: unit.spacing)
                case .block(let block): write(block.text, spacing: piece.spacing)
                }
            }
            section.children.forEach { write($0) }
        }

        private mutating func write(_ text: String, spacing: Int) {
            lines += Array(repeating: "", count: spacing)
            lines.append(text)
        }
    }
}
