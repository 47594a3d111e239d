/// The relevance of a message with all words of a query, from 0 to 1.
///
/// Four fifths are the frequency of each word, with decreasing weight for repetitions and for long messages. One fifth is
/// the closeness of consecutive words. The score depends on the message alone. In contrast, bm25 weighs words by the number
/// of messages with them. It must visit every hit before the first result, and its order changes with every saved message.
package struct SearchScore {
    private let saturation: Double
    private var wordCount = 0.0
    private var frequency = 0.0
    private var closeness = 0.0

    /// Creates the score of a message with a number of tokens.
    package init(tokenCount: Int) {
        saturation = 0.3 + 0.9 * Double(tokenCount) / Self.ordinaryLength
    }

    /// Adds the next word of the query.
    /// - Parameters:
    ///   - count: The number of occurrences of its phrases.
    ///   - distance: The smallest number of tokens between it and the word before; `nil` if it never follows.
    package mutating func add(count: Int, distance: Int?) {
        frequency += Double(count) / (Double(count) + saturation)
        if let distance { closeness += 1 / (1 + Double(distance)) }
        wordCount += 1
    }

    package var value: Double {
        0.8 * frequency / max(1, wordCount) + (wordCount > 1 ? 0.2 * closeness / (wordCount - 1) : 0)
    }

    /// The length of an ordinary message, in tokens.
    private static let ordinaryLength = 200.0

    /// Returns the part of a word's weight for a number of occurrences in a string of a number of terms (BM25).
    package static func saturated(_ count: Int, length: Int) -> Double {
        let count = Double(count)
        return count / (count + occurrences * (1 - lengthWeight + lengthWeight * Double(length) / typicalLength))
    }

    /// The parameters of BM25: the number of occurrences with half of a word's weight, the weight of the length, and
    /// the length of a typical message in terms.
    private static let (occurrences, lengthWeight, typicalLength) = (1.0, 0.3, 60.0)
}
