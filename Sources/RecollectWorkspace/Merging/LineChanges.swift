import RecollectCore

/// The changes of a version to the lines of a section: the kept lines of the base, their order, and the insertions
/// after each line.
///
/// A line unique in both base and version is the same line at any position, so a version may move lines. Repeated
/// lines are matched by their neighbors, and the rest in order.
struct LineChanges: Hashable {
    typealias Unit = MarkdownSection.Unit
    typealias Piece = MarkdownSection.Piece

    /// The insertions of one or more versions at one position.
    struct Insertion: Hashable {
        /// Runs of lines, each with the largest number of blank lines before it.
        var runs: [String: Int] = [:]
        /// The runs from the alternatives of conflict blocks.
        var alternatives: Set<String> = []
        /// The lists of items after the runs.
        var lists: Set<[String]> = []
        /// The largest number of blank lines before such a list, and between its items.
        var listSpacing = 0
        var itemSpacing = 0

        mutating func formUnion(_ other: Insertion) {
            runs.merge(other.runs, uniquingKeysWith: max)
            alternatives.formUnion(other.alternatives)
            lists.formUnion(other.lists)
            listSpacing = max(listSpacing, other.listSpacing)
            itemSpacing = max(itemSpacing, other.itemSpacing)
        }
    }

    /// The kept lines of the base.
    private let alignment: Alignment
    /// The insertions, by the position of the line before them; -1 for the beginning.
    private var insertions: [Int: Insertion] = [:]
    /// The number of blank lines before each kept line.
    private var spacing: [Int]

    /// Creates the changes of a version.
    init(of version: [Piece], against base: Positions) {
        let positions = base.positions(of: version)
        alignment = Alignment(positions, against: base.pieces.count)
        spacing = Array(repeating: 0, count: base.pieces.count)
        var anchor = -1
        var run: [Unit] = []
        for (piece, position) in zip(version, positions) {
            if let position {
                note(run, at: anchor, beside: base)
                run = []
                anchor = position
                spacing[position] = piece.spacing
                continue
            }
            switch piece {
            case .unit(let unit): run.append(unit)
            case .block(let block):
                note(run, at: anchor, beside: base)
                run = []
                // The runs have the form outside of a block, because another merge may put them there.
                let runs = Dictionary(block.alternatives.map { (MarkdownSection($0, as: base.syntax).lone, 1) }) {
                    first, _ in first
                }
                insertions[anchor, default: Insertion()].formUnion(Insertion(runs: runs, alternatives: Set(runs.keys)))
            }
        }
        note(run, at: anchor, beside: base)
    }

    /// The positions of the kept lines, in the version's order.
    private var order: [Int] { alignment.order }

    /// Whether a version has no change: no deletion, no insertion, no move, and no added blank line.
    static func isNothing(in version: [Piece], against base: [Piece], as syntax: MarkdownSection.Syntax) -> Bool {
        guard version.count == base.count else { return false }
        if version == base { return true }
        let changes = LineChanges(of: version, against: Positions(base, as: syntax))
        return changes.insertions.isEmpty && changes.order.elementsEqual(0..<base.count)
            && zip(changes.spacing, base).allSatisfy { $0 <= $1.spacing }
    }

    /// Records a run of adjacent lines. Items at its end become a list.
    private mutating func note(_ run: [Unit], at anchor: Int, beside base: Positions) {
        var insertion = Insertion()
        let items = run.reversed().prefix(while: \.isItem).reversed()
        let lines = run.dropLast(items.count)
        if let first = lines.first {
            let text = lines.dropFirst().reduce(into: first.text) { text, unit in
                text += String(repeating: "\n", count: unit.spacing + 1) + unit.text
            }
            insertion.runs = [text: first.spacing]
        }
        if let first = items.first {
            insertion.lists = [items.map(\.text)]
            insertion.listSpacing = first.spacing
            insertion.itemSpacing = items.dropFirst().map(\.spacing).max() ?? 0
        }
        guard !insertion.runs.isEmpty || !insertion.lists.isEmpty else { return }
        insertions[anchor, default: Insertion()].formUnion(insertion)
    }

