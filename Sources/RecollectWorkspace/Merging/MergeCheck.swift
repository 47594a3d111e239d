import Foundation
import RecollectCore

/// Finds out what a merge dropped or moved, from the texts alone: nothing of the code that merges is used.
///
/// - A line of a version may be missing in the result only if the base has it and another version has not: there it was deleted.
/// - Lines in the same order in all versions keep it in the result.
/// - Two lines that stand together in a version, against the order of the base, keep the version's order.
/// - A line of one version alone stands between the same lines, if these stand in one order in all versions.
///
/// Blank lines, line ends, forms of letters and the marks of labelled blocks make no difference. In the journal, whose entries
/// are written anew, the check compares words, not lines.
struct MergeCheck {
    private let numbering: Numbering<ByteString>
    private let merged: Text
    private let versions: [Text]
    private let base: Text?
    private let isJournal: Bool

    /// - Parameter isJournal: Whether the texts are days of the journal.
    init(_ merged: String, of versions: [String], base: String?, isJournal: Bool) {
        var numbering = Numbering<ByteString>()
        self.merged = Text(merged, &numbering)
        self.versions = versions.map { Text($0, &numbering) }
        self.base = base.map { Text($0, &numbering) }
        self.isJournal = isJournal
        self.numbering = numbering
    }

    /// Whether nothing is missing but what was deleted, and nothing was moved.
    var isPassed: Bool {
        isJournal ? hasAllWords : hasAllLines && keepsOrder && keepsMoves && keepsNeighbors
    }

    /// Whether a line stands in the result more often than in the base and all insertions of versions together.
    var repeatsLines: Bool {
        guard let base, !isJournal, !versions.contains(where: \.hasBlocks) else { return false }
        var most = counts(in: base)
        let old = most
        for version in versions.map(counts) {
            for line in most.indices { most[line] += max(0, version[line] - old[line]) }
        }
        return zip(counts(in: merged), most).contains { $0 > $1 }
    }

