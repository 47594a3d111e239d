/// A string compared and hashed by its UTF-8 bytes, as a key in dictionaries and sets.
package struct ByteString: Hashable, Sendable, Comparable {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package static func == (left: ByteString, right: ByteString) -> Bool {
        left.string.hasSameBytes(as: right.string)
    }

    package static func < (left: ByteString, right: ByteString) -> Bool {
        left.string.precedesByBytes(right.string)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: string)
    }
}

extension Hasher {
    /// Hashes the UTF-8 bytes, followed by a byte not used in UTF-8, so that different combinations of IDs do not
    /// collide.
    mutating func combine(bytesOf string: String) {
        var string = string
        string.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        combine(0xFF as UInt8)
    }
}
