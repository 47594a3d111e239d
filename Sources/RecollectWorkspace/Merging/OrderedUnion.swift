/// Sequences of texts as one, in which each text comes as often as in the sequence that has it most often.
///
/// Texts that stand in one order in all sequences stand so in the union. Where the order is open, those that stand in another sequence
/// come first, and then the lesser ones by their bytes. Sequences that contradict each other say nothing of the order.
enum OrderedUnion {
    /// - Parameters:
    ///   - sequences: Texts.
    ///   - other: What else orders texts.
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
        return (ordered(sorted, by: different) ?? sorted).map { values[$0].text }
    }

    /// A text, and how many of it come before.
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

    /// Numbers from 0 on in the order of all sequences, each as early as it can be in its own; `nil` if they contradict each
    /// other.
    private static func ordered(_ numbers: [Int], by sequences: Set<[Int]>) -> [Int]? {
        var places = Array(repeating: 0, count: numbers.count)
        for (place, number) in numbers.enumerated() { places[number] = place }
        var next: [[Int]] = Array(repeating: [], count: numbers.count)
        var waiting = Array(repeating: 0, count: numbers.count)
        for sequence in sequences {
            for (before, after) in zip(sequence, sequence.dropFirst()) {
                next[places[before]].append(places[after])
                waiting[places[after]] += 1
            }
        }
        var free = Heap(numbers.indices.filter { waiting[$0] == 0 })
        var result: [Int] = []
        while let place = free.popFirst() {
            result.append(numbers[place])
            for after in next[place] {
                waiting[after] -= 1
                if waiting[after] == 0 { free.insert(after) }
            }
        }
        return result.count == numbers.count ? result : nil
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
