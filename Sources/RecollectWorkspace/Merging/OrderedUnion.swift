/// The union of sequences of texts. It has each text as often as the sequence that has it most often.
///
/// The union keeps the order of each sequence. Texts without a common order are sorted by another sequence, then by their bytes. If
/// the sequences contradict each other, all texts are sorted in that way.
enum OrderedUnion {
    /// - Parameters:
    ///   - sequences: The texts.
    ///   - other: The sequence that decides between texts without a common order.
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

    /// A text, and the number of its earlier occurrences.
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

    /// Sorts numbers from 0 on topologically, the least free number first; `nil` if the sequences contradict each other.
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

/// A binary min-heap.
private struct Heap {
    /// A number at index i is at most its children, at 2i + 1 and 2i + 2.
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
