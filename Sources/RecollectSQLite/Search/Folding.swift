import Foundation
import RecollectCore

/// Makes characters alike that a person who searches takes for the same.
///
/// A character becomes what its compatibility decomposition gives (full width, ligatures, Arabic presentation forms), without
/// accents and points, in lower case (`ß` as `ss`, every Turkish i as `i`), its decimal digits as ASCII. Marks that are
/// letters of their own in their script stay: Indic vowels, and the marks that make Japanese `か` a `が`.
enum Folding {
    /// What a folded scalar is in a text.
    enum Kind: UInt8 {
        case separator, lower, upper, digit
        /// A character of a script that is written without spaces.
        case unspaced
        /// A mark that voices the kana before it.
        case voicing
        case emoji
    }

    /// A folded scalar; its kind tells what case it came from.
    struct Scalar {
        let value: UInt32
        let kind: Kind
    }

    /// What 256 neighbouring scalars fold to.
    final class Page: Sendable {
        let number: UInt32
        let scalars: [Scalar]
        private let starts: [Int]

        init(number: UInt32) {
            var scalars: [Scalar] = []
            var starts = [0]
            for value in number << 8..<(number + 1) << 8 {
                if let scalar = Unicode.Scalar(value) { scalars += fold(scalar) }
                starts.append(scalars.count)
            }
            self.number = number
            self.scalars = scalars
            self.starts = starts
        }

        private init() {
            number = .max
            scalars = []
            starts = []
        }

        /// Stands for no page.
        static let none = Page()

        /// The places in `scalars` of what a scalar of this page folds to; empty for what is passed over.
        func range(of scalar: UInt32) -> Range<Int> {
            let index = Int(scalar & 0xFF)
            return starts[index]..<starts[index + 1]
        }
    }

    private static let pages = Locked<[UInt32: Page]>([:])

    /// The page of a scalar, made at its first use in the process.
    static func page(of scalar: UInt32) -> Page {
        pages.withLock { pages in
            let number = scalar >> 8
            if let page = pages[number] { return page }
            let page = Page(number: number)
            pages[number] = page
            return page
        }
    }

    /// The kind of an ASCII character.
    @inline(__always)
    static func kind(ofASCII byte: UInt8) -> Kind {
        if byte &- UInt8(ascii: "a") < 26 { return .lower }
        if byte &- UInt8(ascii: "A") < 26 { return .upper }
        if byte &- UInt8(ascii: "0") < 10 { return .digit }
        return .separator
    }

    /// The kind of the most frequent scalars that fold to themselves, without a table.
    @inline(__always)
    static func kindOfFrequent(_ value: UInt32) -> Kind? {
        switch value {
        case 0x4E00...0x9FFF, 0x3041...0x3096, 0x30A1...0x30FA, 0x30FC: return .unspaced
        case 0xAC00...0xD7A3: return .lower
        default: return nil
        }
    }

    /// How many bytes of UTF-8 a scalar takes.
    static func length(of value: UInt32) -> Int {
        value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4
    }

    /// The Hangul syllable that a scalar and a Jamo after it make, if they do.
    static func syllable(_ first: UInt32, _ second: UInt32) -> UInt32? {
        switch (first, second) {
        case (0x1100...0x1112, 0x1161...0x1175): return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        case (0xAC00...0xD7A3, 0x11A8...0x11C2): return (first - 0xAC00) % 28 == 0 ? first + second - 0x11A7 : nil
        default: return nil
        }
    }

    /// The kana that a voicing mark makes of the kana before it, if there is one.
    static func voiced(_ kana: UInt32, _ mark: UInt32) -> UInt32? {
        switch kana {
        case 0x3046, 0x30A6: return mark == 0x3099 ? kana + 0x4E : nil
        case 0x3040...0x30FF: break
        default: return nil
        }
        let voiced = kana + (mark == 0x3099 ? 1 : 2)
        guard let plain = Unicode.Scalar(kana), let mark = Unicode.Scalar(mark), let scalar = Unicode.Scalar(voiced),
            String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.elementsEqual([plain, mark])
        else { return nil }
        return voiced
    }

