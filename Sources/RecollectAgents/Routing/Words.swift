import Foundation
import RecollectCore

/// The words of a string in their order, folded: case, accents and width are removed.
///
/// A word is a run of letters, digits and marks. In Chinese, Japanese, Thai and other scripts without spaces, a run
/// gives its overlapping pairs of characters, and a single character gives itself. This also applies to Korean,
/// because its particles are attached to the word.
struct Words {
    private(set) var words: [String] = []

    /// Creates the words of a string.
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The number of bytes of UTF-8 read, from the beginning.
    init(_ text: String, limit: Int = .max) {
        let folded = text.firstBytes(limit)
            .folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        var word = ""
        var run: [Unicode.Scalar] = []
        for scalar in folded.unicodeScalars {
            if scalar.isUnspacedLetter {
                end(&word)
                run.append(scalar)
            } else if scalar.isPartOfWord {
                end(&run)
                word.unicodeScalars.append(scalar)
            } else {
                end(&word)
                end(&run)
            }
        }
        end(&word)
        end(&run)
    }

    private mutating func end(_ word: inout String) {
        guard !word.isEmpty else { return }
        words.append(word)
        word = ""
    }

    private mutating func end(_ run: inout [Unicode.Scalar]) {
        guard let first = run.first else { return }
        if run.count == 1 { words.append(String(first)) }
        for (left, right) in zip(run, run.dropFirst()) {
            words.append(String(left) + String(right))
        }
        run = []
    }
}

extension Unicode.Scalar {
    /// Whether the scalar belongs to a script written without spaces, or to Korean.
    var isUnspacedLetter: Bool {
        isInUnspacedScript && isPartOfWord || (0xAC00...0xD7A3).contains(value)
    }

    fileprivate var isPartOfWord: Bool {
        if isASCII { return properties.isAlphabetic || ("0"..."9").contains(self) }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
            return true
        default: return false
        }
    }
}
