import Foundation
import RecollectCore

/// Maps characters to search characters, so that variants of a character match.
///
/// A character is replaced by its compatibility decomposition (full width, ligatures, Arabic presentation forms),
/// without accents and points, in lower case (`ß` as `ss`, every Turkish i as `i`), with decimal digits as ASCII.
/// Marks with the role of letters in their script stay: Indic vowels, and the marks turning Japanese `か` into `が`.
enum CharacterFolding {
    /// The kind of a folded scalar.
    enum Kind: UInt8 {
        case separator, lower, upper, digit
        /// A character of a script written without spaces.
        case unspaced
        /// A mark voicing the preceding kana.
        case voicing
        case emoji
    }

    /// A folded scalar. Its kind includes the original case.
    struct Scalar {
        let value: UInt32
        let kind: Kind
    }

    /// The folded forms of 256 consecutive scalars.
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

        /// A placeholder for no page.
        static let none = Page()

        /// Returns the range in `scalars` of a scalar's folded form. The range of an ignored scalar is empty.
        func range(of scalar: UInt32) -> Range<Int> {
            let index = Int(scalar & 0xFF)
            return starts[index]..<starts[index + 1]
        }
    }

    private static let pages = Locked<[UInt32: Page]>([:])

    /// Returns the page of a scalar. It is created at its first use in the process.
    static func page(of scalar: UInt32) -> Page {
        pages.withLock { pages in
            let number = scalar >> 8
            if let page = pages[number] { return page }
            let page = Page(number: number)
            pages[number] = page
            return page
        }
    }

    /// Returns the kind of an ASCII character.
    @inline(__always)
    static func kind(ofASCII byte: UInt8) -> Kind {
        if byte &- UInt8(ascii: "a") < 26 { return .lower }
        if byte &- UInt8(ascii: "A") < 26 { return .upper }
        if byte &- UInt8(ascii: "0") < 10 { return .digit }
        return .separator
    }

    /// Returns the kind of the most frequent scalars that fold to themselves, without a table.
    @inline(__always)
    static func kindOfCommonScalar(_ value: UInt32) -> Kind? {
        switch value {
        case 0x4E00...0x9FFF, 0x3041...0x3096, 0x30A1...0x30FA, 0x30FC: return .unspaced
        case 0xAC00...0xD7A3: return .lower
        default: return nil
        }
    }

    /// Returns the length of a scalar in UTF-8 bytes.
    static func length(of value: UInt32) -> Int {
        value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4
    }

    /// Returns the Hangul syllable composed of a scalar and a following Jamo, or `nil`.
    static func syllable(_ first: UInt32, _ second: UInt32) -> UInt32? {
        switch (first, second) {
        case (0x1100...0x1112, 0x1161...0x1175): return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        case (0xAC00...0xD7A3, 0x11A8...0x11C2): return (first - 0xAC00) % 28 == 0 ? first + second - 0x11A7 : nil
        default: return nil
        }
    }

    /// Returns the kana composed of a kana and a voicing mark, or `nil`.
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
        // A voiced kana would be split by its decomposition, so it is used unchanged.
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

    /// Whether a scalar is ignored: an accent, a point, or an invisible character.
    private static func isPassedOver(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isEmojiModifier || scalar.value == 0x0640 {
            return true
        }
        switch properties.generalCategory {
        case .enclosingMark: return true
        // The classes of accents and of Hebrew and Arabic points. Indic vowels have other classes and are letters.
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
        // Upper case first: it splits `ß` and maps `ς` and `ſ` to their plain forms.
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

    /// Latin letters without a decomposition into the letters typed for them.
    private static let lettersOfTheirOwn: [Unicode.Scalar: String] = [
        "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "þ": "th", "Þ": "th",
        "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ħ": "h", "Ħ": "h", "ŧ": "t", "Ŧ": "t",
    ]

    private static func kind(of scalar: Unicode.Scalar, isUpper: Bool) -> Kind {
        let isUnspaced = scalar.isInUnspacedScript
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .otherLetter, .modifierLetter:
            return isUnspaced ? .unspaced : .lower
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter: return isUpper ? .upper : .lower
        case .decimalNumber, .letterNumber, .otherNumber: return isUnspaced ? .unspaced : .digit
        default: return .separator
        }
    }
}
