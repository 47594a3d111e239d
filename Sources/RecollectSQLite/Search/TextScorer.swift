/// Scores a text as the index does: by the frequencies of words in its document.
struct TextScorer {
    private let units: [(unit: ParsedQuery.Unit, weight: Double)]
    private let stemmer: Stemmer
    private var document = SearchDocument()
    /// The terms of units of one term, by hash.
    private var terms: [UInt64: [Int]] = [:]
    /// The phrases of several terms.
    private var phrases: [(unit: Int, terms: [UInt64])] = []

    init(_ units: [(ParsedQuery.Unit, Double)], _ stemmer: Stemmer) {
        self.units = units
        self.stemmer = stemmer
        for (index, unit) in units.map(\.0).enumerated() {
            var all = unit.phrases
            if let stem = unit.stem {
                all[0] = [stem]
                all.append([SearchDocument.term(ofStem: stem)])
            }
            for phrase in all {
                let hashes = phrase.map { $0.withUnsafeBufferPointer(SearchDocument.hash) }
                if hashes.count == 1 {
                    terms[hashes[0], default: []].append(index)
                } else {
                    phrases.append((index, hashes))
                }
            }
        }
    }

    /// Returns the score of a text.
    mutating func score(_ text: UnsafeBufferPointer<UInt8>) -> Double {
        document.make(text: text, stemmer: stemmer)
        var counts = Array(repeating: 0, count: units.count)
        var progress = Array(repeating: 0, count: phrases.count)
        var length = 0
        document.bytes.withUnsafeBufferPointer { bytes in
            for term in bytes.split(separator: UInt8(ascii: " ")) {
                length += 1
                let hash = SearchDocument.hash(UnsafeBufferPointer(rebasing: term))
                for unit in terms[hash] ?? [] { counts[unit] += 1 }
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
}
