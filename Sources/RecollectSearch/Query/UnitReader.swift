/// Collects units from the terms of a piece of the query.
struct UnitReader: SearchTermReader {
    private enum Kind { case word, pair, character }

    /// The requirement of a quoted phrase; `nil` outside quotation marks.
    let quotation: ParsedQuery.Unit.Requirement?
    let text: [UInt8]
    let stemmer: Stemmer?
    private(set) var units: [ParsedQuery.Unit] = []
    /// The maximum number of terms of a phrase. FTS5 looks up each one in each message.
    private static let maxTermCount = 256
    /// The requirement of the last unit by its sign. A sign before one or two letters begins an option of a command
    /// (`rm -rf`), unless the letters begin an identifier (`-io_error`).
    private var sign = ParsedQuery.Unit.Requirement.optional
    /// The source of the last unit, and the kind of its last term.
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
        // A syllable of Korean is more than a letter.
        let isSyllable = term.bytes.count == 3 && 0xEA...0xED ~= term.bytes[0]
        let isLong = isSyllable || Self.letterCount(of: term) > 1
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
            if isIdentifier(units[units.count - 1], until: before.source.upperBound, followedBy: term) {
                units[units.count - 1].requirement = sign
            }
            units[units.count - 1].terms.append(Array(term.bytes))
            units[units.count - 1].parts = []
            units[units.count - 1].forms = nil
            units[units.count - 1].mayGoOn = mayGoOn
            units[units.count - 1].text = String(decoding: text[source], as: UTF8.self)
        } else {
            sign = requirement(of: term)
            units.append(
                ParsedQuery.Unit(
                    text: String(decoding: text[source], as: UTF8.self), terms: [Array(term.bytes)], mayGoOn: mayGoOn,
                    requirement: isQuoted || !Self.mayBeOption(term.bytes) ? sign : .optional))
            last = (source, kind)
        }
    }

    /// Returns the requirement of a unit beginning with a term. A sign before a number is its own. The marks of paths and
    /// identifiers may be between the sign and the term (`-/usr/bin`, `-__init__`).
    private func requirement(of term: SearchTerm) -> ParsedQuery.Unit.Requirement {
        if let quotation { return quotation }
        guard !Self.isDigit(term.bytes[0]) else { return .optional }
        let marks = Set("_./@#".utf8)
        let end = text[..<term.source.lowerBound].lastIndex { !marks.contains($0) } ?? -1
        return Self.sign(atEndOf: text[...end])
    }

    /// Whether a term after a sign may be an option of a command (`-rf`, `-j16`): one or two ASCII letters, or one with a
    /// number.
    private static func mayBeOption(_ term: some Collection<UInt8>) -> Bool {
        term.allSatisfy { $0 < 0x80 } && (term.count <= 2 || term.dropFirst().allSatisfy(isDigit))
    }

    /// Whether a unit of one term is no option of a command because of the next term: both are an identifier (`-io_error`),
    /// or are not separated (`-A股`).
    private func isIdentifier(_ unit: ParsedQuery.Unit, until end: Int, followedBy term: SearchTerm) -> Bool {
        guard !isQuoted, unit.terms.count == 1 else { return false }
        guard end < term.source.lowerBound else { return true }
        return unit.terms[0].count > 1 && Set("_-.".utf8).isSuperset(of: text[end..<term.source.lowerBound])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func letterCount(of term: SearchTerm) -> Int {
        term.bytes.count { $0 & 0xC0 != 0x80 }
    }

    private func isJoined(_ source: Range<Int>, _ kind: Kind, to end: Int, _ lastKind: Kind) -> Bool {
        // A character alone is between two words in the index, but two adjacent ones may be a pair there.
        if kind == .character && lastKind == .character { return false }
        if isQuoted || sign != .optional && source.lowerBound <= end { return true }
        if kind != lastKind || kind == .character { return false }
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
