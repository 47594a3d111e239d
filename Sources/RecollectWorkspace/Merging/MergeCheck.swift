import Foundation
import RecollectCore

/// Checks a merge for dropped or moved lines. It uses only the texts and shares no code with the merge.
///
/// - A line of a version may be missing in the result only if the base has it and another version has deleted it.
///   A line in all versions stays at least once, because each may have deleted another one of several equal lines. The
///   exceptions are marks without words, and lines that a version may have edited (`mayBeReplaced`).
/// - Lines in the same order in all versions keep it in the result.
/// - Neighbors in a version, in an order contradicting the base, keep the version's order.
/// - A line of one version alone stays between its neighbors, if these have the same order in all versions.
///
/// The check ignores blank lines, line ends, Unicode normalization, and the marks of conflict blocks. A merge
/// rewrites the entries of a journal, so their check compares the words of each line, and not the order of lines.
struct MergeCheck {
    private let numbering: LineNumbering
    let merged: CheckedText
    let versions: [CheckedText]
    let base: CheckedText?
    /// The numbered lines as lines of a journal; `nil` for other texts.
    private let journalLines: [JournalLine]?

    /// The merged texts, for the checks of one or several results.
    struct Inputs: Sendable {
        fileprivate var numbering: LineNumbering
        fileprivate let versions: [CheckedText.Lines]
        fileprivate let base: CheckedText.Lines?
        /// The numbered lines as lines of a journal; `nil` for other texts.
        fileprivate private(set) var journalLines: [JournalLine]?
        private var parts = Numbering<JournalLine.Part>()

        /// Creates the texts of a merge.
        /// - Parameter isJournal: Whether the texts are days of the journal.
        init(_ versions: [String], base: String?, isJournal: Bool) {
            var numbering = LineNumbering()
            self.versions = versions.map { CheckedText.Lines($0, &numbering) }
            self.base = base.map { CheckedText.Lines($0, &numbering) }
            self.numbering = numbering
            guard isJournal else { return }
            journalLines = []
            addJournalLines()
        }

        /// Adds the lines of a result.
        fileprivate mutating func add(_ merged: String) -> CheckedText.Lines {
            // A heading of the result counts only if a version or the base has one.
            let withHeadings = journalLines?.contains { $0.heading != nil } ?? false
            defer { addJournalLines(withHeadings: withHeadings) }
            return CheckedText.Lines(merged, &numbering)
        }

        private mutating func addJournalLines(withHeadings: Bool = true) {
            guard let known = journalLines?.count else { return }
            for line in numbering.values[known...] {
                journalLines?.append(JournalLine(line.string, withHeading: withHeadings, &parts))
            }
        }
    }

    /// Creates a check of a merge's result.
    init(_ merged: String, of inputs: Inputs) {
        var inputs = inputs
        let mergedLines = inputs.add(merged)
        numbering = inputs.numbering
        journalLines = inputs.journalLines
        let count = numbering.values.count
        self.merged = CheckedText(mergedLines, of: count)
        versions = inputs.versions.map { CheckedText($0, of: count) }
        base = inputs.base.map { CheckedText($0, of: count) }
    }

    /// Whether only deleted content is missing, and no line was moved. For a journal, the order is not checked.
    var isPassed: Bool {
        journalLines.map(hasAllEntries) ?? (hasAllLines && keepsOrder)
    }

    /// Whether the result has a line more often than the base and all insertions of the versions together.
    var repeatsLines: Bool {
        guard let base, journalLines == nil, !hasBlocks else { return false }
        return numbering.values.indices.contains { line in
            let inserted = versions.lazy.map { max(0, $0.counts[line] - base.counts[line]) }.reduce(0, +)
            return merged.counts[line] > base.counts[line] + inserted
        }
    }

    /// Whether a version has conflict blocks.
    var hasBlocks: Bool { versions.contains(where: \.hasBlocks) }

    /// The lines of the versions assumed deleted, in order, each once.
    var deleted: [String] {
        var known = Set(merged.lines)
        let words = journalLines.map { lines in Set(merged.lines.compactMap { lines[$0].words }) }
        return versions.flatMap { version in
            version.lines.filter { line in
                guard known.insert(line).inserted else { return false }
                guard let words, let lines = journalLines else { return true }
                return lines[line].words.map { !words.contains($0) } ?? false
            }.map { numbering.values[$0].string }
        }
    }

    // MARK: Lines

