extension JSONValue {
    /// Reads a value from JSON text, strictly by RFC 8259; nesting deeper than 512 is refused, and so are objects with keys that
    /// differ in bytes alone (`é` in one code point and in two), of which a dictionary would lose one.
    /// - Throws: `unreadable`, with the offset in bytes of what is wrong.
    public init(parsing text: String) throws {
        var text = text
        self = try text.withUTF8 { bytes in
            try JSONParser.read(UnsafeRawBufferPointer(bytes)) { parser in
                let value = try parser.value()
                if let place = parser.objectKeptAsText { throw parser.twinKeys(at: place) }
                return value
            }
        }
    }

    /// Reads a value that a program outside gave as JSON text, a model for instance; the text itself, as a string, where it is no
    /// JSON that a history keeps: invalid, nested too deep, or with keys that differ in bytes alone.
    package init(fromOutside text: String) {
        // Not being JSON is an answer here, and the text keeps everything.
        let value = try? JSONValue(parsing: text)
        self = value.map { $0.isDeepForOutside ? .string(text) : $0 } ?? .string(text)
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
