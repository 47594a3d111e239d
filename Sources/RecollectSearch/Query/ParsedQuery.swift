import Foundation
import RecollectCore

/// The terms of a search text.
///
/// White space and punctuation separate words. Words joined only by the marks of identifiers and paths
/// (`save_messages`, `a/b.swift`) are a phrase, and so is text between two quotation marks. A word or joined phrase
/// also matches as a prefix, except for a single letter or digit, and a word matches other forms with its stem. A
/// quoted phrase matches exactly.
///
/// A quoted phrase, and a word after `+`, must be in the message. A word or phrase after `-` must not be in it. These
/// words have three letters or more. All other input, including the operators of other search languages, is a word or
/// ignored.
///
/// Only the first 32 different words and phrases of a long text count, with the first 16 required and the first 16
/// excluded ones, only the first 256 terms of a phrase, and only the first 8,192 bytes of the text.
package struct ParsedQuery {
    /// A word, a phrase, or a run of characters of a script without spaces.
    package struct Unit {
        enum Requirement { case optional, required, excluded }

        /// The unit in the query's text.
        var text: String
        /// The terms in order.
        var terms: [[UInt8]]
        /// The parts, if the unit is one identifier with humps: `fetchAll` also finds `fetch_all`.
        var parts: [[UInt8]] = []
        /// The other forms, if the unit is one word of ASCII letters outside quotation marks, and no identifier with humps.
        var forms: WordForms?
        /// Whether the last term also matches as a prefix.
        var mayGoOn: Bool
        /// The words in the index that begin with the last term of a phrase, by this term; `nil` if they are not listed.
        var longerWords: [[UInt8]: [[UInt8]]] = [:]
        var requirement = Requirement.optional
        /// The corrected word, if the typed one is misspelled.
        var correction: String?

        /// Whether another unit matches the same messages.
        func isSame(as other: Unit) -> Bool {
            terms == other.terms && mayGoOn == other.mayGoOn && requirement == other.requirement
        }

        /// Whether the unit is one word outside quotation marks that need not be in the message.
        var isWord: Bool { requirement == .optional && terms.count == 1 && parts.isEmpty }

        /// The phrases of the unit. Each one is a match.
        var phrases: [[[UInt8]]] { parts.isEmpty ? [terms] : [terms, parts] }

        /// The forms of a unit that match.
        enum Form {
            case whole, stem, prefix
        }

        /// Returns the expressions of the phrases. A message needs one of them.
        func expressions(_ form: Form) -> [SearchExpression] {
            if form == .stem, let forms { return forms.terms.map { .phrase([$0]) } }
            let all = phrases.flatMap { phrase -> [SearchExpression] in
                guard form == .prefix, mayGoOn, let last = phrase.last else { return [.phrase(phrase)] }
                guard let longer = longerWords[last] else { return [.beginning(phrase)] }
                return ([last] + longer).map { .phrase(phrase.dropLast() + [$0]) }
            }
            guard form == .prefix, let forms else { return all }
            let isFound = { (term: [UInt8]) in mayGoOn ? term.starts(with: terms[0]) : term == terms[0] }
            return all + forms.terms.filter { !isFound($0) }.map { .phrase([$0]) }
        }

        /// Returns the expression of a form.
        func expression(_ form: Form) -> SearchExpression { .any(expressions(form)) }

        /// Whether the unit is one word, and also matches as a prefix.
        var mayBeLonger: Bool { mayGoOn && parts.isEmpty && terms.count == 1 }

        /// Whether an expression of the unit has a beginning.
        var isPrefix: Bool { mayGoOn && phrases.contains { $0.last.map { longerWords[$0] == nil } ?? false } }
    }

    static let maxUnitCount = 32
    /// The maximum number of required units, and of excluded ones.
    private static let maxRequirementCount = 16
    /// The maximum number of units that all match as prefixes. Of more units, only the last one does, without a question mark.
    private static let maxPrefixCount = 6
    /// The units to find, without those to exclude.
    package private(set) var units: [Unit] = []
    private(set) var excluded: [Unit] = []
    /// Whether the text ends with a question mark.
    let isQuestion: Bool

    /// Creates the query.
    /// - Parameter stemmer: `nil` to match no other forms of words.
    package init(_ text: String, stemmer: Stemmer? = nil) {
        var text = Self.withStraightMarks(Self.limited(text))
        isQuestion = text.withUTF8 { Self.isQuestion(UnsafeRawBufferPointer($0)) }
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        // With an odd number of quotation marks, the last one is ignored.
        let quotedEnd = pieces.count.isMultiple(of: 2) ? pieces.count - 1 : pieces.count
        for (index, piece) in pieces.enumerated() {
            let isQuoted = !index.isMultiple(of: 2) && index < quotedEnd
            let before = isQuoted ? (index > 1 ? [UInt8(ascii: "\"")] : []) + pieces[index - 1] : []
            let isExcluded = UnitReader.sign(atEndOf: before) == .excluded
            // A sign directly after a phrase is none.
            let text = index > 0 ? [UInt8(ascii: "\"")] + piece : Array(piece)
            var reader = UnitReader(
                quotation: isQuoted ? (isExcluded ? .excluded : .required) : nil, text: text, stemmer: stemmer)
            reader.text.withUnsafeBufferPointer { Tokenizer.read($0, into: &reader) }
            for unit in reader.units where !(units + excluded).contains(where: unit.isSame) {
                let same = (units + excluded).count { $0.requirement == unit.requirement }
                guard same < (unit.requirement == .optional ? Self.maxUnitCount : Self.maxRequirementCount) else {
                    continue
                }
                if unit.requirement == .excluded { excluded.append(unit) } else { units.append(unit) }
            }
        }
        if units.count > Self.maxPrefixCount {
            for index in units.indices.dropLast(isQuestion ? 0 : 1) { units[index].mayGoOn = false }
        }
    }

    /// The maximum length of a query in bytes. The rest of a longer one is ignored.
    private static let maxByteCount = 8192

    /// Returns the beginning of a string, as much as counts.
    static func limited(_ text: String) -> String {
        guard text.utf8.count > maxByteCount else { return text }
        return String(decoding: text.utf8.prefix(maxByteCount), as: UTF8.self)
    }

    /// Returns a string with straight quotation marks in place of typographic ones. Phones and word processors replace
    /// typed marks.
    static func withStraightMarks(_ text: String) -> String {
        let marks: Set<Unicode.Scalar> = ["\u{201C}", "\u{201D}", "\u{201E}"]
        guard text.unicodeScalars.contains(where: marks.contains) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { marks.contains($0) ? "\"" : $0 }))
    }

    /// The maximum length of a string that is searched for a time, in bytes.
    private static let maxDatedByteCount = 1024

    /// Returns a time named outside quotation marks and words with a sign, and the text without it.
    static func time(in text: String, now: Date) -> (time: DateExpression, rest: String)? {
        guard text.utf8.count <= maxDatedByteCount else { return nil }
        var pieces = withStraightMarks(text).split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        for index in stride(from: 0, to: pieces.count, by: 2) {
            for range in unsigned(pieces[index]) {
                let text = String(pieces[index][range])
                guard let found = DateExpression.find(in: text, now: now, calendar: .current) else { continue }
                pieces[index].replaceSubrange(range, with: found.rest)
                return (found.time, pieces.joined(separator: "\""))
            }
        }
        return nil
    }

    /// Returns the ranges of a string between its words with a sign.
    private static func unsigned(_ text: String) -> [Range<String.Index>] {
        var ranges: [Range<String.Index>] = []
        var start = text.startIndex
        for sign in text.matches(of: /(?:^|\s)[+\-]\S+/) {
            ranges.append(start..<sign.range.lowerBound)
            start = sign.range.upperBound
        }
        return ranges + [start..<text.endIndex]
    }

    /// Whether a message must have some of the words or must not have others.
    var hasRequirements: Bool { !excluded.isEmpty || units.contains { $0.requirement == .required } }

    /// Whether a longer word may fulfill a requirement. The expression of a single unit then matches fewer messages than the
    /// expression of all units.
    var mayRequireBeginning: Bool { units.contains { $0.requirement == .required && $0.mayGoOn } }

    /// Returns the query without its function words, or the same if it has no other words.
    var content: ParsedQuery {
        var content = self
        content.units = FunctionWords.removed(from: units)
        return content
    }

    /// Makes a word match only as a whole.
    mutating func setWhole(_ terms: [[UInt8]]) {
        for index in units.indices where units[index].terms == terms { units[index].mayGoOn = false }
    }

    /// Returns the query with words in place of beginnings.
    /// - Parameter longerWords: Returns the words that begin with a term, or `nil` if they are not listed.
    func listingLongerWords(_ longerWords: ([UInt8]) throws -> [[UInt8]]?) rethrows -> ParsedQuery {
        var query = self
        for index in units.indices where units[index].isPrefix {
            for term in units[index].phrases.compactMap(\.last) {
                query.units[index].longerWords[term] = try longerWords(term)
            }
        }
        return query
    }

    /// Makes a word in no message match longer words wherever its other forms match.
    mutating func match(longerWords: [[UInt8]], at index: Int) {
        units[index].forms = WordForms(longerWords: longerWords)
    }

    /// Returns the query with other words in place of units.
    func replacing(_ words: [Int: [UInt8]], stemmer: Stemmer) -> ParsedQuery {
        var query = self
        for (index, word) in words {
            query.units[index].terms = [word]
            query.units[index].mayGoOn = false
            query.units[index].correction = String(decoding: word, as: UTF8.self)
            if query.units[index].forms != nil { query.units[index].forms = WordForms(of: word, stemmer) }
        }
        return query
    }

    /// The maximum number of units of a query whose function words must be in a message with all words.
    private static let maxExactCount = 6

    /// Returns a query of many words without its function words: a whole question. They are in so many messages that
    /// their common ones cost time, and seldom in the answer.
    var withoutFunctionWordsIfLong: ParsedQuery { units.count > Self.maxExactCount ? content : self }

    /// Whether a string ends with a question mark, also one of full width.
    static func isQuestion(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let end = text.lastIndex(where: { $0 > 0x20 }) else { return false }
        return text[end] == UInt8(ascii: "?") || text[...end].suffix(3).elementsEqual([0xEF, 0xBC, 0x9F])
    }

    /// Whether an expression of the units has a beginning.
    package var hasPrefix: Bool { units.contains(where: \.isPrefix) }

    /// The words in their tiers, better matches first: messages with every word in full, then messages with only
    /// other forms or the beginning of a word.
    var tiers: [Tier] {
        guard !units.isEmpty else { return [] }
        let whole = expression(.whole)
        var tiers = [Tier(expression: excluding(whole), words: expressions(.whole), hasPrefix: false)]
        if units.contains(where: { $0.mayGoOn || $0.forms != nil }) {
            tiers.append(
                Tier(
                    expression: excluding(.excluding(expression(.prefix), whole)), words: expressions(.prefix),
                    hasPrefix: hasPrefix))
        }
        return tiers
    }

    /// Whether these are the words of a whole question. Most have no message with all words.
    var isWholeQuestion: Bool { units.count > 3 && units.dropLast().allSatisfy { !$0.mayGoOn } }

    /// The expression for messages with any form of every word.
    package var anyForm: SearchExpression { excluding(expression(.prefix)) }

    /// The expression for messages with one of the words, within the requirements.
    var anyWord: SearchExpression {
        let required = units.filter { $0.requirement == .required }.map { $0.expression(.stem) }
        guard required.isEmpty else { return excluding(.all(required)) }
        return excluding(.any(units.map { $0.expression(.stem) }))
    }

    /// The words of an expression. They determine the score of a match.
    package struct Tier: Hashable, Sendable {
        package var expression: SearchExpression
        /// The phrases of each word, in the order of the expression's first ones.
        package let words: [[SearchExpression]]
        /// Whether there is a beginning among them.
        package let hasPrefix: Bool

        package init(expression: SearchExpression, words: [[SearchExpression]], hasPrefix: Bool) {
            (self.expression, self.words, self.hasPrefix) = (expression, words, hasPrefix)
        }
    }

    /// Returns the expression of one unit in messages fulfilling the query's requirements.
    func tier(of unit: Unit) -> Tier {
        let required = units.filter { $0.requirement == .required && !$0.isSame(as: unit) }
        let all = ([unit] + required).map { $0.expression(.stem) }
        return Tier(
            expression: excluding(all.count == 1 ? all[0] : .all(all)), words: [unit.expressions(.stem)],
            hasPrefix: false)
    }

    /// Returns the phrases of each unit.
    private func expressions(_ form: Unit.Form) -> [[SearchExpression]] { units.map { $0.expressions(form) } }

    private func expression(_ form: Unit.Form) -> SearchExpression { .all(units.map { $0.expression(form) }) }

    private func excluding(_ expression: SearchExpression) -> SearchExpression {
        guard !excluded.isEmpty else { return expression }
        return .excluding(expression, .any(excluded.flatMap { $0.expressions(.whole) }))
    }
}
