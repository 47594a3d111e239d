/// A writer of JSON bytes without white space, with keys in byte order: equal values have equal bytes.
///
/// Except for keys in decomposed form, the output is the same as from `JSONEncoder` with sorted keys and unescaped
/// slashes. `JSONParser` reads it back as the same value. A number without a JSON representation (infinite or NaN)
/// becomes `null`.
package struct JSONWriter {
    /// The written bytes.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// The written text.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Writes any value.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .integer(let value): write(value)
        case .number(let value): write(value)
        case .string(let value): write(value)
        case .array(let elements): write(list: elements) { $0.write($1) }
        case .object(let members): write(members)
        }
    }

    /// Writes an object.
    package mutating func write(_ members: [String: JSONValue]) {
        object { object in
            for (key, value) in members.inOrderOfKeys {
                object.member(key) { $0.write(value) }
            }
        }
    }

    /// Writes an array of any elements.
    package mutating func write<Element>(
        list elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        put("[")
        var isFirst = true
        for element in elements {
            if !isFirst { put(",") }
            isFirst = false
            body(&self, element)
        }
        put("]")
    }

    /// Writes an object member by member, in the caller's order.
    package mutating func object(_ body: (inout Members) -> Void) {
        put("{")
        var members = Members(writer: self)
        // The bytes have one owner at a time; otherwise every member would copy them.
        bytes = []
        body(&members)
        swap(&bytes, &members.writer.bytes)
        put("}")
    }

    /// An object while it is written.
    package struct Members {
        var writer: JSONWriter
        private var isFirst = true

        init(writer: JSONWriter) {
            self.writer = writer
        }

        /// Writes one member. `value` must write exactly one value.
        package mutating func member(_ key: String, _ value: (inout JSONWriter) -> Void) {
            if !isFirst { writer.put(",") }
            isFirst = false
            writer.write(key)
            writer.put(":")
            value(&writer)
        }
    }

    /// Writes an integer.
    package mutating func write(_ value: Int64) {
        raw(value.description)
    }

    private mutating func write(_ value: Double) {
        guard value.isFinite else { return raw("null") }
        // Equal numbers must have equal bytes.
        if let whole = value.wholeNumber { return write(whole) }
        let digits = value.description
        raw(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
    }

    /// Writes a string.
    package mutating func write(_ string: String) {
        put("\"")
        var string = string
        string.withUTF8 { characters in
            reserve(for: characters)
            var written = 0
            for position in characters.indices {
                let byte = characters[position]
                guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
                bytes.append(contentsOf: characters[written..<position])
                escape(byte)
                written = position + 1
            }
            bytes.append(contentsOf: characters[written...])
        }
        put("\"")
    }

    /// Reserves capacity for a string longer than everything written so far, to avoid repeated copies while growing.
    private mutating func reserve(for characters: UnsafeBufferPointer<UInt8>) {
        guard characters.count > max(bytes.count, 1 << 16) else { return }
        // Includes the escapes of typical text.
        bytes.reserveCapacity(bytes.count + characters.count + characters.count / 16 + 1 << 12)
    }

    private mutating func escape(_ byte: UInt8) {
        put("\\")
        switch byte {
        case 0x22, 0x5C: bytes.append(byte)
        case 0x08: put("b")
        case 0x09: put("t")
        case 0x0A: put("n")
        case 0x0C: put("f")
        case 0x0D: put("r")
        default: raw("u00" + CollectionOfOne(byte).lowercaseHexadecimal)
        }
    }

    private mutating func put(_ character: Unicode.Scalar) {
        bytes.append(UInt8(truncatingIfNeeded: character.value))
    }

    private mutating func raw(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
