extension JSONParser {
    /// Reads a string.
    package mutating func string() throws -> String {
        let (content, isEscaped) = try scanString()
        let bytes = UnsafeRawBufferPointer(rebasing: self.bytes[content])
        guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
        // The replacement of an escape is never longer than the escape.
        return String(unsafeUninitializedCapacity: bytes.count) { Self.unescape(bytes, into: $0) }
    }

    /// Skips a string.
    mutating func skipString() throws {
        skipWhitespace()
        lastSkippedString = offset
        _ = try scanString()
    }

    /// Skips a string, checks it, and returns the range of its content.
    private mutating func scanString() throws -> (content: Range<Int>, isEscaped: Bool) {
        guard isNext("\"") else { throw failure("expected a string") }
        let start = offset + 1
        var position = start
        var isEscaped = false
        var highBits: UInt64 = 0
        while true {
            while position + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                if Self.needsCheck(word) { break }
                highBits |= word
                position += 8
            }
            guard position < bytes.count else { throw failure("unterminated string", at: start - 1) }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                if highBits & Self.eachHighBit != 0 { try checkUTF8(start..<position) }
                move(to: position + 1)
                return (start..<position, isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                position = try checkedEscape(at: position)
            case 0..<0x20:
                throw failure("control character in a string", at: position)
            default:
                highBits |= UInt64(byte)
                position += 1
            }
        }
    }

    private static let eachByte: UInt64 = 0x0101_0101_0101_0101
    private static let eachHighBit: UInt64 = 0x8080_8080_8080_8080

    /// Whether any of eight bytes is a quotation mark, a backslash or a control character.
    private static func needsCheck(_ word: UInt64) -> Bool {
        let quotes = word ^ (eachByte &* 0x22)
        let backslashes = word ^ (eachByte &* 0x5C)
        let found =
            ((quotes &- eachByte) & ~quotes) | ((backslashes &- eachByte) & ~backslashes)
            | ((word &- eachByte &* 0x20) & ~word)
        return found & eachHighBit != 0
    }

    // MARK: Escapes

    /// Checks the escape at a backslash and returns the offset after it.
    private func checkedEscape(at position: Int) throws -> Int {
        guard position + 1 < bytes.count else { throw failure("unterminated string", at: position) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return position + 2
        case UInt8(ascii: "u"):
            guard let unit = Self.codeUnit(in: bytes, at: position) else {
                throw failure("expected four hexadecimal digits", at: position)
            }
            guard unit & 0xF800 == 0xD800 else { return position + 6 }
            if unit < 0xDC00, let low = Self.codeUnit(in: bytes, at: position + 6), low & 0xFC00 == 0xDC00 {
                return position + 12
            }
            guard replacesLoneSurrogates else { throw failure("unpaired surrogate", at: position) }
            return position + 6
        default:
            throw failure("unknown escape sequence", at: position)
        }
    }

    /// Returns the number in `\uXXXX` at an offset; `nil` for other bytes.
    private static func codeUnit(in bytes: UnsafeRawBufferPointer, at position: Int) -> UInt32? {
        guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for byte in bytes[position + 2..<position + 6] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }

    /// Writes checked content with its escapes replaced, and returns the number of bytes written.
    private static func unescape(_ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>) -> Int
    {
        var position = 0
        var count = 0
        func put(_ byte: UInt8) {
            output[count] = byte
            count += 1
        }
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == UInt8(ascii: "\\") else {
                put(byte)
                position += 1
                continue
            }
            switch bytes[position + 1] {
            case UInt8(ascii: "b"): put(0x08)
            case UInt8(ascii: "f"): put(0x0C)
            case UInt8(ascii: "n"): put(0x0A)
            case UInt8(ascii: "r"): put(0x0D)
            case UInt8(ascii: "t"): put(0x09)
            case UInt8(ascii: "u"):
                let (scalar, length) = scalar(in: bytes, at: position)
                UTF8.encode(scalar)?.forEach(put)
                position += length
                continue
            case let character: put(character)
            }
            position += 2
        }
        return count
    }

    /// Returns the character of a checked `\u` escape, and the length of the escape in bytes.
    private static func scalar(in bytes: UnsafeRawBufferPointer, at position: Int) -> (Unicode.Scalar, length: Int) {
        let unit = codeUnit(in: bytes, at: position) ?? 0xFFFD
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        if unit < 0xDC00, let low = codeUnit(in: bytes, at: position + 6), low & 0xFC00 == 0xDC00,
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        {
            return (scalar, 12)
        }
        return ("\u{FFFD}", 6)
    }

    // MARK: UTF-8

    /// Checks for well-formed UTF-8 (Unicode, table 3-7).
    private func checkUTF8(_ range: Range<Int>) throws {
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = bytes[position]
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch byte {
            case 0..<0x80: length = 1
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            case 0xF1...0xF3: length = 4
            default: throw failure("not UTF-8", at: position)
            }
            guard position + length <= range.upperBound, length < 2 || second.contains(bytes[position + 1]),
                length < 3 || bytes[position + 2] & 0xC0 == 0x80, length < 4 || bytes[position + 3] & 0xC0 == 0x80
            else { throw failure("not UTF-8", at: position) }
            position += length
        }
    }
}
