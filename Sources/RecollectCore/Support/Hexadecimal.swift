extension Sequence<UInt8> {
    /// The bytes as text, with two lowercase hexadecimal digits for each.
    package var lowercaseHexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
        }
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
