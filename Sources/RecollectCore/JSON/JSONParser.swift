/// A JSON parser for bytes, in one pass and strictly by RFC 8259, for imports and stored parts.
///
/// Foundation's decoder on Linux is about ten times too slow for these.
///
/// A parser is a position in a buffer owned by the caller. Each method reads one value and stops after it, so
/// callers can read some members of an object and skip the rest without building them. UTF-8 is checked everywhere,
/// including skipped values. Nesting deeper than `depthLimit` is refused. Of equal keys, the last one is used.
/// Integers of 64 bits stay integers. The accepted input and the results agree with the `Decodable` conformance of
/// `JSONValue`.
///
/// Swift dictionaries treat keys with different bytes as equal if they are canonically equivalent, for example `é`
/// as one code point and as two. An object with both would lose a member: `value` returns its text as a string, and
/// `object` refuses it.
///
/// Every method throws `unreadable` with the offset of the first invalid byte.
package struct JSONParser {
    /// The maximum nesting of arrays and objects, the same as Foundation's. Saved values stay below it: see
    /// `JSONValue.depthLimit`.
    package static let depthLimit = 512

    let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte to read.
    package private(set) var offset = 0
    private var depth = 0
    /// The offset of the first object returned as text by `value`.
    private(set) var objectAsText: Int?
    /// The offset of the last string passed by `skip`. After an error, it is the last string begun.
    var lastSkippedString = 0
    /// Whether half of a surrogate pair is read as U+FFFD, as in other readers. JavaScript writes such halves for
    /// strings cut inside a pair.
    let replacesLoneSurrogates: Bool

    /// Whether `NaN`, `Infinity`, `-Infinity` and numbers beyond `Double` are read as `null`. Python writes the
    /// first three for such numbers.
    let readsNonFiniteAsNull: Bool

    package init(
        _ bytes: UnsafeRawBufferPointer, replacesLoneSurrogates: Bool = false, readsNonFiniteAsNull: Bool = false
    ) {
        self.bytes = bytes
        self.replacesLoneSurrogates = replacesLoneSurrogates
        self.readsNonFiniteAsNull = readsNonFiniteAsNull
    }

    /// Reads a whole text: one value with optional white space around it.
    package static func read<Result>(
        _ bytes: UnsafeRawBufferPointer, replacesLoneSurrogates: Bool = false, readsNonFiniteAsNull: Bool = false,
        _ body: (inout JSONParser) throws -> Result
    ) throws -> Result {
        var parser = JSONParser(
            bytes, replacesLoneSurrogates: replacesLoneSurrogates, readsNonFiniteAsNull: readsNonFiniteAsNull)
        let result = try body(&parser)
        parser.skipWhitespace()
        guard parser.offset == bytes.count else { throw parser.failure("unexpected text after the value") }
        return result
    }

    // MARK: Values

    /// Reads any value.
    package mutating func value() throws -> JSONValue {
        switch try first() {
        case UInt8(ascii: "{"):
            let start = offset
            if let members = try members() { return .object(members) }
            objectAsText = objectAsText ?? start
            return .string(String(decoding: bytes[start..<offset], as: UTF8.self))
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: return try number()
        }
    }

    /// Skips any value without building it, and returns its range.
    @discardableResult
    package mutating func skip() throws -> Range<Int> {
        let byte = try first()
        let start = offset
        switch byte {
        case UInt8(ascii: "{"): try skipObject()
        case UInt8(ascii: "["): try skipArray()
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: try skipNumber()
        }
        return start..<offset
    }

    /// Reads an object.
    package mutating func object() throws -> [String: JSONValue] {
        skipWhitespace()
        let start = offset
        guard let members = try members() else { throw duplicateKeys(at: start) }
        return members
    }

    /// Reads an object; returns `nil` if two keys are canonically equivalent with different bytes.
    private mutating func members() throws -> [String: JSONValue]? {
        // Separate loops here and in `array`: with closures, each level of a deep value would need several stack
        // frames.
        var members: [String: JSONValue] = [:]
        var haveDuplicateKeys = false
        var more = try open("{", closedBy: "}")
        while more {
            let key = try string()
            try expect(":")
            if members.updateValue(try value(), forKey: key) != nil, let index = members.index(forKey: key) {
                haveDuplicateKeys = haveDuplicateKeys || !members.keys[index].hasSameBytes(as: key)
            }
            more = try continues(until: "}")
        }
        return haveDuplicateKeys ? nil : members
    }

    /// Reads an array.
    package mutating func array() throws -> [JSONValue] {
        var elements: [JSONValue] = []
        var more = try open("[", closedBy: "]")
        while more {
            elements.append(try value())
            more = try continues(until: "]")
        }
        return elements
    }

    /// Reads an object by its members in order. `body` must read or skip exactly the value of the member.
    package mutating func forEachMember(_ body: (String, inout JSONParser) throws -> Void) throws {
        var more = try open("{", closedBy: "}")
        while more {
            let key = try string()
            try expect(":")
            try body(key, &self)
            more = try continues(until: "}")
        }
    }

    /// Reads an array by its elements in order. `body` must read or skip exactly one element.
    package mutating func forEachElement(_ body: (inout JSONParser) throws -> Void) throws {
        var more = try open("[", closedBy: "]")
        while more {
            try body(&self)
            more = try continues(until: "]")
        }
    }

    /// Reads an element with its depth counted from zero, as for a document of its own.
    mutating func withNewDepth<Result>(_ body: (inout JSONParser) throws -> Result) throws -> Result {
        let outer = depth
        depth = 0
        defer { depth = outer }
        return try body(&self)
    }

    /// Returns the range of the value for the member `id` of an object; `nil` if there is none.
    static func rangeOfID(in bytes: UnsafeRawBufferPointer) throws -> Range<Int>? {
        var parser = JSONParser(bytes, replacesLoneSurrogates: true)
        // The first member in objects written by Recollect.
        if parser.enter(member: "id") { return try parser.skip() }
        parser.move(to: 0)
        var range: Range<Int>?
        try parser.forEachMember { key, parser in
            let value = try parser.skip()
            if key == "id" { range = value }
        }
        return range
    }

    private mutating func skipObject() throws {
        var more = try open("{", closedBy: "}")
        while more {
            try skipString()
            try expect(":")
            try skip()
            more = try continues(until: "}")
        }
    }

    private mutating func skipArray() throws {
        var more = try open("[", closedBy: "]")
        while more {
            try skip()
            more = try continues(until: "]")
        }
    }

    /// Reads the beginning of an object or array, and its end if it is empty. Returns whether an element follows.
    private mutating func open(_ begin: Unicode.Scalar, closedBy end: Unicode.Scalar) throws -> Bool {
        guard isNext(begin) else {
            throw failure(begin == "{" ? "expected an object" : "expected an array")
        }
        guard depth < Self.depthLimit else { throw failure("nested more than \(Self.depthLimit) levels deep") }
        offset += 1
        guard !isNext(end) else {
            offset += 1
            return false
        }
        depth += 1
        return true
    }

    /// Reads the comma before the next element, or the end. Returns whether an element follows.
    private mutating func continues(until end: Unicode.Scalar) throws -> Bool {
        let byte = try first()
        let isEnd = UInt32(byte) == end.value
        guard isEnd || byte == UInt8(ascii: ",") else { throw failure("expected a comma or a closing bracket") }
        offset += 1
        if isEnd { depth -= 1 }
        return !isEnd
    }

    // MARK: Bytes

    /// Whether the next value begins with this character; `false` at the end.
    package mutating func isNext(_ character: Unicode.Scalar) -> Bool {
        skipWhitespace()
        return offset < bytes.count && UInt32(bytes[offset]) == character.value
    }

    /// Enters an object with this name for its first member, up to the value. Returns `false` for other input, with
    /// an undefined position.
    ///
    /// Used with `move` and `leave` to try one expected shape before `value`.
    mutating func enter(member name: StaticString) -> Bool {
        guard isNext("{") else { return false }
        offset += 1
        guard isNext("\"") else { return false }
        let end = offset + 2 + name.utf8CodeUnitCount
        guard end <= bytes.count, bytes[end - 1] == UInt8(ascii: "\""),
            bytes[offset + 1..<end - 1].elementsEqual(
                UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        else { return false }
        offset = end
        guard isNext(":") else { return false }
        offset += 1
        return true
    }

    /// Reads the end of an object; returns `false` if another member follows.
    mutating func leave() -> Bool {
        guard isNext("}") else { return false }
        offset += 1
        return true
    }

    /// Moves to an offset: past scanned bytes, or back to the beginning of a value to read it in another way.
    mutating func move(to offset: Int) {
        self.offset = offset
    }

    mutating func skipWhitespace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// Returns the next byte other than white space.
    private mutating func first() throws -> UInt8 {
        skipWhitespace()
        guard offset < bytes.count else { throw failure("unexpected end of the text") }
        return bytes[offset]
    }

    private mutating func expect(_ character: Unicode.Scalar) throws {
        guard isNext(character) else { throw failure("expected '\(character)'") }
        offset += 1
    }

    private mutating func literal(_ text: StaticString) throws {
        let end = offset + text.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[offset..<end].elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        else { throw failure("not a JSON value") }
        offset = end
    }

    /// Returns the error for an object with keys equal in a dictionary.
    func duplicateKeys(at position: Int) -> RecollectError {
        failure("two keys of an object differ only in Unicode normalization", at: position)
    }

    /// Returns the error for the byte at the current position, or at another one.
    func failure(_ reason: String, at position: Int? = nil) -> RecollectError {
        RecollectError(.unreadable, "not valid JSON at byte \(position ?? offset): \(reason)")
    }
}
