/// Scores a string as the index does: by the frequencies of words in its document.
struct TextScorer {
    private let units: [(unit: ParsedQuery.Unit, weight: Double)]
    private let stemmer: Stemmer
    private var document = SearchDocument()
    /// The terms of units of one term, by hash.
    private var terms: [UInt64: [Int]] = [:]
    /// The bits of these hashes. Most terms of a string have none of them.
    private var termBits: UInt64 = 0
    /// The phrases of several terms.
    private var phrases: [(unit: Int, terms: [UInt64])] = []

    init(_ units: [(ParsedQuery.Unit, Double)], _ stemmer: Stemmer) {
        self.units = units
        self.stemmer = stemmer
        for (index, unit) in units.map(\.0).enumerated() {
            // A word with other forms is one of them.
            let all = unit.forms?.terms.map { [$0] } ?? unit.phrases
            for phrase in all {
                let hashes = phrase.map { $0.withUnsafeBufferPointer(SearchDocument.hash) }
                if hashes.count == 1 {
                    terms[hashes[0], default: []].append(index)
                    termBits |= Self.bit(of: hashes[0])
                } else {
                    phrases.append((index, hashes))
                }
            }
        }
    }

    /// Returns the score of a string.
    mutating func score(_ text: UnsafeBufferPointer<UInt8>) -> Double {
        document.make(text: text, stemmer: stemmer)
        var counts = Array(repeating: 0, count: units.count)
        var progress = Array(repeating: 0, count: phrases.count)
        var length = 0
        document.bytes.withUnsafeBufferPointer { bytes in
            SearchDocument.forEachTerm(in: bytes) { hash in
                length += 1
                if termBits & Self.bit(of: hash) != 0 { for unit in terms[hash] ?? [] { counts[unit] += 1 } }
                for index in phrases.indices {
                    let phrase = phrases[index].terms
                    if phrase[progress[index]] != hash { progress[index] = 0 }
                    guard phrase[progress[index]] == hash else { continue }
                    progress[index] += 1
                    guard progress[index] == phrase.count else { continue }
                    counts[phrases[index].unit] += 1
                    progress[index] = 0
                }
            }
        }
        var score = 0.0
        for (count, unit) in zip(counts, units) {
            score += unit.weight * SearchScore.saturated(count, length: length)
        }
        return score
    }

    private static func bit(of hash: UInt64) -> UInt64 { 1 << (hash & 63) }
}
