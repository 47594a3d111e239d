/// What a version changed among the lines of a section: which of the base's lines it kept, and what it wrote after which of them.
///
/// A line that comes once in both is the same one wherever the version has it: moving a line is no change. One that comes more often is
/// told by its neighbors, and where these are new, by how many of its text come before it.
struct GapChanges: Hashable {
    typealias Unit = MarkdownSection.Unit
    typealias Piece = MarkdownSection.Piece

    /// What was written at one place by one or more versions.
    struct Writing: Hashable {
        /// Runs of lines that belong together, each with the most blank lines that stand before it.
        var runs: [String: Int] = [:]
        /// Those of them that were alternatives in blocks.
        var alternatives: Set<String> = []
        /// Lists of items behind them, as each version has them.
        var lists: Set<[String]> = []
        /// The most blank lines before such a list, and between its items.
        var listSpacing = 0
        var itemSpacing = 0

        mutating func unite(_ other: Writing) {
            runs.merge(other.runs, uniquingKeysWith: max)
            alternatives.formUnion(other.alternatives)
            lists.formUnion(other.lists)
            listSpacing = max(listSpacing, other.listSpacing)
            itemSpacing = max(itemSpacing, other.itemSpacing)
        }
    }

    /// The places of the base's lines that are kept.
    private var kept: Set<Int>
    /// What was written, by the place of the line before it; -1 before all.
    private var writings: [Int: Writing] = [:]
    /// The most blank lines before a line of the base, by its place.
    private var spacing: [Int: Int] = [:]

    /// Reads a version's changes.
    init(of version: [Piece], against base: Places) {
        kept = []
        var anchor = -1
        var run: [Unit] = []
        for (piece, place) in zip(version, base.places(of: version)) {
            if let place {
                note(run, at: anchor, beside: base)
                run = []
                anchor = place
                kept.insert(place)
                spacing[place] = piece.spacing
                continue
            }
            switch piece {
            case .unit(let unit): run.append(unit)
            case .block(let block):
                note(run, at: anchor, beside: base)
                run = []
                // As they would be written outside of a block, where another merge may put them.
                let runs = Dictionary(block.alternatives.map { (MarkdownSection($0, as: base.syntax).lone, 1) }) {
                    first, _ in first
                }
                writings[anchor, default: Writing()].unite(Writing(runs: runs, alternatives: Set(runs.keys)))
            }
        }
        note(run, at: anchor, beside: base)
    }

    /// Whether nothing is gone and nothing was written, no blank line either.
    func isNothing(against base: Places) -> Bool {
        kept.count == base.pieces.count && writings.isEmpty
            && spacing.allSatisfy { $0.value <= base.pieces[$0.key].spacing }
    }

    /// Takes note of lines that stand together: items at their end are a list of their own.
    private mutating func note(_ run: [Unit], at anchor: Int, beside base: Places) {
        var writing = Writing()
        let items = run.reversed().prefix(while: \.isItem).reversed()
        let lines = run.dropLast(items.count)
        if let first = lines.first {
            let text = lines.dropFirst().reduce(into: first.text) { text, unit in
                text += String(repeating: "\n", count: unit.spacing + 1) + unit.text
            }
            writing.runs = [text: first.spacing]
        }
        if let first = items.first {
            writing.lists = [items.map(\.text)]
            writing.listSpacing = first.spacing
            writing.itemSpacing = items.dropFirst().map(\.spacing).max() ?? 0
        }
        guard !writing.runs.isEmpty || !writing.lists.isEmpty else { return }
        writings[anchor, default: Writing()].unite(writing)
    }

    private mutating func unite(_ other: GapChanges) {
        kept.formIntersection(other.kept)
        writings.merge(other.writings) { left, right in
            var both = left
            both.unite(right)
            return both
        }
        spacing.merge(other.spacing, uniquingKeysWith: max)
    }

    // MARK: - Merging

    /// The lines of several versions as one.
    static func merged(base: [Piece]?, versions: [[Piece]], as syntax: MarkdownSection.Syntax) -> [Piece] {
        let places = Places(base ?? commonPrefix(of: versions), as: syntax)
        let all = versions.map { GapChanges(of: $0, against: places) }
        guard var changes = all.first else { return places.pieces }
        all.dropFirst().forEach { changes.unite($0) }
        return changes.applied(to: places)
    }

    /// The lines with which all versions begin, whatever blank lines stand before each.
    private static func commonPrefix(of versions: [[Piece]]) -> [Piece] {
        guard let first = versions.first else { return [] }
        let count = versions.dropFirst().reduce(first.count) { count, version in
            zip(first.prefix(count), version).prefix { Places.Name($0) == Places.Name($1) }.count
        }
        return Array(first.prefix(count))
    }

