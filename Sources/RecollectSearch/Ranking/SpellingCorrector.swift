import RecollectCore

/// Corrects misspelled words of a query to words of the user's own messages.
///
/// A word is misspelled if none of the user's messages has it, another form of it, or a word beginning with it; short
/// questions do not count, because they repeat the misspelling. It is corrected to a word that differs by one letter
/// (missing, added, or wrong) or by two adjacent letters in the other order, in a message with another word of the
/// query if it has others. Of several, the likeliest mistakes come first, then the most frequent words.
///
/// A correct word is often one letter from another one (`June` from `tune`), so only likely mistakes count: the first
/// letter is right, and a wrong letter is beside the right one on the keyboard, or sounds like it.
///
/// Only words of four letters or more in Latin, Greek, Cyrillic, Hebrew or Arabic script are corrected, outside
/// quotation marks and without `+`.
struct SpellingCorrector {
    /// The length of a corrected word in letters.
    private static let (minLength, maxLength) = (4, 24)
    /// The maximum number of words of a query, without function words. A longer one is answered by its other words.
    private static let maxContent = 4
    /// The maximum number of messages read to decide whether a word is misspelled.
    private static let maxReadMessages = 20
    /// The maximum number of messages counted for a candidate.
    private static let maxCount = 200

    private let source: any SearchSource
    /// The user's messages have the words, in all sessions, with all agents and at all times.
    private let filter = SearchFilter()
    private let through: SequenceNumber
    private let stemmer: Stemmer

    init(in source: any SearchSource, through: SequenceNumber, _ stemmer: Stemmer) {
        (self.source, self.through, self.stemmer) = (source, through, stemmer)
    }

    /// A misspelled word of a query.
    private struct Misspelled {
        let index: Int
        /// The number of short questions with it.
        let questionCount: Int
        /// The words in the index that may be meant, the likeliest mistakes first.
        let candidates: [[[UInt8]]]
    }

    /// Returns the query with corrected words, or `nil` if no word is corrected.
    func corrected(_ words: ParsedQuery) throws -> ParsedQuery? {
        let content = words.content
        guard content.units.count <= Self.maxContent else { return nil }
        let misspelled = try source.together(words.units.enumerated()) { index, unit -> Misspelled? in
            guard content.units.contains(where: unit.isSame), let letters = Self.letters(of: unit),
                let count = try questionCount(ofMisspelled: unit)
            else { return nil }
            return Misspelled(index: index, questionCount: count, candidates: try candidates(for: letters, of: unit))
        }.compactMap { $0 }
        var corrections: [Int: [UInt8]] = [:]
        for word in misspelled {
            let context = context(of: word, in: words, content, misspelled, corrections)
            for candidates in word.candidates where corrections[word.index] == nil {
                corrections[word.index] = try mostFrequent(
                    of: candidates, near: context, besides: word.questionCount)
            }
        }
        return corrections.isEmpty ? nil : words.replacing(corrections, stemmer: stemmer)
    }

    /// Returns the expressions of the other words of a query. A misspelled one counts only if all are: then its correction
    /// or its candidates do.
    private func context(
        of word: Misspelled, in words: ParsedQuery, _ content: ParsedQuery, _ misspelled: [Misspelled],
        _ corrections: [Int: [UInt8]]
    ) -> [SearchExpression] {
        let unknown = misspelled.map { words.units[$0.index] }
        let known = content.units.filter { unit in !unknown.contains(where: unit.isSame) }
        guard known.isEmpty else { return known.flatMap { $0.expressions(.stem) } }
        return misspelled.filter { $0.index != word.index }.flatMap { other in
            (corrections[other.index].map { [$0] } ?? Array(other.candidates.joined().prefix(Self.groupCount))).map(
                expression)
        }
    }

    /// Returns the words in the index that a misspelled one may mean, the likeliest mistakes first. Words of which the index
    /// has only another form are last.
    private func candidates(for letters: [Unicode.Scalar], of unit: ParsedQuery.Unit) throws -> [[[UInt8]]] {
        let groups = SpellingMistakes.candidates(for: letters).map { candidates in
            candidates.filter { unit.forms?.stems.contains(stemmer.stem(of: $0)) != true }
        }
        return try source.together([false, true]) { isInflected in
            try source.together(groups) { group in
                isInflected
                    ? try indexed(group.filter { inflectedStem(of: $0) != nil }, by: expression)
                    : try indexed(group, by: Self.phrase)
            }
        }.flatMap { $0 }
    }

