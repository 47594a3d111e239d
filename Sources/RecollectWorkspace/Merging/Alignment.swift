/// The lines, or the headings, of a version in terms of its base.
struct Alignment: Hashable {
    /// For each position of the base, whether the version keeps it.
    let isKept: [Bool]
    /// The kept positions, in the version's order.
    let order: [Int]
    /// The positions with an insertion after them; -1 for the beginning.
    private var insertions: Set<Int> = []

    /// Creates an alignment.
    /// - Parameters:
    ///   - positions: The position in the base of each element of the version; `nil` for an insertion.
    ///   - count: The number of elements of the base.
    init(_ positions: [Int?], against count: Int) {
        var isKept = Array(repeating: false, count: count)
        var last = -1
        for position in positions {
            if let position {
                isKept[position] = true
                last = position
            } else {
                insertions.insert(last)
            }
        }
        self.isKept = isKept
        order = positions.compactMap { $0 }
    }

    /// Whether the version exchanged elements of the base.
    var hasMoves: Bool { zip(order, order.dropFirst()).contains { $0 > $1 } }

    /// Returns, at each position + 1, the nearest element at or before it in this version, among some of the kept
    /// ones; -1 for the beginning.
    func anchors(among isAnchor: [Bool]) -> [Int] {
        var anchors = Array(repeating: -1, count: isKept.count + 1)
        var anchor = -1
        for position in order {
            if isAnchor[position] { anchor = position }
            anchors[position + 1] = anchor
        }
        return anchors
    }

    /// Whether a version replaced an element, and another version moved it, or moved another one past it. A merge
    /// puts the replacement at the old position, and so undoes the move.
    static func hasMovedReplacement(in versions: [Alignment]) -> Bool {
        let isMoving = versions.map(\.hasMoves)
        guard isMoving.contains(true), let first = versions.first else { return false }
        let isKept = first.isKept.indices.map { position in versions.allSatisfy { $0.isKept[position] } }
        let anchors = versions.map { $0.anchors(among: isKept) }
        return versions.indices.contains { mover in
            isMoving[mover]
                && versions.indices.contains { other in
                    other != mover
                        && versions[other].replacements.contains { position, anchor in
                            versions[mover].isKept[position]
                                && anchors[mover][position + 1] != anchors[other][anchor + 1]
                        }
                }
        }
    }

    /// The elements of the base missing right after an element with an insertion after it.
    private var replacements: [(position: Int, after: Int)] {
        insertions.flatMap { anchor in
            (anchor + 1..<isKept.count).prefix { !isKept[$0] }.map { (position: $0, after: anchor) }
        }
    }
}