    /// The positions of the lines possibly moved by the version: all except those in every longest increasing
    /// subsequence of `order`.
    private var moved: Set<Int> {
        guard alignment.hasMoves else { return [] }
        let before = Self.lengths(order)
        let after = Self.lengths(order.reversed().map { -$0 }).reversed()
        let longest = before.max() ?? 0
        let isIn = zip(before, after).map { $0 + $1 == longest + 1 }
        var counts = Array(repeating: 0, count: longest + 1)
        for (length, isIn) in zip(before, isIn) where isIn { counts[length] += 1 }
        return Set(order.indices.filter { !isIn[$0] || counts[before[$0]] > 1 }.map { order[$0] })
    }

    /// Returns, for each number, the length of the longest increasing subsequence ending there.
    private static func lengths(_ numbers: [Int]) -> [Int] {
        // By length, the least last number of an increasing subsequence.
        var ends: [Int] = []
        return numbers.map { number in
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] < number { low = middle + 1 } else { high = middle }
            }
            if low < ends.count { ends[low] = number } else { ends.append(number) }
            return low + 1
        }
    }

    /// Returns the insertions, by the position of the nearest line before them in this version, among the lines
    /// kept by all versions.
    private func anchored(atKept isKept: [Bool]) -> [Int: Insertion] {
        let anchors = alignment.anchors(among: isKept)
        return insertions.reduce(into: [:]) { anchored, insertion in
            anchored[anchors[insertion.key + 1], default: Insertion()].formUnion(insertion.value)
        }
    }

    // MARK: - Merging

    /// The error for an insertion beside a line possibly moved by another version, or in place of such a line. The
    /// insertion may belong to the line or to its old position.
    struct InsertionBesideMove: Error {}

    /// Merges the lines of several versions.
    static func merged(
        base: [Piece]?, versions: [[Piece]], as syntax: MarkdownSection.Syntax
    ) throws(InsertionBesideMove) -> [Piece] {
        let positions = Positions(base ?? commonPieces(of: versions), as: syntax)
        let all = versions.map { LineChanges(of: $0, against: positions) }
        let moved = all.map(\.moved)
        for (version, own) in zip(all, moved) where moved.contains(where: { !$0.isEmpty }) {
            let others = moved.reduce(into: Set()) { $0.formUnion($1) }.subtracting(own)
            let isBeside = zip([-1] + version.order, version.order + [-1]).contains { position, next in
                version.insertions[position] != nil && (others.contains(position) || others.contains(next))
            }
            if isBeside { throw InsertionBesideMove() }
        }
        if Alignment.hasMovedReplacement(in: all.map(\.alignment)) { throw InsertionBesideMove() }
        let isKept = positions.pieces.indices.map { position in all.allSatisfy { $0.alignment.isKept[position] } }
        let kept = isKept.indices.filter { isKept[$0] }
        let order = OrderedUnion.exchanged(kept, in: all.map { $0.order.filter { isKept[$0] } }) ?? kept
        var spacing = Array(repeating: 0, count: isKept.count)
        var insertions: [Int: Insertion] = [:]
        for version in all {
            for position in kept { spacing[position] = max(spacing[position], version.spacing[position]) }
            for (position, insertion) in version.anchored(atKept: isKept) {
                insertions[position, default: Insertion()].formUnion(insertion)
            }
        }
        var pieces = insertions[-1]?.pieces(beside: positions) ?? []
        for position in order {
            pieces.append(positions.pieces[position].with(spacing: spacing[position]))
            pieces += insertions[position]?.pieces(beside: positions) ?? []
        }
        return pieces
    }

    /// Returns a common subsequence of all versions, ignoring blank lines: their common prefix, and a longest
    /// common subsequence of the pieces that occur once in each version.
    private static func commonPieces(of versions: [[Piece]]) -> [Piece] {
        guard let first = versions.first else { return [] }
        var numbering = Numbering<Positions.Name>()
        let numbers = versions.map { version in
            var last: Int?
            return version.map { piece in
                let number = numbering.number(Positions.Name(piece), after: last)
                last = number
                return number
            }
        }
        let prefix = numbers.reduce(first.count) { count, version in
            zip(numbers[0].prefix(count), version).prefix { $0 == $1 }.count
        }
        var common = Array(numbers[0].indices.dropFirst(prefix))
        for version in numbers {
            // The position of each piece with one occurrence.
            var positions: [Int?] = Array(repeating: nil, count: numbering.values.count)
            var counts = Array(repeating: 0, count: numbering.values.count)
            for (position, number) in version.enumerated() {
                positions[number] = position
                counts[number] += 1
            }
            common.removeAll { counts[numbers[0][$0]] != 1 }
            let increasing = longestIncreasing(common.compactMap { positions[numbers[0][$0]] })
            common = increasing.map { common[$0] }
        }
        return first.prefix(prefix) + common.map { first[$0] }
    }

    /// Returns the indices of a longest increasing subsequence.
    private static func longestIncreasing(_ numbers: [Int]) -> [Int] {
        let lengths = lengths(numbers)
        var rest = lengths.max() ?? 0
        var next = Int.max
        var indices: [Int] = []
        for index in numbers.indices.reversed() where lengths[index] == rest && numbers[index] < next {
            indices.append(index)
            (rest, next) = (rest - 1, numbers[index])
        }
        return indices.reversed()
    }

    /// The lines of a base, indexed by their text.
    struct Positions {
        /// The identity of a piece: its text without the blank lines before it.
        enum Name: Hashable {
            case unit(ByteString)
            case block(ConflictBlock)

            init(_ piece: Piece) {
                switch piece {
                case .unit(let unit): self = .unit(ByteString(unit.text))
                case .block(let block): self = .block(block)
                }
            }
        }

        let pieces: [Piece]
        let syntax: MarkdownSection.Syntax
        private let numbering: Numbering<Name>
        /// The number of each piece's name.
        private let numbers: [Int]
        /// The positions grouped by the number of their name, and the start of each group.
        private var ordered: [Int]
        private var starts: [Int]

        init(_ pieces: [Piece], as syntax: MarkdownSection.Syntax) {
            self.pieces = pieces
            self.syntax = syntax
            var numbering = Numbering<Name>()
            numbers = pieces.map { numbering.number(Name($0)) }
            self.numbering = numbering
            starts = Array(repeating: 0, count: numbering.values.count + 1)
            for number in numbers { starts[number + 1] += 1 }
            for number in numbering.values.indices { starts[number + 1] += starts[number] }
            ordered = Array(repeating: 0, count: numbers.count)
            var next = starts
            for (position, number) in numbers.enumerated() {
                ordered[next[number]] = position
                next[number] += 1
            }
        }

        private func positions(of number: Int) -> ArraySlice<Int> { ordered[starts[number]..<starts[number + 1]] }

        /// Returns the position in the base of each piece of a version; `nil` for an insertion.
        func positions(of version: [Piece]) -> [Int?] {
            var last: Int?
            let known = version.map { piece in
                let number = numbering[Name(piece), after: last]
                last = number ?? last
                return number
            }
            var counts = Array(repeating: 0, count: numbering.values.count)
            for case let number? in known { counts[number] += 1 }
            var found: [Int?] = Array(repeating: nil, count: version.count)
            var isTaken = Array(repeating: false, count: pieces.count)
            func take(_ position: Int, for line: Int) {
                found[line] = position
                isTaken[position] = true
            }
            for (line, number) in known.enumerated() {
                guard let number, counts[number] == 1 else { continue }
                let positions = positions(of: number)
                if positions.count == 1, let position = positions.first { take(position, for: line) }
            }
            func takeNeighbor(_ line: Int, of neighbor: Int, at distance: Int) {
                guard found[line] == nil, let number = known[line],
                    let position = found[neighbor].map({ $0 + distance }),
                    numbers.indices.contains(position), numbers[position] == number, !isTaken[position]
                else { return }
                take(position, for: line)
            }
            for line in version.indices.dropFirst() { takeNeighbor(line, of: line - 1, at: 1) }
            for line in version.indices.dropLast().reversed() { takeNeighbor(line, of: line + 1, at: -1) }
            var next = starts
            for (line, number) in known.enumerated() where found[line] == nil {
                guard let number else { continue }
                while next[number] < starts[number + 1], isTaken[ordered[next[number]]] { next[number] += 1 }
                if next[number] < starts[number + 1] { take(ordered[next[number]], for: line) }
            }
            return found
        }

        func contains(_ name: Name) -> Bool { numbering[name] != nil }
    }
}

