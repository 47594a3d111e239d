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
/// rewrites the entries of a journal, so their check compares words, not lines.
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

    /// Whether only deleted content is missing, and no line was moved. For a journal, only words are checked.
    var isPassed: Bool {
        isJournal ? hasAllWords : hasAllLines && keepsOrder
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
        let words = isJournal ? words(of: merged) : []
        return versions.flatMap { version in
            version.lines.filter { known.insert($0).inserted }.map { numbering.values[$0].string }
                .filter { !isJournal || !Set(Self.words(of: $0)).isSubset(of: words) }
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

    // MARK: Words

    private var hasAllWords: Bool {
        let (words, mergedWords) = (versions.map(words), words(of: merged))
        let baseWords = base.map(self.words) ?? []
        for (version, own) in zip(versions, words) {
            let lastWord = version.lines.last.flatMap { Self.words(of: numbering.values[$0].string).last }
            let isAllowed = own.subtracting(mergedWords).allSatisfy { word in
                if baseWords.contains(word) { return words.contains { !$0.contains(word) } }
                // A killed writer may have left a prefix of the last word.
                return word == lastWord && baseWords.contains { $0 != word && $0.utf8.starts(with: word.utf8) }
            }
            if !isAllowed { return false }
        }
        return true
    }

    private func words(of text: CheckedText) -> Set<String> {
        Set(text.lines.flatMap { Self.words(of: numbering.values[$0].string) })
    }

    /// Returns the words of a line, of letters and digits; for an entry's heading, the words of its title.
    private static func words(of line: String) -> [String] {
        let text = JournalHeadingLine(line)?.title ?? line
        return text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}