    /// Returns the stem of a word with an ending of an English verb or noun. Any other word, and most nonsense, is only
    /// found whole.
    private func inflectedStem(of word: [UInt8]) -> [UInt8]? {
        let stem = stemmer.stem(of: word)
        let isInflected = ["s", "es", "d", "ed", "ing"].contains { word == stem + Array($0.utf8) }
        return isInflected && stem.count >= Self.minLength ? stem : nil
    }

    /// Returns the letters of a unit that may be corrected.
    private static func letters(of unit: ParsedQuery.Unit) -> [Unicode.Scalar]? {
        guard unit.isWord else { return nil }
        let letters = Array(String(decoding: unit.terms[0], as: UTF8.self).unicodeScalars)
        return minLength...maxLength ~= letters.count && !SpellingMistakes.alphabet(of: letters).isEmpty ? letters : nil
    }

    /// Returns the number of short questions with a misspelled word; `nil` if the word is not misspelled.
    private func questionCount(ofMisspelled unit: ParsedQuery.Unit) throws -> Int? {
        var prefix = unit
        prefix.mayGoOn = true
        var count = 0
        // The beginning is searched for only if the word is missing: an index may collect all its matches first.
        for form in [unit.expression(.stem), prefix.expression(.prefix)] {
            count = 0
            let isStated = try firstMessage(with: form, limit: Self.maxReadMessages) {
                count += 1
                return try !isShortQuestion($0)
            }
            if isStated || count == Self.maxReadMessages { return nil }
        }
        return count
    }

    private func isShortQuestion(_ sequence: SequenceNumber) throws -> Bool {
        try source.message(sequence, passing: nil)?.echo.shortQuestion != nil
    }

    /// Whether one of the user's newest messages with an expression fulfills a condition.
    private func firstMessage(
        with expression: SearchExpression, limit: Int, where condition: (SequenceNumber) throws -> Bool = { _ in true }
    ) throws -> Bool {
        let words = ParsedQuery.Tier(expression: expression, words: [], hasPrefix: false)
        for found in try source.newest(words, filter, limit: limit, through: through) {
            if try source.passes(found.sequence, filter) && condition(found.sequence) { return true }
        }
        return false
    }

    /// The number of words looked up at once.
    private static let groupCount = 40

    /// Returns the words in any message, also of other users.
    private func indexed(_ words: Set<[UInt8]>, by expression: ([UInt8]) -> SearchExpression) throws -> [[UInt8]] {
        let words = words.sorted { $0.lexicographicallyPrecedes($1) }
        let groups = stride(from: 0, to: words.count, by: Self.groupCount).map {
            words[$0..<min($0 + Self.groupCount, words.count)]
        }
        // Most groups have no word in the index.
        return try source.together(groups) { group -> [[UInt8]] in
            guard try isIndexed(.any(group.map(expression))) else { return [] }
            return try zip(group, source.together(group) { try isIndexed(expression($0)) }).filter(\.1).map(\.0)
        }.flatMap { $0 }
    }

    private func isIndexed(_ expression: SearchExpression) throws -> Bool {
        try source.mayFind(expression, through: through)
    }

    private static func phrase(_ word: [UInt8]) -> SearchExpression { .phrase([word]) }

    /// Returns the expression of a word and its other forms.
    private func expression(_ word: [UInt8]) -> SearchExpression {
        guard let stem = inflectedStem(of: word) else { return Self.phrase(word) }
        return .any(([word] + SearchDocument.terms(ofStem: stem, stemmer)).map(Self.phrase))
    }

