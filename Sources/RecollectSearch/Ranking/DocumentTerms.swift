/// The terms of a message's document, for a store without an index of their positions.
package struct DocumentTerms {
    private let bytes: [UInt8]
    /// The ends of the terms in the bytes. A space is between two terms.
    private var ends: [Int] = []

    /// Creates the terms of a document without tokens of an owner.
    package init(_ document: SearchDocument) {
        bytes = document.bytes.first == UInt8(ascii: " ") ? Array(document.bytes.dropFirst()) : document.bytes
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: " ") { ends.append(index) }
        if !bytes.isEmpty { ends.append(bytes.count) }
    }

    /// Whether the document fulfills an expression.
    package func fulfills(_ expression: SearchExpression) -> Bool {
        switch expression {
        case .phrase, .beginning: !positions(of: expression).isEmpty
        case .any(let parts): parts.contains(where: fulfills)
        case .all(let parts), .rarestFirst(let parts): parts.allSatisfy(fulfills)
        case .excluding(let part, let excluded): fulfills(part) && !fulfills(excluded)
        }
    }

    /// Returns the frequency of words, from 0 to 1; 0 without words.
    package func frequency(of words: ParsedQuery.Tier) -> Double {
        let phrases = words.words.joined()
        guard !phrases.isEmpty else { return 0 }
        return SearchScore.saturated(phrases.reduce(0) { $0 + positions(of: $1).count }, length: ends.count)
    }

    /// Returns the relevance of words.
    package func score(of words: ParsedQuery.Tier) -> Double {
        var score = SearchScore(tokenCount: ends.count + FilterTokens.count)
        /// The ends of the phrases of the word before.
        var previous: [Int] = []
        for phrases in words.words {
            let found = phrases.map { phrase in (phrase.termCount, positions(of: phrase)) }
            let starts = found.flatMap { $1 }.sorted()
            score.add(count: starts.count, distance: Self.distance(from: previous, to: starts))
            previous = found.flatMap { size, starts in starts.map { $0 + size } }.sorted()
        }
        return score.value
    }

    /// Returns the smallest distance from one of some ends to a position behind it, both in order; `nil` if there is none.
    private static func distance(from ends: [Int], to positions: [Int]) -> Int? {
        var nearest: Int?
        var next = 0
        for position in positions {
            while next < ends.count, ends[next] <= position { next += 1 }
            if next > 0 { nearest = min(nearest ?? .max, position - ends[next - 1]) }
        }
        return nearest
    }

    /// Returns the positions of a phrase, in order.
    private func positions(of phrase: SearchExpression) -> [Int] {
        let (terms, mayGoOn): ([[UInt8]], Bool)
        switch phrase {
        case .phrase(let phrase): (terms, mayGoOn) = (phrase, false)
        case .beginning(let phrase): (terms, mayGoOn) = (phrase, true)
        case .any, .all, .rarestFirst, .excluding: return []
        }
        guard !terms.isEmpty, terms.count <= ends.count else { return [] }
        return bytes.withUnsafeBufferPointer { bytes in
            (0...ends.count - terms.count).filter { position in
                for (index, term) in terms.enumerated() {
                    let start = position + index == 0 ? 0 : ends[position + index - 1] + 1
                    let count = ends[position + index] - start
                    let isLonger = mayGoOn && index == terms.count - 1 && count > term.count
                    guard count == term.count || isLonger else { return false }
                    for offset in term.indices where bytes[start + offset] != term[offset] { return false }
                }
                return true
            }
        }
    }
}

extension SearchExpression {
    /// The number of terms of a phrase.
    fileprivate var termCount: Int {
        switch self {
        case .phrase(let terms), .beginning(let terms): terms.count
        case .any, .all, .rarestFirst, .excluding: 0
        }
    }
}