    private func applied(to base: Places) -> [Piece] {
        // What was written after a line that is gone stands after the last one before it that is not.
        var standing: [Int: Writing] = [:]
        var last = -1
        for place in -1..<base.pieces.count {
            if kept.contains(place) { last = place }
            if let writing = writings[place] { standing[last, default: Writing()].unite(writing) }
        }
        return (-1..<base.pieces.count).flatMap { place -> [Piece] in
            var pieces: [Piece] = []
            if kept.contains(place) { pieces.append(base.pieces[place].with(spacing: spacing[place] ?? 0)) }
            if let writing = standing[place] { pieces += writing.pieces(beside: base) }
            return pieces
        }
    }

    /// The lines of a base, and where each stands.
    struct Places {
        /// What tells one piece from another one, whatever blank lines stand before it.
        enum Name: Hashable {
            case unit(String)
            case block(LabelledBlock)

            init(_ piece: Piece) {
                switch piece {
                case .unit(let unit): self = .unit(unit.text)
                case .block(let block): self = .block(block)
                }
            }
        }

        let pieces: [Piece]
        let syntax: MarkdownSection.Syntax
        private let names: [Name]
        private var places: [Name: [Int]] = [:]

        init(_ pieces: [Piece], as syntax: MarkdownSection.Syntax) {
            self.pieces = pieces
            self.syntax = syntax
            names = pieces.map(Name.init)
            for (place, name) in names.enumerated() { places[name, default: []].append(place) }
        }

        /// Which line of the base each line of a version is; `nil` for those that are none.
        func places(of version: [Piece]) -> [Int?] {
            let version = version.map(Name.init)
            var numbers: [Name: [Int]] = [:]
            for (number, name) in version.enumerated() { numbers[name, default: []].append(number) }
            var found: [Int?] = Array(repeating: nil, count: version.count)
            var taken: Set<Int> = []
            func take(_ place: Int, for number: Int) {
                found[number] = place
                taken.insert(place)
            }
            for (name, numbers) in numbers where numbers.count == 1 && places[name]?.count == 1 {
                places[name].map { take($0[0], for: numbers[0]) }
            }
            func takeNeighbor(_ number: Int, of neighbor: Int, at distance: Int) {
                guard found[number] == nil, let place = found[neighbor].map({ $0 + distance }),
                    names.indices.contains(place), names[place] == version[number], !taken.contains(place)
                else { return }
                take(place, for: number)
            }
            for number in version.indices.dropFirst() { takeNeighbor(number, of: number - 1, at: 1) }
            for number in version.indices.dropLast().reversed() { takeNeighbor(number, of: number + 1, at: -1) }
            for (name, numbers) in numbers {
                let free = places[name, default: []].filter { !taken.contains($0) }
                for (number, place) in zip(numbers.filter { found[$0] == nil }, free) { take(place, for: number) }
            }
            return found
        }

        func contains(_ name: Name) -> Bool { places[name] != nil }
    }
}

extension GapChanges.Writing {
    /// What stands there: one run as it is, several in a block; behind them the items.
    fileprivate func pieces(beside base: GapChanges.Places) -> [MarkdownSection.Piece] {
        let runs = largestRuns
        var pieces: [MarkdownSection.Piece] = []
        if runs.count == 1, let run = runs.first, let units = plainUnits(of: run, beside: base) {
            pieces = units.map { .unit($0) }
            pieces[0] = pieces[0].with(spacing: self.runs[run] ?? 0)
        } else if !runs.isEmpty {
            var block = LabelledBlock(alternatives: runs)
            while base.contains(.block(block)) { block.number += 1 }
            pieces = [.block(block)]
        }
        let items = OrderedUnion.of(lists).enumerated().map { place, text in
            MarkdownSection.Unit(text: text, isItem: true, spacing: place == 0 ? listSpacing : itemSpacing)
        }
        return pieces + items.map { .unit($0) }
    }

    /// The runs that no other one contains, line by line in the same order.
    private var largestRuns: Set<String> {
        guard runs.count > 1 else { return Set(runs.keys) }
        let lines = Dictionary(uniqueKeysWithValues: runs.keys.map { ($0, $0.lines.filter { !$0.isBlank }) })
        return Set(
            runs.keys.filter { run in
                !runs.keys.contains { other in
                    other != run && (lines[run] ?? []).isContained(in: lines[other] ?? [])
                        && (lines[run] != lines[other] || other.utf8.lexicographicallyPrecedes(run.utf8))
                }
            })
    }

    /// A run as lines that are read back as this run; `nil` where they would be taken for something else.
    private func plainUnits(of run: String, beside base: GapChanges.Places) -> [MarkdownSection.Unit]? {
        let section = MarkdownSection(run, as: base.syntax)
        let units = section.pieces.compactMap { piece -> MarkdownSection.Unit? in
            guard case .unit(let unit) = piece else { return nil }
            // Outside of its block it would be taken for the base's line.
            return alternatives.contains(run) && base.contains(.unit(unit.text)) ? nil : unit
        }
        guard section.children.isEmpty, units.count == section.pieces.count, units.last?.isItem == false else {
            return nil
        }
        return units
    }
}

extension [String] {
    /// Whether the lines stand in others, in their order.
    fileprivate func isContained(in others: [String]) -> Bool {
        var rest = self[...]
        for other in others where other == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }
}