    private var hasAllLines: Bool {
        // Of equal alternatives in conflict blocks, one remains.
        let isCounted = !hasBlocks
        return numbering.values.indices.allSatisfy { line in
            let counts = versions.lazy.map { $0.counts[line] }
            let deleted = max(0, (base?.counts[line] ?? 0) - (counts.min() ?? 0))
            let needed = max(0, (counts.max() ?? 0) - deleted)
            if needed == 0, merged.counts[line] == 0, (counts.min() ?? 0) > 0 { return mayBeReplaced(line) }
            return merged.counts[line] >= (isCounted ? needed : min(needed, 1))
        }
    }

    /// Whether a line of all versions that is missing in the result is a mark, or a version without one of its occurrences
    /// has no fewer lines than the base: it may have edited this one.
    private func mayBeReplaced(_ line: Int) -> Bool {
        guard let base, !isMark(numbering.values[line].string) else { return true }
        return versions.contains {
            $0.counts[line] < base.counts[line] && $0.lines.count >= base.lines.count
        }
    }

    /// Whether a line has no words, or separates parts of a text: a heading, a fence, or a row of a table.
    private func isMark(_ text: String) -> Bool {
        ["#", "```", "~~~", "|"].contains(where: text.hasPrefix)
            || text.utf8.allSatisfy { $0 < 0x80 && !Self.isWordByte($0) }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    // MARK: Entries

    private func hasAllEntries(_ lines: [JournalLine]) -> Bool {
        let count = lines.lazy.flatMap(\.parts).max().map { $0 + 1 } ?? 0
        func allParts(_ text: CheckedText) -> [Bool] {
            var parts = Array(repeating: false, count: count)
            for line in text.lines {
                for part in lines[line].parts { parts[part] = true }
            }
            return parts
        }
        let (own, merged) = (versions.map(allParts), allParts(merged))
        let old = base.map(allParts)
        return zip(versions, own).allSatisfy { version, parts in
            let cut = cutHeading(of: version).map { lines[$0].parts } ?? []
            return parts.indices.allSatisfy { part in
                if !parts[part] || merged[part] || cut.contains(part) { return true }
                return old?[part] == true && own.contains { !$0[part] }
            }
        }
    }

    /// A line of a journal, with its parts as numbers.
    fileprivate struct JournalLine: Sendable {
        enum Part: Hashable, Sendable {
            /// The words of a line or of a heading's title.
            case words(ByteString)
            /// A heading without its title and without strikethrough.
            case heading(ByteString)
        }

        /// The words; `nil` for a line without words.
        let words: Int?
        /// The heading of an entry with an ID; `nil` for other lines. A merge adds the ID to the heading of a person.
        let heading: Int?

        var parts: [Int] { [words, heading].compactMap { $0 } }

        /// Creates the words of a line.
        /// - Parameter withHeading: Whether to number the heading of an entry.
        init(_ line: String, withHeading: Bool, _ numbering: inout Numbering<Part>) {
            var heading = JournalHeadingLine(line)
            let words = Self.words(of: heading?.title ?? line)
            self.words = words.isEmpty ? nil : numbering.number(.words(ByteString(words)))
            heading?.title = ""
            heading?.isStruck = false
            heading?.struckAt = nil
            self.heading = heading.flatMap { heading in
                heading.id == nil || !withHeading ? nil : numbering.number(.heading(ByteString(heading.text)))
            }
        }

        /// Returns the words of letters, digits and symbols such as emoji, separated by spaces. In ASCII, symbols are Markdown.
        private static func words(of text: String) -> String {
            guard text.isASCII else {
                return text.split { character in
                    !character.isLetter && !character.isNumber && (character.isASCII || !character.isSymbol)
                }.joined(separator: " ")
            }
            var words: [UInt8] = []
            words.reserveCapacity(text.utf8.count)
            var isInWord = false
            for byte in text.utf8 {
                let wasInWord = isInWord
                isInWord = MergeCheck.isWordByte(byte)
                guard isInWord else { continue }
                if !wasInWord, !words.isEmpty { words.append(UInt8(ascii: " ")) }
                words.append(byte)
            }
            return String(decoding: words, as: UTF8.self)
        }
    }

    /// Returns the last line of a version without a line end, if it ends within a heading of the base, and the
    /// other lines are the beginning of the base: a killed writer left it.
    private func cutHeading(of version: CheckedText) -> Int? {
        guard !version.endsWithLine, let last = version.lines.last, let base,
            base.lines.starts(with: version.lines.dropLast()), base.lines.count >= version.lines.count
        else { return nil }
        let text = numbering.values[last].string
        let line = numbering.values[base.lines[version.lines.count - 1]].string
        let isCut =
            line.utf8.starts(with: "## ".utf8) && line.utf8.starts(with: text.utf8) && line.utf8.count > text.utf8.count
        return isCut ? last : nil
    }
}
