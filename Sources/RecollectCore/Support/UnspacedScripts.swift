extension Unicode.Scalar {
    /// Whether the scalar is in a block of a script without spaces between words: Thai, Lao, Burmese, Khmer, Han, kana,
    /// Bopomofo. Such a block also has digits and marks.
    package var isInUnspacedScript: Bool {
        switch value {
        case 0..<0x0E00: false
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3040...0x30FF, 0x3105...0x312F,
            0x31F0...0x31FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
}
