/// The terms of a search text.
///
/// White space and punctuation separate words, and a message must have all of them. Words joined only by the marks
/// of identifiers and paths (`save_messages`, `a/b.swift`) are a phrase, and so is text between two quotation
/// marks. A word or joined phrase also matches as a prefix, except for a single ASCII letter or digit. A quoted
/// phrase matches exactly. All other input, including the operators of search languages, is a word or ignored.
///
/// Only the first 32 words and phrases of a long text count.
struct ParsedQuery {
    /// A word, a phrase, or a run of characters of a script without spaces.
    struct Unit: Equatable {
        /// The terms in order.
        var terms: [[UInt8]]
        /// The parts, if the unit is one identifier with humps: `fetchAll` also finds `fetch_all`.
        var parts: [[UInt8]] = []
        /// Whether the last term also matches as a prefix.
        var mayGoOn: Bool

        /// The phrases of the unit. Each one is a match.
        var phrases: [[[UInt8]]] { parts.isEmpty ? [terms] : [terms, parts] }
    }

    static let maxUnitCount = 32
    private(set) var units: [Unit] = []

    init(_ text: String) {
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        // With an odd number of quotation marks, the last one is ignored.
        let quotedEnd = pieces.count.isMultiple(of: 2) ? pieces.count - 1 : pieces.count
        for (index, piece) in pieces.enumerated() {
            let isQuoted = !index.isMultiple(of: 2) && index < quotedEnd
            var reader = UnitReader(isQuoted: isQuoted, text: Array(piece))
            reader.text.withUnsafeBufferPointer { Tokenizer.read($0, into: &reader) }
            for unit in reader.units where units.count < Self.maxUnitCount && !units.contains(unit) {
                units.append(unit)
            }
        }
    }

    /// The expressions for `MATCH`, better matches first: messages with every word in full, then messages with only
    /// the beginning of a word.
    var tiers: [Tier] {
        guard !units.isEmpty else { return [] }
        let whole = expression(mayGoOn: false)
        let phraseCount = units.reduce(0) { $0 + $1.phrases.count }
        var tiers = [Tier(match: whole, phraseCount: phraseCount, isBeginning: false)]
        if units.contains(where: \.mayGoOn) {
            tiers.append(
                Tier(
                    match: "(\(expression(mayGoOn: true))) NOT (\(whole))", phraseCount: phraseCount, isBeginning: true)
            )
        }
        return tiers
    }

    /// An FTS5 expression. Its first phrases determine the score of a match.
    struct Tier {
        let match: String
        let phraseCount: Int
        /// Whether words match as prefixes.
        let isBeginning: Bool
    }

    /// Returns an FTS5 expression. Terms contain no ASCII except letters and digits, so typed text cannot end a
    /// quotation.
    private func expression(mayGoOn: Bool) -> String {
        let alternatives = units.map { unit in
            let phrases = unit.phrases.map { phrase in
                "\"" + phrase.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") + "\""
                    + (mayGoOn && unit.mayGoOn ? " *" : "")
            }
            return phrases.count == 1 ? phrases[0] : "(" + phrases.joined(separator: " OR ") + ")"
        }
        return alternatives.joined(separator: " AND ")
    }
}

/// Collects units from the terms of a piece of the query.
private struct UnitReader: SearchTermReader {
    private enum Kind { case word, pair, character }

    let isQuoted: Bool
    let text: [UInt8]
    private(set) var units: [ParsedQuery.Unit] = []
    /// The end and the kind of the last term of the last unit.
    private var last: (end: Int, kind: Kind)?

    init(isQuoted: Bool, text: [UInt8]) {
        self.isQuoted = isQuoted
        self.text = text
    }

    var isFinished: Bool { units.count > ParsedQuery.maxUnitCount }

    mutating func word(_ term: SearchTerm) {
        let isLong = term.bytes.count > 1
        append(term, .word, mayGoOn: !isQuoted && isLong)
    }

    mutating func part(_ term: SearchTerm, isFirst: Bool) {
        guard !isQuoted, let unit = units.last, unit.terms.count == 1 else { return }
        units[units.count - 1].parts.append(Array(term.bytes))
    }

    mutating func pair(_ term: SearchTerm) {
        append(term, .pair, mayGoOn: false)
    }

    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        if isAlone { append(term, .character, mayGoOn: false) }
    }

    private mutating func append(_ term: SearchTerm, _ kind: Kind, mayGoOn: Bool) {
        if let last, isJoined(term.source, kind, to: last.end, last.kind), !units.isEmpty {
            units[units.count - 1].terms.append(Array(term.bytes))
            units[units.count - 1].parts = []
            units[units.count - 1].mayGoOn = mayGoOn
        } else {
            units.append(ParsedQuery.Unit(terms: [Array(term.bytes)], mayGoOn: mayGoOn))
        }
        last = (term.source.upperBound, kind)
    }

    private func isJoined(_ source: Range<Int>, _ kind: Kind, to end: Int, _ lastKind: Kind) -> Bool {
        // A single character is in no phrase of the index.
        if kind == .character || lastKind == .character { return false }
        if isQuoted { return true }
        if kind != lastKind { return false }
        if kind == .pair { return source.lowerBound < end }
        return end < source.lowerBound && text[end..<source.lowerBound].allSatisfy(Self.joins)
    }

    private static func joins(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"),
            UInt8(ascii: "\\"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "'"):
            return true
        default: return false
        }
    }
}