    /// Returns the most frequent word in the user's messages; with a context, only of those in a message with a part of
    /// it.
    /// - Parameter questionCount: A word in no more messages than these counts only if one of them is no short question.
    private func mostFrequent(
        of candidates: [[UInt8]], near context: [SearchExpression], besides questionCount: Int
    ) throws -> [UInt8]? {
        var best: (count: Int, word: [UInt8])?
        let counts = try source.together(candidates) { word in
            let own = expression(word)
            var (count, isStated) = (0, false)
            let expression = context.isEmpty ? own : .all([own, .any(context)])
            _ = try firstMessage(with: expression, limit: Self.maxCount) { sequence in
                count += 1
                if !isStated { isStated = try !isShortQuestion(sequence) }
                return false
            }
            return (word: word, count: count, isStated: isStated)
        }
        for (word, count, isStated) in counts {
            guard isStated || count > questionCount else { continue }
            if let best, best.count > count || best.count == count && best.word.lexicographicallyPrecedes(word) {
                continue
            }
            best = (count, word)
        }
        return best?.word
    }
}

/// The words that differ from a misspelled one by a likely mistake.
enum SpellingMistakes {
    /// Returns the words meant by a misspelled one, the likeliest mistakes first: two letters in the other order, a
    /// letter doubled or not; then a missing or added letter; then a wrong letter.
    static func candidates(for letters: [Unicode.Scalar]) -> [Set<[UInt8]>] {
        let alphabet = alphabet(of: letters)
        let count = letters.count
        var (likely, missing, wrong): (Set<[UInt8]>, Set<[UInt8]>, Set<[UInt8]>) = ([], [], [])
        func word(_ letters: [Unicode.Scalar]) -> [UInt8] { Array(String(String.UnicodeScalarView(letters)).utf8) }
        for index in 0..<count - 1 {
            likely.insert(word(letters[..<index] + [letters[index + 1], letters[index]] + letters[(index + 2)...]))
        }
        for index in 1...count {
            for letter in alphabet {
                let longer = word(letters[..<index] + [letter] + letters[index...])
                if letter == letters[index - 1] { likely.insert(longer) } else { missing.insert(longer) }
            }
            guard index < count, count > 4 else { continue }
            let shorter = word(Array(letters[..<index]) + letters[(index + 1)...])
            if letters[index] == letters[index - 1] { likely.insert(shorter) } else { missing.insert(shorter) }
            for letter in alphabet where isLikely(letter, for: letters[index]) {
                wrong.insert(word(letters[..<index] + [letter] + letters[(index + 1)...]))
            }
        }
        let own = word(letters)
        missing.subtract(likely)
        return [likely, missing, wrong].map { $0.subtracting([own]) }
    }

    /// Whether letters are beside each other on the keyboard, or sound alike.
    private static func isLikely(_ letter: Unicode.Scalar, for other: Unicode.Scalar) -> Bool {
        guard letter.isASCII else { return true }
        return likelyPairs.contains { $0.contains(letter) && $0.contains(other) }
    }

    private static let likelyPairs: [Set<Unicode.Scalar>] =
        [
            "qwertyuiop", "asdfghjkl", "zxcvbnm", "qaz", "wsx", "edc", "rfv", "tgb", "yhn", "ujm", "ik", "ol", "wa",
            "es", "rd",
            "tf", "yg", "uh", "ij", "ok", "pl",
        ].flatMap { keys in
            zip(keys.unicodeScalars, keys.unicodeScalars.dropFirst()).map { [$0, $1] }
        } + ["aeiou", "ck", "cs", "sz", "dt", "bp", "fv", "vw", "iy", "gj"].map { Set($0.unicodeScalars) }

    /// The alphabets of words that are corrected. Words are folded, so there are no accents and no capitals.
    private static let alphabets: [[Unicode.Scalar]] = [
        "a"..."z", "\u{3B1}"..."\u{3C9}", "\u{430}"..."\u{44F}", "\u{5D0}"..."\u{5EA}", "\u{621}"..."\u{64A}",
    ].map { (range: ClosedRange<Unicode.Scalar>) in
        (range.lowerBound.value...range.upperBound.value).compactMap(Unicode.Scalar.init)
    }

    /// Returns the alphabet of letters; empty if they are of several, or of no known one.
    static func alphabet(of letters: [Unicode.Scalar]) -> [Unicode.Scalar] {
        alphabets.first { letters.allSatisfy($0.contains) } ?? []
    }
}
