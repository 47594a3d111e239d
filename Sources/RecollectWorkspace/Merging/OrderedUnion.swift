/// Sequences of texts as one, in which each text comes as often as in the sequence that has it most often.
///
/// Texts that stand in one order in all sequences stand so in the union. Where the order is open, those that stand in another sequence
/// come first, and then the lesser ones by their bytes. Sequences that contradict each other say nothing of the order.
enum OrderedUnion {
    /// - Parameters:
    ///   - sequences: Texts.
    ///   - other: What else orders texts.
    static func of(_ sequences: some Collection<[String]>, or other: [String] = []) -> [String] {
        let different = Set(sequences.map(numbered))
        guard different.count > 1 else { return different.first?.map(\.text) ?? [] }
        var ranks: [Place: Int] = [:]
        for (rank, text) in numbered(other).enumerated() { ranks[text] = rank }
        let texts = Set(different.joined()).sorted { left, right in
            let (leftRank, rightRank) = (ranks[left] ?? .max, ranks[right] ?? .max)
            guard leftRank == rightRank else { return leftRank < rightRank }
            guard left.text != right.text else { return left.number < right.number }
            return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        }
        return (ordered(texts, by: different) ?? texts).map(\.text)
    }

    /// A text, and how many of it come before.
    private struct Place: Hashable {
        let text: String
        let number: Int
    }

    private static func numbered(_ texts: [String]) -> [Place] {
        var counts: [String: Int] = [:]
        return texts.map { text in
            defer { counts[text, default: 0] += 1 }
            return Place(text: text, number: counts[text, default: 0])
        }
    }

    /// The texts in the order of all sequences, each as early as it can be in its own; `nil` where they contradict each other.
    private static func ordered(_ texts: [Place], by sequences: Set<[Place]>) -> [Place]? {
        var places: [Place: Int] = [:]
        for (place, text) in texts.enumerated() { places[text] = place }
        var next: [[Int]] = Array(repeating: [], count: texts.count)
        var waiting = Array(repeating: 0, count: texts.count)
        for sequence in sequences {
            let known = sequence.compactMap { places[$0] }
            for (before, after) in zip(known, known.dropFirst()) {
                next[before].append(after)
                waiting[after] += 1
            }
        }
        var free = Heap(texts.indices.filter { waiting[$0] == 0 })
        var result: [Place] = []
        while let place = free.popFirst() {
            result.append(texts[place])
            for after in next[place] {
                waiting[after] -= 1
                if waiting[after] == 0 { free.insert(after) }
            }
        }
        return result.count == texts.count ? result : nil
    }
}

/// Numbers of which the least is at hand.
private struct Heap {
    /// Each number is at most those at twice its place and one and two more.
    private var numbers: [Int]

    /// - Parameter numbers: In ascending order.
    init(_ numbers: [Int]) {
        self.numbers = numbers
    }

    mutating func insert(_ number: Int) {
        numbers.append(number)
        var place = numbers.count - 1
        while place > 0, numbers[place] < numbers[(place - 1) / 2] {
            numbers.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func popFirst() -> Int? {
        guard let first = numbers.first else { return nil }
        let last = numbers.removeLast()
        guard !numbers.isEmpty else { return first }
        numbers[0] = last
        var place = 0
        while true {
            let children = (2 * place + 1...2 * place + 2).filter { $0 < numbers.count }
            guard let least = children.min(by: { numbers[$0] < numbers[$1] }), numbers[least] < numbers[place] else {
                return first
            }
            numbers.swapAt(place, least)
            place = least
        }
    }
}
