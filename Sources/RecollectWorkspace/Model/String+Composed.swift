import Foundation

extension String {
    /// Whether all characters are ASCII, so that the text has only one normalization form.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The text in composed form (NFC).
    var composed: String { isOfComposedBlocks ? self : composedInPieces }

    /// The text composed in pieces of about 256 bytes. The time of Foundation's composition is quadratic on Linux.
    private var composedInPieces: String {
        var composed = ""
        composed.reserveCapacity(utf8.count)
        var start = startIndex
        var size = 0
        for index in unicodeScalars.indices {
            let scalar = unicodeScalars[index]
            if size >= 256, scalar.neverComposesWithPrevious {
                composed += String(self[start..<index]).precomposedStringWithCanonicalMapping
                (start, size) = (index, 0)
            }
            size += UTF8.width(scalar)
        }
        return composed + String(self[start...]).precomposedStringWithCanonicalMapping
    }

    /// Whether all characters are from ranges of composed characters without combining marks (quick check of UAX
    /// #15, 9).
    ///
    /// True of most texts, and much faster than composing them.
    var isOfComposedBlocks: Bool {
        // The first byte of U+0300 and all later characters is at least 0xCC.
        utf8.allSatisfy { $0 < 0xCC }
            || unicodeScalars.allSatisfy { scalar in
                switch scalar.value {
                case 0..<0x300, 0x400..<0x483, 0x2010..<0x2028, 0x3003..<0x302A, 0x3041..<0x3097, 0x30A1..<0x30FB: true
                case 0x4E00..<0xA000, 0xAC00..<0xD7A4, 0xFF01..<0xFF60, 0x1F300..<0x1F650: true
                default: false
                }
            }
    }
}

extension Unicode.Scalar {
    /// Whether composition never joins the scalar with an earlier one, so that a string can be composed in two parts.
    /// (UAX #15: only marks, vowels and final consonants of Hangul, and vowel signs of Kirat Rai are joined.)
    fileprivate var neverComposesWithPrevious: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: false
        default: !(0x1160..<0x1200).contains(value) && !(0x16D40..<0x16D80).contains(value)
        }
    }
}
