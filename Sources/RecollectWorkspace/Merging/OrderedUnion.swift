/// The union of sequences of texts. It has each text as often as the sequence with its most occurrences.
///
/// The union keeps the order of each sequence. Texts without a common order are sorted by another sequence, then
/// by their bytes. If the sequences contradict each other, texts of the other sequence have the order of
/// `exchanged`, and each other text follows the text before it.
enum OrderedUnion {
    /// Returns the union of sequences.
    /// - Parameters:
    ///   - sequences: The texts.
    ///   - other: The order of texts without a common order.
    static func of(_ sequences: some Collection<[String]>, or other: [String] = []) -> [String] {
        var numbering = Numbering<Occurrence>()
        let different = Set(sequences.map { occurrences(in: $0).map { numbering.number($0) } })
        guard different.count > 1 else { return sequences.first ?? [] }
        var ranks = Array(repeating: Int.max, count: numbering.values.count)
        for (rank, occurrence) in occurrences(in: other).enumerated() { numbering[occurrence].map { ranks[$0] = rank } }
        let values = numbering.values
        let sorted = values.indices.sorted { left, right in
            guard ranks[left] == ranks[right] else { return ranks[left] < ranks[right] }
            guard values[left].text != values[right].text else { return values[left].number < values[right].number }
            return values[left].text.utf8.lexicographicallyPrecedes(values[right].text.utf8)
        }
        let union = ordered(sorted, by: different) ?? followed(sorted, by: different, ranks: ranks)
        return union.map { values[$0].text }
    }

    /// Sorts numbers with contradicting orders in the sequences.
    private static func followed(_ numbers: [Int], by sequences: Set<[Int]>, ranks: [Int]) -> [Int] {
        let ranked = numbers.filter { ranks[$0] != .max }
        let byRank = Dictionary(uniqueKeysWithValues: ranked.map { (ranks[$0], $0) })
        let orders = sequences.map { $0.map { ranks[$0] }.filter { $0 != .max } }
        guard let order = exchanged(ranked.map { ranks[$0] }, in: orders) else { return numbers }
        // The runs of numbers without a rank, by the number before each; -1 for the beginning.
        var runs: [Int: Set<[Int]>] = [:]
        for sequence in sequences {
            var (before, run): (Int, [Int]) = (-1, [])
            for number in sequence {
                if ranks[number] == .max {
                    run.append(number)
                } else {
                    runs[before, default: []].insert(run)
                    (before, run) = (number, [])
                }
            }
            runs[before, default: []].insert(run)
        }
        var known: Set<Int> = []
        return ([-1] + order.compactMap { byRank[$0] }).flatMap { before in
            let followers = runs[before] ?? []
            let all = Set(followers.joined())
            let sorted = numbers.filter(all.contains)
            return ([before] + (ordered(sorted, by: followers) ?? sorted)).filter { known.insert($0).inserted }
        }.filter { $0 >= 0 }
    }

    /// Sorts numbers so that two of them are exchanged if any of some sequences exchanges them.
    ///
    /// The result is the join of the sequences in the weak order of permutations: if 3 is before 2 in one
    /// sequence, and 2 before 1 in another one, then 3 is before 1.
    /// - Parameters:
    ///   - numbers: The numbers, in ascending order.
    ///   - sequences: Some or all of the numbers, each once.
    /// - Returns: `nil` if incomplete sequences contradict each other, or if several sequences exchange some of
    ///   more than 1,000 numbers.
    static func exchanged(_ numbers: [Int], in sequences: some Collection<[Int]>) -> [Int]? {
        let moved = Set(sequences.filter { zip($0, $0.dropFirst()).contains { $0 > $1 } })
        guard let first = moved.first else { return numbers }
        if moved.count == 1, first.count == numbers.count { return first }
        guard numbers.count <= 1_000 else { return nil }
        let positions = moved.map { sequence in
            let positions = Dictionary(uniqueKeysWithValues: zip(sequence, 0...))
            return numbers.map { positions[$0] }
        }
        // For each number, whether each lesser one is behind it.
        let none = Array(repeating: false, count: numbers.count)
        var isBehind = Array(repeating: none, count: numbers.count)
        var counts = Array(repeating: 0, count: numbers.count)
        for right in numbers.indices {
            for left in 0..<right where positions.contains(where: { ($0[right] ?? .max) < ($0[left] ?? -1) }) {
                isBehind[right][left] = true
                for other in 0..<left where isBehind[left][other] { isBehind[right][other] = true }
            }
            for left in 0..<right { counts[isBehind[right][left] ? left : right] += 1 }
        }
        // The counts of preceding numbers differ, unless the exchanges are no permutation.
        let byCount = Dictionary(zip(counts, numbers)) { first, _ in first }
        let sorted = numbers.indices.compactMap { byCount[$0] }
        return sorted.count == numbers.count ? sorted : nil
    }

    /// A string, and the number of its earlier occurrences.
    private struct Occurrence: Hashable {
        let text: String
        let number: Int
    }

    private static func occurrences(in texts: [String]) -> [Occurrence] {
        var counts: [String: Int] = [:]
        return texts.map { text in
            let number = counts[text, default: 0]
            counts[text] = number + 1
            return Occurrence(text: text, number: number)
        }
    }

    /// Sorts numbers topologically. Of several free numbers, the first one is taken. Returns `nil` if the
    /// sequences contradict each other.
    private static func ordered(_ numbers: [Int], by sequences: Set<[Int]>) -> [Int]? {
        var positions = Array(repeating: 0, count: (numbers.max() ?? -1) + 1)
        for (position, number) in numbers.enumerated() { positions[number] = position }
        var next: [[Int]] = Array(repeating: [], count: numbers.count)
        var waiting = Array(repeating: 0, count: numbers.count)
        for sequence in sequences {
            for (before, after) in zip(sequence, sequence.dropFirst()) {
                next[positions[before]].append(positions[after])
                waiting[positions[after]] += 1
            }
        }
        var free = Heap(numbers.indices.filter { waiting[$0] == 0 })
        var result: [Int] = []
        while let position = free.popFirst() {
            result.append(numbers[position])
            for after in next[position] {
                waiting[after] -= 1
                if waiting[after] == 0 { free.insert(after) }
            }
        }
        return result.count == numbers.count ? result : nil
    }
}

/// A binary min-heap.
private struct Heap {
    /// A number at index i is at most its children, at 2i + 1 and 2i + 2.
    private var numbers: [Int]

    /// Creates a heap.
    /// - Parameter numbers: The numbers, in ascending order.
    init(_ numbers: [Int]) {
        self.numbers = numbers
    }

    mutating func insert(_ number: Int) {
        numbers.append(number)
        var position = numbers.count - 1
        while position > 0, numbers[position] < numbers[(position - 1) / 2] {
            numbers.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    mutating func popFirst() -> Int? {
        guard let first = numbers.first else { return nil }
        let last = numbers.removeLast()
        guard !numbers.isEmpty else { return first }
        numbers[0] = last
        var position = 0
        while true {
            let children = (2 * position + 1...2 * position + 2).filter { $0 < numbers.count }
            guard let least = children.min(by: { numbers[$0] < numbers[$1] }), numbers[least] < numbers[position] else {
                return first
            }
            numbers.swapAt(position, least)
            position = least
        }
    }
}
