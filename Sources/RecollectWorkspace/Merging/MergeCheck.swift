import Foundation
import RecollectCore

/// Checks a merge for dropped or moved lines. It uses only the texts and shares no code with the merge.
///
/// - A line of a version may be missing in the result only if the base has it and another version has deleted it.
/// - Lines in the same order in all versions keep it in the result.
/// - Neighbors in a version, in an order contradicting the base, keep the version's order.
/// - A line of one version alone stays between its neighbors, if these have the same order in all versions.
///
/// The check ignores blank lines, line ends, Unicode normalization, and the marks of conflict blocks. A merge
/// rewrites the entries of a journal, so their check compares the words of each line, and not the order of lines.
struct MergeCheck {
    private let numbering: Numbering<ByteString>
    let merged: CheckedText
    let versions: [CheckedText]
    let base: CheckedText?
    private let isJournal: Bool

    /// Creates a check of a merge's result.
    /// - Parameter isJournal: Whether the texts are days of the journal.
    init(_ merged: String, of versions: [String], base: String?, isJournal: Bool) {
        var numbering = Numbering<ByteString>()
        let mergedLines = CheckedText.Lines(merged, &numbering)
        let versionsLines = versions.map { CheckedText.Lines($0, &numbering) }
        let baseLines = base.map { CheckedText.Lines($0, &numbering) }
        let count = numbering.values.count
        self.merged = CheckedText(mergedLines, of: count)
        self.versions = versionsLines.map { CheckedText($0, of: count) }
        self.base = baseLines.map { CheckedText($0, of: count) }
        self.isJournal = isJournal
        self.numbering = numbering
    }

    /// Whether only deleted content is missing, and no line was moved. For a journal, the order is not checked.
    var isPassed: Bool {
        isJournal ? hasAllEntries : hasAllLines && keepsOrder
    }

    /// Whether the result has a line more often than the base and all insertions of the versions together.
    var repeatsLines: Bool {
        guard let base, !isJournal, !hasBlocks else { return false }
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
        let words = isJournal ? Set(merged.lines.map(words)) : []
        return versions.flatMap { version in
            version.lines.filter { known.insert($0).inserted }
                .filter { !isJournal || !self.words(of: $0).isEmpty && !words.contains(self.words(of: $0)) }
                .map { numbering.values[$0].string }
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
            return merged.counts[line] >= (isCounted ? needed : min(needed, 1))
        }
    }

    // MARK: Entries

    private var hasAllEntries: Bool {
        // Most lines are in several texts.
        let lines = numbering.values.indices.map { parts(ofLine: $0) }
        func allParts(_ text: CheckedText) -> Set<Part> { Set(text.lines.flatMap { lines[$0] }) }
        let (own, merged) = (versions.map(allParts), allParts(merged))
        let old = base.map(allParts) ?? []
        return zip(versions, own).allSatisfy { version, parts in
            let missing = parts.subtracting(merged).subtracting(cutHeading(of: version))
            return missing.allSatisfy { part in old.contains(part) && own.contains { !$0.contains(part) } }
        }
    }

    /// A part of an entry.
    private enum Part: Hashable {
        /// The words of a line or of a heading's title.
        case words([String])
        /// A heading without its title and without strikethrough.
        case heading(String)
    }

    private func parts(ofLine line: Int) -> [Part] {
        let words = words(of: line)
        let text: [Part] = words.isEmpty ? [] : [.words(words)]
        // A merge adds the ID to the heading of a person, and the date.
        guard var heading = JournalHeadingLine(numbering.values[line].string), heading.id != nil, heading.date != nil
        else { return text }
        heading.title = ""
        heading.isStruck = false
        heading.struckAt = nil
        return text + [.heading(heading.text)]
    }

    /// Returns the parts of a last line without a line end, if the version ends within a heading of the base, and its
    /// other lines are the beginning of the base: a killed writer left it.
    private func cutHeading(of version: CheckedText) -> [Part] {
        guard !version.endsWithLine, let last = version.lines.last, let base,
            base.lines.starts(with: version.lines.dropLast()), base.lines.count >= version.lines.count
        else { return [] }
        let text = numbering.values[last].string
        let line = numbering.values[base.lines[version.lines.count - 1]].string
        let isCut =
            line.utf8.starts(with: "## ".utf8) && line.utf8.starts(with: text.utf8) && line.utf8.count > text.utf8.count
        return isCut ? parts(ofLine: last) : []
    }

    /// Returns the words of a line, of letters and digits; for an entry's heading, the words of its title.
    private func words(of line: Int) -> [String] {
        let text = numbering.values[line].string
        return (JournalHeadingLine(text)?.title ?? text).split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}
