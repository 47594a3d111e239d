import Foundation
import RecollectCore

/// A string for merging: a tree of sections by heading, each with its lines. Sections with the same heading and the
/// same parent are one section.
struct MarkdownSection: Hashable {
    /// The Markdown constructs recognized in a string.
    enum Syntax {
        /// Headings, lists, fenced code blocks.
        case markdown
        /// The same, but headings are ordinary lines.
        case withoutHeadings
        /// Lines only.
        case plain
    }

    /// The smallest unit of merging: a line, a list item with its indented lines, or a fenced code block.
    struct Unit: Hashable {
        let text: String
        /// Whether the unit is an item of an unordered list.
        let isItem: Bool
        /// The number of blank lines before the unit.
        var spacing: Int
    }

    /// An element of a section, in order.
    enum Piece: Hashable {
        case unit(Unit)
        /// A conflict block from an earlier merge.
        case block(ConflictBlock)

        /// The number of blank lines before the piece.
        var spacing: Int {
            if case .unit(let unit) = self { unit.spacing } else { 1 }
        }

        /// Returns the piece with at least this number of blank lines before it.
        func with(spacing: Int) -> Piece {
            guard case .unit(var unit) = self else { return self }
            unit.spacing = max(unit.spacing, spacing)
            return .unit(unit)
        }
    }

    /// The heading's line; empty for the text before the first heading.
    var heading = ""
    var spacing = 0
    var pieces: [Piece] = []
    var children: [MarkdownSection] = []

    /// The heading's level; 0 for the text before the first heading.
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

    /// Unites the sections of one parent by heading. The content of later sections follows the content of the first.
    private static func merged(_ sections: [MarkdownSection]) -> [MarkdownSection] {
        var merged: [MarkdownSection] = []
        var positions: [String: Int] = [:]
        var isSplit: Set<Int> = []
        for section in sections {
            if let position = positions[section.heading] {
                merged[position].pieces += section.pieces
                merged[position].children += section.children
                isSplit.insert(position)
            } else {
                positions[section.heading] = merged.count
                merged.append(section)
            }
        }
        for position in isSplit { merged[position].children = Self.merged(merged[position].children) }
        return merged
    }
}

// MARK: - Reading

extension MarkdownSection {
    /// Creates a section from a string.
    init(_ text: String, as syntax: Syntax) {
        self = Self.read(text.composed, as: syntax).section
    }

    /// Reads a string. Also returns whether a heading repeats in one section of the text or of an alternative.
    /// - Parameter text: A string in composed form, so that `==` compares bytes. Otherwise two spellings of a letter are
    ///   equal in a set and different in a file.
    static func read(_ text: String, as syntax: Syntax) -> (section: MarkdownSection, hasRepeatedHeadings: Bool) {
        var reader = Reader(lines: text.lines[...], syntax: syntax)
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

        /// Reads the pieces up to the next heading, and the sections below this one.
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
                } else if let block = ConflictBlock.read(lines) {
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
            let merged = MarkdownSection.merged(section.children)
            if merged.count < section.children.count { hasRepeatedHeadings = true }
            section.children = merged
            return section
        }

        /// Returns the number of blank lines before a string, and resets it. An indented text has at least one.
        /// Otherwise a merge could put it right below an item and make it part of the item.
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
            // A stray mark of a conflict block is escaped. After a merge, it could turn the lines below it into a
            // block.
            let text = lines.prefix(count ?? 1).map(ConflictBlock.harmless).joined(separator: "\n")
            lines.removeFirst(count ?? 1)
            return Unit(text: text, isItem: count != nil, spacing: takeSpacing(before: text))
        }

        /// Returns the fenced code block beginning here. A block without an end is closed: otherwise a merge could
        /// put lines into it.
        private func fencedBlock() -> (text: String, count: Int)? {
            guard syntax != .plain, let fence = lines.first.flatMap({ CodeFence($0.utf8) }) else { return nil }
            let closing = lines.dropFirst().firstIndex { fence.isClosed(by: $0.utf8) }
            let block = lines[...(closing ?? lines.index(before: lines.endIndex))]
            let text = (closing == nil ? block.trimmingBlankLines + [fence.marks] : block).joined(separator: "\n")
            return (text, block.count)
        }

        /// Returns the number of lines of a list item beginning here, with the indented lines right below it;
        /// `nil` if there is no item.
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

        /// Whether a line below an item is part of the item.
        private static func isIndented(_ line: String) -> Bool {
            line.utf8.starts(with: "  ".utf8) || line.utf8.first == UInt8(ascii: "\t")
        }
    }
}

// MARK: - Writing

extension MarkdownSection {
    /// The text, with a single line end at its end; empty for an empty section.
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
