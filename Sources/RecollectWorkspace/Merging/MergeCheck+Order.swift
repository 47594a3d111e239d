extension MergeCheck {
    /// Whether the lines of the result have the order given by the versions.
    var keepsOrder: Bool {
        let isShared = merged.positions.indices.map { line in
            merged.positions[line] != nil && versions.allSatisfy { $0.positions[line] != nil }
        }
        guard keepsCommonOrder(of: isShared) else { return false }
        return hasBlocks || keepsMoves(of: isShared) && keepsInsertions(between: isShared)
    }

    /// Whether one line is before another in the result.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (merged.positions[left] ?? .max) < (merged.positions[right] ?? .min)
    }

    /// Whether one line is before another in all versions.
    private func precedesEverywhere(_ left: Int, _ right: Int) -> Bool {
        versions.allSatisfy { ($0.positions[left] ?? .max) < ($0.positions[right] ?? .min) }
    }

    /// Whether lines in the same order in all versions keep it. Of more than two versions, only neighbors are
    /// compared.
    private func keepsCommonOrder(of isShared: [Bool]) -> Bool {
        guard versions.count == 2 else {
            return versions.allSatisfy { version in
                let lines = version.lines.filter { isShared[$0] }
                return zip(lines, lines.dropFirst()).allSatisfy { !precedesEverywhere($0, $1) || precedes($0, $1) }
            }
        }
        var seen = GreatestFrom(count: versions[0].lines.count)
        for line in merged.lines {
            guard isShared[line], let first = versions[0].positions[line], let second = versions[1].positions[line]
            else {
                continue
            }
            // An earlier line of the result is after this one in both versions.
            if seen.greatest(from: first + 1) > second { return false }
            seen.note(second, at: first)
        }
        return true
    }

    /// Whether neighbors in a version keep its order, if it contradicts the base.
    private func keepsMoves(of isShared: [Bool]) -> Bool {
        guard let base else { return true }
        return versions.allSatisfy { version in
            let lines = version.lines.filter { isShared[$0] && base.positions[$0] != nil }
            return zip(lines, lines.dropFirst()).allSatisfy { left, right in
                (base.positions[left] ?? .max) < (base.positions[right] ?? .min) || precedes(left, right)
            }
        }
    }

    /// Whether the lines of one version alone stay in its order between the shared lines around them, if these
    /// shared lines have the same order in all versions.
    private func keepsInsertions(between isShared: [Bool]) -> Bool {
        versions.indices.allSatisfy { index in
            // The last shared line, and the version's own lines after it.
            var run: [Int] = []
            var startsWithShared = false
            func isKept(before next: Int?) -> Bool {
                if startsWithShared, let next, !precedesEverywhere(run[0], next) { return true }
                let lines = run + (next.map { [$0] } ?? [])
                return zip(lines, lines.dropFirst()).allSatisfy(precedes)
            }
            for line in versions[index].lines {
                if isShared[line] {
                    guard isKept(before: line) else { return false }
                    (run, startsWithShared) = ([line], true)
                } else if isOwn(line, of: index) {
                    run.append(line)
                }
            }
            return isKept(before: nil)
        }
    }

    /// Whether a line occurs once in the result and in one version, and in no other version.
    private func isOwn(_ line: Int, of index: Int) -> Bool {
        merged.positions[line] != nil && versions[index].positions[line] != nil
            && versions.indices.allSatisfy { $0 == index || versions[$0].counts[line] == 0 }
    }
}

/// The greatest number noted at any position from a given one on: a Fenwick tree.
private struct GreatestFrom {
    private var tree: [Int]

    init(count: Int) {
        tree = Array(repeating: -1, count: count + 1)
    }

    mutating func note(_ number: Int, at position: Int) {
        var node = tree.count - 1 - position
        while node < tree.count {
            tree[node] = max(tree[node], number)
            node += node & -node
        }
    }

    func greatest(from position: Int) -> Int {
        var node = tree.count - 1 - position
        var result = -1
        while node > 0 {
            result = max(result, tree[node])
            node -= node & -node
        }
        return result
    }
}
