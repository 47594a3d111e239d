extension JSONValue {
    /// Creates a value by parsing JSON text, strictly by RFC 8259.
    ///
    /// Nesting deeper than 512 levels is refused. So are objects with canonically equivalent keys of different
    /// bytes (`é` as one code point and as two), because a dictionary would lose one of them.
    /// - Throws: `unreadable`, with the offset of the error in bytes.
    public init(parsing text: String) throws {
        var text = text
        self = try text.withUTF8 { bytes in
            try JSONParser.read(UnsafeRawBufferPointer(bytes)) { parser in
                let value = try parser.value()
                if let position = parser.objectAsText { throw parser.duplicateKeys(at: position) }
                return value
            }
        }
    }

    /// Creates a value from a written one. For coders, which take a value.
    init(writing body: (inout JSONWriter) -> Void) throws {
        var writer = JSONWriter()
        body(&writer)
        self = try writer.bytes.withUnsafeBytes { bytes in try JSONParser.read(bytes) { try $0.value() } }
    }

    /// Creates a value from external JSON text, for example of a model.
    ///
    /// The value is the text itself, as a string, if it is invalid JSON, nested too deeply, or has canonically
    /// equivalent keys with different bytes.
    package init(fromOutside text: String) {
        // The error is ignored, because the text itself is preserved.
        let value = try? JSONValue(parsing: text)
        self = value.map { $0.exceedsExternalDepthLimit ? .string(text) : $0 } ?? .string(text)
    }

    /// The value as JSON text without white space, keys in order, so that equal values have equal text.
    ///
    /// A number without a JSON representation (infinite or NaN) becomes `null`.
    public var jsonString: String {
        var writer = JSONWriter()
        writer.write(self)
        return writer.text
    }

    /// Parses an object.
    /// - Throws: `unreadable` for invalid JSON or a value other than an object.
    package static func parse(object bytes: UnsafeRawBufferPointer) throws -> [String: JSONValue] {
        try JSONParser.read(bytes) { try $0.object() }
    }

    /// Returns an object as JSON text.
    package static func write(object: [String: JSONValue]) -> String {
        var writer = JSONWriter()
        writer.write(object)
        return writer.text
    }
}
