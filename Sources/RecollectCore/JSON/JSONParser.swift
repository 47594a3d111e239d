/// Reads JSON from bytes in one pass, strictly by RFC 8259: for imports and stored parts, where Foundation's decoder on
/// Linux is about ten times too slow.
///
/// A parser is a position in bytes that someone else keeps alive. Its methods each read one value and stop behind it, so a
/// caller takes what it needs of an object and skips the rest without building it. UTF-8 is checked everywhere, also in what
/// is skipped; nesting deeper than `depthLimit` is refused; of equal keys the last one counts; whole numbers that fit 64
/// bits stay integers. What it accepts and what it makes of it agree with `JSONValue`'s `Decodable` conformance.
///
/// Swift's dictionaries take keys for one that differ in bytes alone, `é` in one code point and in two. An object with both
/// would lose a member: `value` keeps it as the string of its text, and `object` refuses it.
///
/// Every method throws `unreadable` with the offset of the first byte that cannot be right.
package struct JSONParser {
    /// How deep arrays and objects may nest; Foundation's limit too. What is saved stays below it: see `JSONValue.depthLimit`.
    package static let depthLimit = 512

    let bytes: UnsafeRawBufferPointer
    /// The next byte to read.
    package private(set) var offset = 0
    private var depth = 0
    /// Where the first object begins that `value` kept as text.
    private(set) var objectKeptAsText: Int?
    /// JavaScript cuts strings inside a pair of surrogates and writes the half that is left; its readers put U+FFFD there.
    let replacesLoneSurrogates: Bool

    package init(_ bytes: UnsafeRawBufferPointer, replacesLoneSurrogates: Bool = false) {
        self.bytes = bytes
        self.replacesLoneSurrogates = replacesLoneSurrogates
    }

    /// Reads a whole text: one value with nothing but white space around it.
    package static func read<Result>(
        _ bytes: UnsafeRawBufferPointer, replacesLoneSurrogates: Bool = false,
        _ body: (inout JSONParser) throws -> Result
    ) throws -> Result {
        var parser = JSONParser(bytes, replacesLoneSurrogates: replacesLoneSurrogates)
        let result = try body(&parser)
        parser.skipWhitespace()
        guard parser.offset == bytes.count else { throw parser.failure("something follows the value") }
        return result
    }

    // MARK: Values

    /// Reads any value.
    package mutating func value() throws -> JSONValue {
        switch try first() {
        case UInt8(ascii: "{"):
            let start = offset
            if let members = try members() { return .object(members) }
            objectKeptAsText = objectKeptAsText ?? start
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

    /// Reads past any value and returns where it stands, without building it.
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
        guard let members = try members() else { throw twinKeys(at: start) }
        return members
    }

    /// Reads an object; `nil` where two keys differ in bytes alone.
    private mutating func members() throws -> [String: JSONValue]? {
        // Loops of their own here and in `array`: with closures each level of a deep value would take several frames.
        var members: [String: JSONValue] = [:]
        var haveTwins = false
        var more = try open("{", closedBy: "}")
        while more {
            let key = try string()
            try expect(":")
            if members.updateValue(try value(), forKey: key) != nil, let index = members.index(forKey: key) {
                haveTwins = haveTwins || !members.keys[index].hasSameBytes(as: key)
            }
            more = try continues(until: "}")
        }
        return haveTwins ? nil : members
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

    /// Reads an object by its members in order; `body` reads or skips exactly the member's value.
    package mutating func forEachMember(_ body: (String, inout JSONParser) throws -> Void) throws {
        var more = try open("{", closedBy: "}")
        while more {
            let key = try string()
            try expect(":")
            try body(key, &self)
            more = try continues(until: "}")
        }
    }

    /// Reads an array by its elements in order; `body` reads or skips exactly one element.
    package mutating func forEachElement(_ body: (inout JSONParser) throws -> Void) throws {
        var more = try open("[", closedBy: "]")
        while more {
            try body(&self)
            more = try continues(until: "]")
        }
    }

    /// Reads an element as if it were a text of its own: as deep as that.
    mutating func countingDepthAnew<Result>(_ body: (inout JSONParser) throws -> Result) throws -> Result {
        let outer = depth
        depth = 0
        defer { depth = outer }
        return try body(&self)
    }

    /// Where the value of the member `id` stands in an object; `nil` if it has none.
    static func placeOfID(in bytes: UnsafeRawBufferPointer) throws -> Range<Int>? {
        var parser = JSONParser(bytes)
        // The first one, as Recollect writes it.
        if parser.enter(member: "id") { return try parser.skip() }
        parser.move(to: 0)
        var place: Range<Int>?
        try parser.forEachMember { key, parser in
            let value = try parser.skip()
            if key == "id" { place = value }
        }
        return place
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

    /// Reads the beginning of an object or array, and its end if it is empty; whether an element follows.
    private mutating func open(_ begin: Unicode.Scalar, closedBy end: Unicode.Scalar) throws -> Bool {
        guard isNext(begin) else {
            throw failure(begin == "{" ? "an object should be here" : "an array should be here")
        }
        guard depth < Self.depthLimit else { throw failure("nested deeper than \(Self.depthLimit)") }
        offset += 1
        guard !isNext(end) else {
            offset += 1
            return false
        }
        depth += 1
        return true
    }

    /// Reads the comma before the next element, or the end; whether an element follows.
    private mutating func continues(until end: Unicode.Scalar) throws -> Bool {
        let byte = try first()
        let isEnd = UInt32(byte) == end.value
        guard isEnd || byte == UInt8(ascii: ",") else { throw failure("a comma or an end is missing") }
        offset += 1
        if isEnd { depth -= 1 }
        return !isEnd
    }

    // MARK: Bytes

    /// Whether the next value begins with this character; false at the end.
    package mutating func isNext(_ character: Unicode.Scalar) -> Bool {
        skipWhitespace()
        return offset < bytes.count && UInt32(bytes[offset]) == character.value
    }

    /// Enters an object whose first member has this name and stands before that member's value; false, at any place, where
    /// something else stands. With `move` and `leave` for callers that expect one shape and fall back to `value`.
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

    /// Reads the end of an object; false where another member follows.
    mutating func leave() -> Bool {
        guard isNext("}") else { return false }
        offset += 1
        return true
    }

    /// Goes to an offset: on behind what a scan has checked, or back to where a value began, to read it another way.
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

    /// The next byte that is not white space.
    private mutating func first() throws -> UInt8 {
        skipWhitespace()
        guard offset < bytes.count else { throw failure("the text ends too early") }
        return bytes[offset]
    }

    private mutating func expect(_ character: Unicode.Scalar) throws {
        guard isNext(character) else { throw failure("'\(character)' is missing") }
        offset += 1
    }

    private mutating func literal(_ text: StaticString) throws {
        let end = offset + text.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[offset..<end].elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        else { throw failure("not a JSON value") }
        offset = end
    }

    /// The error for an object that no dictionary holds.
    func twinKeys(at place: Int) -> RecollectError {
        failure("two keys of an object differ in bytes alone", at: place)
    }

    /// The error for the byte at the parser's place, or another.
    func failure(_ reason: String, at place: Int? = nil) -> RecollectError {
        RecollectError(.unreadable, "not valid JSON at byte \(place ?? offset): \(reason)")
    }
}
