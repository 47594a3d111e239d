extension JSONValue {
    /// Reads a value from JSON text, strictly by RFC 8259; nesting deeper than 512 is refused.
    /// - Throws: `unreadable`, with the offset in bytes of what is wrong.
    public init(parsing text: String) throws {
        var text = text
        self = try text.withUTF8 { bytes in
            try JSONParser.read(UnsafeRawBufferPointer(bytes)) { try $0.value() }
        }
    }

    /// The value as JSON text without white space, keys in order: equal values give equal text.
    ///
    /// A number that JSON cannot hold (infinite, not a number) becomes `null`.
    public var jsonString: String {
        var writer = JSONWriter()
        writer.write(self)
        return writer.text
    }

    /// Reads an object from bytes.
    /// - Throws: `unreadable` where it is not valid JSON or not an object.
    package static func parse(object bytes: UnsafeRawBufferPointer) throws -> [String: JSONValue] {
        try JSONParser.read(bytes) { try $0.object() }
    }

    /// Writes an object as JSON text.
    package static func write(object: [String: JSONValue]) -> String {
        var writer = JSONWriter()
        writer.write(object)
        return writer.text
    }
}