extension LineChanges.Insertion {
    /// Returns the pieces: a single run as it is, several in a conflict block; then the items.
    fileprivate func pieces(beside base: LineChanges.Positions) -> [MarkdownSection.Piece] {
        let runs = largestRuns
        var pieces: [MarkdownSection.Piece] = []
        if runs.count == 1, let run = runs.first, let units = plainUnits(of: run, beside: base) {
            pieces = units.map { .unit($0) }
            pieces[0] = pieces[0].with(spacing: self.runs[run] ?? 0)
        } else if !runs.isEmpty {
            var block = ConflictBlock(alternatives: runs)
            while base.contains(.block(block)) { block.number += 1 }
            pieces = [.block(block)]
        }
        let items = OrderedUnion.of(lists).enumerated().map { position, text in
            MarkdownSection.Unit(text: text, isItem: true, spacing: position == 0 ? listSpacing : itemSpacing)
        }
        return pieces + items.map { .unit($0) }
    }

    /// The runs not contained in another run. A run contains the lines of another as a subsequence, ignoring blank
    /// lines. Of runs different only in blank lines, the first in byte order is kept.
    private var largestRuns: Set<String> {
        guard runs.count > 1 else { return Set(runs.keys) }
        let runs = runs.keys.map { (text: $0, lines: $0.lines.filter { !$0.isBlank }) }
        // Only runs with all lines of a run contain it. Of these lines, the rarest one leaves the fewest of them.
        var places: [String: [Int]] = [:]
        for (number, run) in runs.enumerated() {
            for line in Set(run.lines) { places[line, default: []].append(number) }
        }
        let largest = runs.indices.filter { number in
            let run = runs[number]
            let candidates = run.lines.map { places[$0] ?? [] }.min { $0.count < $1.count } ?? Array(runs.indices)
            return !candidates.contains { other in
                other != number && run.lines.isContained(in: runs[other].lines)
                    && (run.lines != runs[other].lines
                        || runs[other].text.utf8.lexicographicallyPrecedes(run.text.utf8))
            }
        }
        return Set(largest.map { runs[$0].text })
    }

    /// Returns a run as units; `nil` if they would not be read back as the same run.
    private func plainUnits(of run: String, beside base: LineChanges.Positions) -> [MarkdownSection.Unit]? {
        let section = MarkdownSection(run, as: base.syntax)
        let units = section.pieces.compactMap { piece -> MarkdownSection.Unit? in
            guard case .unit(let unit) = piece else { return nil }
            // Outside of its block, the unit would be read as the base's line.
            return alternatives.contains(run) && base.contains(LineChanges.Positions.Name(piece)) ? nil : unit
        }
        guard section.children.isEmpty, units.count == section.pieces.count, units.last?.isItem == false else {
            return nil
        }
        return units
    }
}

extension [String] {
    /// Whether the lines are a subsequence of other lines.
    fileprivate func isContained(in others: [String]) -> Bool {
        var rest = self[...]
        for other in others where other == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }
}
