import Foundation

/// A string searched for many phrases. A phrase costs little if the text lacks one of its words.
struct PhraseText {
    let text: String
    /// The words in lowercase, without accents. In scripts without spaces, a word has several.
    let words: Set<String>

    init(_ text: String) {
        self.text = text
        words = Self.words(of: text)
    }

    /// Returns the range of a phrase: see `String.range(ofPhrase:)`.
    func range(of phrase: String) -> Range<String.Index>? {
        let isSpaced = phrase.unicodeScalars.allSatisfy { !$0.isInUnspacedScript }
        guard isSpaced ? words.isSuperset(of: Self.words(of: phrase)) : text.contains(phrase) else { return nil }
        return text.range(ofPhrase: phrase)
    }

    /// Returns the expression in a range, with the text without it.
    func found(_ range: Range<String.Index>, _ interval: DateInterval) -> (DateExpression, String) {
        (DateExpression(String(text[range]), interval), text.replacingCharacters(in: range, with: " "))
    }

    private static func words(of text: String) -> Set<String> {
        Set(
            text.split { !$0.isLetter }.map {
                let word = $0.lowercased()
                return word.utf8.allSatisfy { $0 < 0x80 }
                    ? word : word.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            })
    }
}

extension String {
    /// Returns the range of a phrase, ignoring case and accents, and not inside longer words. In scripts without
    /// spaces, it may be anywhere.
    package func range(ofPhrase phrase: String) -> Range<Index>? {
        var start = startIndex
        while let range = range(
            of: phrase, options: [.caseInsensitive, .diacriticInsensitive], range: start..<endIndex)
        {
            let touchesLeft =
                range.lowerBound > startIndex && self[index(before: range.lowerBound)].continues(self[range.lowerBound])
            let touchesRight =
                range.upperBound < endIndex && self[index(before: range.upperBound)].continues(self[range.upperBound])
            if !touchesLeft, !touchesRight { return range }
            start = index(after: range.lowerBound)
        }
        return nil
    }
}

extension Character {
    /// Whether this character and a neighbor are letters of one word, in scripts with spaces between words.
    fileprivate func continues(_ neighbor: Character) -> Bool {
        isPartOfWord && neighbor.isPartOfWord
    }

    private var isPartOfWord: Bool {
        (isLetter || isNumber) && unicodeScalars.first?.isInUnspacedScript == false
    }
}