    /// The lines of the versions that were taken for deleted, in order, each once.
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
        // Of alternatives, one that another one holds is dropped.
        let isCounted = !versions.contains(where: \.hasBlocks)
        let merged = counts(in: merged)
        let versions = versions.map(counts)
        let base = base.map(counts)
        return numbering.values.indices.allSatisfy { line in
            let most = versions.map { $0[line] }.max() ?? 0
            let least = versions.map { $0[line] }.min() ?? 0
            let deleted = max(0, (base?[line] ?? 0) - least)
            let needed = max(0, most - deleted)
            return merged[line] >= (isCounted ? needed : min(needed, 1))
        }
    }

    /// How often each line stands in a text.
    private func counts(in text: Text) -> [Int] {
        var counts = Array(repeating: 0, count: numbering.values.count)
        for line in text.lines { counts[line] += 1 }
        return counts
    }

    /// Where each line stands in a text; -1 for those that do not stand there, -2 for those that stand there several times.
    private func places(in text: Text) -> [Int] {
        var places = Array(repeating: -1, count: numbering.values.count)
        let counts = counts(in: text)
        for (place, line) in text.lines.enumerated() { places[line] = counts[line] == 1 ? place : -2 }
        return places
    }

    private var keepsOrder: Bool {
        let places = versions.map(places)
        let inMerged = self.places(in: merged)
        let isCompared = numbering.values.indices.map { line in
            inMerged[line] >= 0 && places.allSatisfy { $0[line] >= 0 }
        }
        let orders = versions.map { $0.lines.filter { isCompared[$0] } }
        if Set(orders).count == 1, !versions.contains(where: \.hasBlocks) {
            return merged.lines.filter { isCompared[$0] } == orders.first
                && versions.indices.allSatisfy { keepsPlaces(of: $0, among: places, isCompared, in: inMerged) }
        }
        guard versions.count == 2 else {
            // Of more than two versions only the neighbors in each are compared.
            return versions.allSatisfy { version in
                let lines = version.lines.filter { isCompared[$0] }
                return zip(lines, lines.dropFirst()).allSatisfy { left, right in
                    let isEverywhere = places.allSatisfy { $0[left] < $0[right] }
                    return !isEverywhere || inMerged[left] < inMerged[right]
                }
            }
        }
        // A line must not stand above one that both versions have above it.
        var seen = GreatestFrom(count: versions[0].lines.count)
        for line in merged.lines where isCompared[line] {
            if seen.greatest(from: places[0][line] + 1) > places[1][line] { return false }
            seen.note(places[1][line], at: places[0][line])
        }
        return true
    }

    /// Whether lines stand as in the version that moved them.
    private var keepsMoves: Bool {
        guard let base, !versions.contains(where: \.hasBlocks) else { return true }
        let (inBase, inMerged, places) = (self.places(in: base), self.places(in: merged), versions.map(places))
        return versions.allSatisfy { version in
            let lines = version.lines.filter { line in
                inBase[line] >= 0 && inMerged[line] >= 0 && places.allSatisfy { $0[line] >= 0 }
            }
            return zip(lines, lines.dropFirst()).allSatisfy { left, right in
                inBase[left] < inBase[right] || inMerged[left] < inMerged[right]
            }
        }
    }

    /// Whether each line of one version alone stands between the lines around it there that all versions have, in one order.
    private var keepsNeighbors: Bool {
        guard !versions.contains(where: \.hasBlocks) else { return true }
        let (inMerged, places) = (self.places(in: merged), versions.map(places))
        let isCompared = numbering.values.indices.map { line in
            inMerged[line] >= 0 && places.allSatisfy { $0[line] >= 0 }
        }
        return versions.indices.allSatisfy { index in
            var before: Int?
            var own: [Int] = []
            func stands(_ line: Int, before next: Int?) -> Bool {
                if let before, let next, !places.allSatisfy({ $0[before] < $0[next] }) { return true }
                return before.map { inMerged[$0] < inMerged[line] } ?? true
                    && next.map { inMerged[line] < inMerged[$0] } ?? true
            }
            for line in versions[index].lines {
                if isCompared[line] {
                    if !own.allSatisfy({ stands($0, before: line) }) { return false }
                    (before, own) = (line, [])
                } else if inMerged[line] >= 0, places[index][line] >= 0,
                    places.indices.allSatisfy({ $0 == index || places[$0][line] == -1 })
                {
                    own.append(line)
                }
            }
            return own.allSatisfy { stands($0, before: nil) }
        }
    }

    /// Whether the lines that only one version has stand as there among each other and among those that all versions have.
    private func keepsPlaces(
        of version: Int, among places: [[Int]], _ isCompared: [Bool], in inMerged: [Int]
    ) -> Bool {
        var (last, lastOwn) = (-1, -1)
        for line in versions[version].lines where inMerged[line] >= 0 && places[version][line] >= 0 {
            let isOwn = !places.indices.contains { $0 != version && places[$0][line] != -1 }
            guard isOwn || isCompared[line] else { continue }
            let place = inMerged[line]
            if place < (isOwn ? last : lastOwn) { return false }
            last = max(last, place)
            if isOwn { lastOwn = max(lastOwn, place) }
        }
        return true
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

    private func words(of text: Text) -> Set<String> {
        Set(text.lines.flatMap { Self.words(of: numbering.values[$0].string) })
    }

    /// Letters and digits that stand together; of an entry's heading those of its title.
    private static func words(of line: String) -> [String] {
        let text = JournalHeadingLine(line)?.title ?? line
        return text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// A text as it is compared.
    private struct Text {
        /// The numbers of the lines that are not blank and are no marks of blocks.
        let lines: [Int]
        let hasBlocks: Bool

        init(_ text: String, _ numbering: inout Numbering<ByteString>) {
            let all = text.composed.lines
            lines = all.filter { !$0.isBlank && !Self.isMark($0) }.map { numbering.number(ByteString($0)) }
            hasBlocks = all.contains { $0.utf8.starts(with: "<!-- recollect:".utf8) }
        }

        private static func isMark(_ line: String) -> Bool {
            let plain = line.utf8.drop { $0 == UInt8(ascii: "\\") }
            return plain.starts(with: "<!-- recollect:".utf8)
                || plain.starts(with: "*Changed in two places at once;".utf8)
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