    // MARK: Making a page

    private static func fold(_ scalar: Unicode.Scalar) -> [Scalar] {
        let properties = scalar.properties
        if isPassedOver(scalar) { return [] }
        if scalar.value == 0x3099 || scalar.value == 0x309A { return [Scalar(value: scalar.value, kind: .voicing)] }
        if properties.isEmoji, scalar.value >= 0x2190 { return [Scalar(value: scalar.value, kind: .emoji)] }
        // A voiced kana comes apart in its decomposition; it is whole as it is.
        let decomposed =
            (0x3040...0x30FF).contains(scalar.value)
            ? String(scalar) : String(scalar).decomposedStringWithCompatibilityMapping
        var folded: [Scalar] = []
        for part in decomposed.unicodeScalars where !isPassedOver(part) {
            folded += cased(part, isUpper: properties.isUppercase)
        }
        // `Foo™` is not the word `footm`.
        if properties.generalCategory == .otherSymbol, !folded.isEmpty {
            let separator = Scalar(value: 0x20, kind: .separator)
            return [separator] + folded + [separator]
        }
        return folded
    }

    /// Accents and points, and what nobody sees.
    private static func isPassedOver(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isEmojiModifier || scalar.value == 0x0640 {
            return true
        }
        switch properties.generalCategory {
        case .enclosingMark: return true
        // The classes of accents and of Hebrew and Arabic points; Indic vowels have none and are letters.
        case .nonspacingMark:
            return [10...36, 200...240].contains { $0.contains(properties.canonicalCombiningClass.rawValue) }
        default: return false
        }
    }

    private static func cased(_ scalar: Unicode.Scalar, isUpper: Bool) -> [Scalar] {
        if let letters = lettersOfTheirOwn[scalar] {
            return letters.unicodeScalars.map { Scalar(value: $0.value, kind: isUpper ? .upper : .lower) }
        }
        if scalar.value == 0x3099 || scalar.value == 0x309A { return [Scalar(value: scalar.value, kind: .voicing)] }
        // Upper case first: it takes apart `ß` and takes `ς` and `ſ` to their plain forms.
        let lower = scalar.properties.uppercaseMapping.unicodeScalars.flatMap {
            Array($0.properties.lowercaseMapping.unicodeScalars)
        }
        return lower.filter { !isPassedOver($0) }.map { scalar in
            if let digit = scalar.properties.numericValue, scalar.properties.numericType == .decimal {
                return Scalar(value: 0x30 + UInt32(digit), kind: .digit)
            }
            return Scalar(value: scalar.value, kind: kind(of: scalar, isUpper: isUpper))
        }
    }

    /// Latin letters that no decomposition takes to the letters that people type for them.
    private static let lettersOfTheirOwn: [Unicode.Scalar: String] = [
        "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "þ": "th", "Þ": "th",
        "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ħ": "h", "Ħ": "h", "ŧ": "t", "Ŧ": "t",
    ]

    private static func kind(of scalar: Unicode.Scalar, isUpper: Bool) -> Kind {
        let isUnspaced = unspaced.contains { $0.contains(scalar.value) }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .otherLetter, .modifierLetter:
            return isUnspaced ? .unspaced : .lower
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter: return isUpper ? .upper : .lower
        case .decimalNumber, .letterNumber, .otherNumber: return isUnspaced ? .unspaced : .digit
        default: return .separator
        }
    }

    /// Thai, Lao, Burmese, Khmer, Han, kana, Bopomofo.
    private static let unspaced: [ClosedRange<UInt32>] = [
        0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3040...0x30FF, 0x3105...0x312F,
        0x31F0...0x31FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF,
    ]
}
