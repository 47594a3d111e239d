/// Collects units from the terms of a piece of the query.
struct UnitReader: SearchTermReader {
    private enum Kind { case word, pair, character }

    /// The requirement of a quoted phrase; `nil` outside quotation marks.
    let quotation: ParsedQuery.Unit.Requirement?
    let text: [UInt8]
    let stemmer: Stemmer?
    private(set) var units: [ParsedQuery.Unit] = []
    /// The maximum number of terms of a phrase. FTS5 looks up each one in each message.
    private static let maxTermCount = 64
    /// The requirement of the last unit by its sign. A sign before one or two letters begins an option of a command
    /// (`rm -rf`), unless the letters begin an identifier (`-io_error`).
    private var sign = ParsedQuery.Unit.Requirement.optional
    /// The source and the kind of the terms of the last unit. The kind is that of the last one.
    private var last: (source: Range<Int>, kind: Kind)?

    init(quotation: ParsedQuery.Unit.Requirement?, text: [UInt8], stemmer: Stemmer?) {
        self.quotation = quotation
        self.text = text
        self.stemmer = stemmer
    }

    private var isQuoted: Bool { quotation != nil }

    /// Returns the requirement given by a sign: `+` or `-` after white space or at the beginning.
    static func sign(atEndOf text: some BidirectionalCollection<UInt8>) -> ParsedQuery.Unit.Requirement {
        let before = String(decoding: text.dropLast().suffix(4), as: UTF8.self).unicodeScalars.last
        guard let sign = text.last, before.map({ $0.value <= 0x20 || $0.properties.isWhitespace }) ?? true else {
            return .optional
        }
        switch sign {
        case UInt8(ascii: "+"): return .required
        case UInt8(ascii: "-"): return .excluded
        default: return .optional
        }
    }

    /// Repetitions of a word are among the units.
    var isFinished: Bool { false }

    mutating func word(_ term: SearchTerm) {
        // A syllable of Korean is the beginning of many words, too.
        let isLong = term.bytes.count > 2 || Self.letterCount(of: term) > 1
        append(term, .word, mayGoOn: !isQuoted && isLong)
        let isLetters = term.bytes.allSatisfy { $0 &- UInt8(ascii: "a") < 26 }
        if let stemmer, isLetters, !isQuoted, isLong, units[units.count - 1].terms.count == 1 {
            units[units.count - 1].forms = WordForms(of: Array(term.bytes), stemmer)
        }
    }

    mutating func part(_ term: SearchTerm, isFirst: Bool) {
        guard !isQuoted, let unit = units.last, unit.terms.count == 1 else { return }
        units[units.count - 1].parts.append(Array(term.bytes))
        units[units.count - 1].forms = nil
    }

    mutating func pair(_ term: SearchTerm) {
        append(term, .pair, mayGoOn: false)
    }

    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        if isAlone { append(term, .character, mayGoOn: false) }
    }

    private mutating func append(_ term: SearchTerm, _ kind: Kind, mayGoOn: Bool) {
        var source = term.source
        if let before = last, !units.isEmpty, isJoined(term.source, kind, to: before.source.upperBound, before.kind) {
            source = before.source.lowerBound..<max(before.source.upperBound, source.upperBound)
            last = (source, kind)
            guard units[units.count - 1].terms.count < Self.maxTermCount else { return }
            if quotation == nil, text[source.lowerBound..<term.source.lowerBound].last == UInt8(ascii: "_") {
                units[units.count - 1].requirement = sign
            }
            units[units.count - 1].terms.append(Array(term.bytes))
            units[units.count - 1].parts = []
            units[units.count - 1].forms = nil
            units[units.count - 1].mayGoOn = mayGoOn
            units[units.count - 1].text = String(decoding: text[source], as: UTF8.self)
        } else {
            sign = requirement(of: term)
            let isLong = quotation != nil || kind != .word || Self.letterCount(of: term) > 2
            units.append(
                ParsedQuery.Unit(
                    text: String(decoding: text[source], as: UTF8.self), terms: [Array(term.bytes)], mayGoOn: mayGoOn,
                    requirement: isLong ? sign : .optional))
            last = (source, kind)
        }
    }

    /// Returns the requirement of a unit that begins with a term. A sign before a number is its own.
    private func requirement(of term: SearchTerm) -> ParsedQuery.Unit.Requirement {
        if let quotation { return quotation }
        guard term.bytes[0] &- UInt8(ascii: "0") >= 10 else { return .optional }
        return Self.sign(atEndOf: text[..<term.source.lowerBound])
    }

    private static func letterCount(of term: SearchTerm) -> Int {
        term.bytes.count { $0 & 0xC0 != 0x80 }
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
            UInt8(ascii: "\\"), UInt8(ascii: "@"), UInt8(ascii: "#"):
            return true
        default: return false
        }
    }
}
