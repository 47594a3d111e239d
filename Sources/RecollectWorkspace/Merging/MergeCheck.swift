import Foundation
import RecollectCore

/// Finds out what a merge dropped or moved, from the texts alone: nothing of the code that merges is used.
///
/// A line of a version may be missing in the result only if the base has it and another version has not: there it was deleted. Lines
/// that stand in one order in all versions must stand so in the result. Blank lines, line ends, forms of letters and
/// the marks of labelled blocks make no difference. In the journal, whose entries are taken apart and written anew, words are
/// compared, not lines.
struct MergeCheck {
    private let merged: Text
    private let versions: [Text]
    private let base: Text?
    private let isJournal: Bool

    /// - Parameter isJournal: Whether the texts are days of the journal.
    init(_ merged: String, of versions: [String], base: String?, isJournal: Bool) {
        self.merged = Text(merged)
        self.versions = versions.map(Text.init)
        self.base = base.map(Text.init)
        self.isJournal = isJournal
    }

    /// Whether nothing is missing but what was deleted, and nothing was moved.
    var isPassed: Bool {
        isJournal ? hasAllWords : hasAllLines && keepsOrder
    }

    /// The lines of the versions that were taken for deleted, in order, each once.
    var deleted: [String] {
        var known = Set(merged.lines)
        let words = isJournal ? merged.words : []
        return versions.flatMap { version in
            version.lines.filter { line in
                guard known.insert(line).inserted else { return false }
                return !isJournal || !Text(line).words.isSubset(of: words)
            }
        }
    }

    // MARK: Lines

    private var hasAllLines: Bool {
        // Of alternatives, one that another one holds is dropped.
        let isCounted = !versions.contains(where: \.hasBlocks)
        let counts = versions.map(\.counts)
        for line in Set(versions.flatMap(\.lines)) {
            let most = counts.map { $0[line, default: 0] }.max() ?? 0
            let least = counts.map { $0[line, default: 0] }.min() ?? 0
            let deleted = max(0, (base?.counts[line] ?? 0) - least)
            let needed = max(0, most - deleted)
            if merged.counts[line, default: 0] < (isCounted ? needed : min(needed, 1)) { return false }
        }
        return true
    }

    private var keepsOrder: Bool {
        let lines = merged.lines.filter { line in
            merged.counts[line] == 1 && versions.allSatisfy { $0.counts[line] == 1 }
        }
        let places = versions.map { version in
            Dictionary(version.lines.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }
        guard versions.count == 2 else {
            // Of more than two versions only the neighbors in each are compared.
            let inMerged = Dictionary(uniqueKeysWithValues: lines.enumerated().map { ($1, $0) })
            return versions.allSatisfy { version in
                let ordered = version.lines.filter { inMerged[$0] != nil }
                return zip(ordered, ordered.dropFirst()).allSatisfy { left, right in
                    let isEverywhere = places.allSatisfy { ($0[left] ?? 0) < ($0[right] ?? 0) }
                    return !isEverywhere || (inMerged[left] ?? 0) < (inMerged[right] ?? 0)
                }
            }
        }
        // A line must not stand above one that both versions have above it.
        var seen = GreatestFrom(count: versions[0].lines.count)
        for line in lines {
            guard let one = places[0][line], let other = places[1][line] else { continue }
            if seen.greatest(from: one + 1) > other { return false }
            seen.note(other, at: one)
        }
        return true
    }

    // MARK: Words

    private var hasAllWords: Bool {
        let (words, mergedWords, baseWords) = (versions.map(\.words), merged.words, base?.words ?? [])
        for (version, own) in zip(versions, words) {
            let isAllowed = own.subtracting(mergedWords).allSatisfy { word in
                if baseWords.contains(word) { return words.contains { !$0.contains(word) } }
                // A killed writer may have left a prefix of the last word.
                return word == version.lastWord
                    && baseWords.contains { $0 != word && $0.utf8.starts(with: word.utf8) }
            }
            if !isAllowed { return false }
        }
        return true
    }

    /// A text as it is compared.
    private struct Text {
        /// The lines that are not blank and are no marks of blocks.
        let lines: [String]
        let hasBlocks: Bool
        let counts: [String: Int]

        init(_ text: String) {
            let all = text.composed.lines
            lines = all.compactMap { line in
                let plain = line.drop { $0 == "\\" }
                let isMark = plain.hasPrefix("<!-- recollect:") || plain.hasPrefix("*Changed in two places at once;")
                return line.isBlank || isMark ? nil : line
            }
            hasBlocks = all.contains { $0.hasPrefix("<!-- recollect:") }
            counts = lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }

        /// Letters and digits that stand together; of an entry's heading those of its title.
        var words: Set<String> { Set(lines.flatMap(Self.words)) }

        var lastWord: String? { lines.last.flatMap { Self.words(of: $0).last } }

        private static func words(of line: String) -> [String] {
            let text = JournalHeadingLine(line)?.title ?? line
            return text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
    }
}

/// The greatest number noted at any place from one on: a Fenwick tree.
private struct GreatestFrom {
    private var tree: [Int]

    init(count: Int) {
        tree = Array(repeating: -1, count: count + 1)
    }

    mutating func note(_ number: Int, at place: Int) {
        var node = tree.count - 1 - place
        while node < tree.count {
            tree[node] = max(tree[node], number)
            node += node & -node
        }
    }

    func greatest(from place: Int) -> Int {
        var node = tree.count - 1 - place
        var result = -1
        while node > 0 {
            result = max(result, tree[node])
            node -= node & -node
        }
        return result
    }
}
