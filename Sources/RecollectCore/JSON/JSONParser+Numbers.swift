extension JSONParser {
    /// Reads a number: an integer for any notation of an integer of 64 bits. Negative zero keeps its sign.
    mutating func number() throws -> JSONValue {
        try finite { try $0.finiteNumber() } ?? .null
    }

    /// Skips a number, with the same checks as `number`.
    mutating func skipNumber() throws {
        _ = try finite { try $0.skipFiniteNumber() }
    }

    /// Reads a number; returns `nil` for one without a finite value, if these are read as `null`.
    private mutating func finite<Result>(_ read: (inout JSONParser) throws -> Result) throws -> Result? {
        let start = offset
        do {
            return try read(&self)
        } catch {
            move(to: start)
            guard readsNonFiniteAsNull, skipNonFinite() else { throw error }
            return nil
        }
    }

    /// Skips a number without a finite value. Returns `false` for any other input, with an undefined position.
    private mutating func skipNonFinite() -> Bool {
        for name in ["NaN", "Infinity", "-Infinity"] where bytes[offset...].starts(with: name.utf8) {
            move(to: offset + name.utf8.count)
            return true
        }
        return (try? scanNumber()) != nil
    }

    private mutating func finiteNumber() throws -> JSONValue {
        let (position, isInteger) = try scanNumber()
        let digits = UnsafeRawBufferPointer(rebasing: bytes[position])
        if isInteger, let integer = Self.integer(digits), integer != 0 || digits.count == 1 { return .integer(integer) }
        let number = try double(at: position)
        if number.magnitude < 0x1p53 { return number.wholeNumber.map { .integer($0) } ?? .number(number) }
        // A double of this size cannot distinguish neighboring integers, but the digits can.
        if isInteger { return .number(number) }
        return Self.wholeDigits(of: digits).flatMap(Self.integer).map { .integer($0) } ?? .number(number)
    }

    private mutating func skipFiniteNumber() throws {
        let (position, _) = try scanNumber()
        // Only an exponent or hundreds of digits make a number too large.
        if position.count > 300 || bytes[position].contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
            _ = try double(at: position)
        }
    }

    private func double(at position: Range<Int>) throws -> Double {
        guard let number = Double(String(decoding: bytes[position], as: UTF8.self)), number.isFinite else {
            throw failure("number too large", at: position.lowerBound)
        }
        return number
    }

    /// Skips a number by the grammar: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    private mutating func scanNumber() throws -> (Range<Int>, isInteger: Bool) {
        let start = offset
        var position = start
        var isInteger = true
        func next() -> UInt8 { position < bytes.count ? bytes[position] : 0 }
        func digits() throws {
            let first = position
            while UInt8(ascii: "0")...UInt8(ascii: "9") ~= next() { position += 1 }
            guard position > first else {
                throw failure(position == start ? "not a JSON value" : "expected a digit", at: position)
            }
        }
        if next() == UInt8(ascii: "-") { position += 1 }
        if next() == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        if next() == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits()
        }
        if next() | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if next() == UInt8(ascii: "+") || next() == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        move(to: position)
        return (start..<position, isInteger)
    }

    /// Returns the value of valid digits; `nil` if it exceeds 64 bits.
    private static func integer(_ digits: some Collection<UInt8>) -> Int64? {
        let isNegative = digits.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in digits.dropFirst(isNegative ? 1 : 0) {
            let (tens, tooManyTens) = value.multipliedReportingOverflow(by: 10)
            // Counted downward, because the least integer has no positive counterpart.
            let (sum, tooLarge) = tens.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !tooManyTens, !tooLarge else { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// Returns the digits of a large integer written with a fraction or an exponent: `1500` for `1.5e3`; `nil` for
    /// other numbers, and for those too long for 64 bits.
    private static func wholeDigits(of text: UnsafeRawBufferPointer) -> [UInt8]? {
        let parts = text.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        let exponent = parts.count == 1 ? 0 : Int(String(decoding: parts[1], as: UTF8.self))
        guard let exponent, (-text.count...20).contains(exponent) else { return nil }
        let mantissa = parts[0].split(separator: UInt8(ascii: "."))
        let digits = Array(mantissa.joined())
        let zeros = exponent - (mantissa.count == 2 ? mantissa[1].count : 0)
        guard zeros < 0 else { return digits + Array(repeating: UInt8(ascii: "0"), count: zeros) }
        return digits.suffix(-zeros).allSatisfy { $0 == UInt8(ascii: "0") } ? digits.dropLast(-zeros) : nil
    }
}
