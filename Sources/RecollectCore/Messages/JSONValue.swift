import Foundation

/// A JSON value, for tool arguments, tool results, metadata and unknown parts.
///
/// JSON has one kind of number, so numbers are compared by value: `.number(2)` equals `.integer(2)`, and a store
/// may return either. Negative zero only equals itself.
public enum JSONValue: Sendable {
    /// The value `null`.
    case null
    /// The value `true` or `false`.
    case bool(Bool)
    /// An integer of at most 64 bits.
    case integer(Int64)
    /// Any other number. Stores refuse infinite values and NaN, which have no JSON representation.
    case number(Double)
    /// A string, possibly with U+0000.
    case string(String)
    /// An ordered list.
    case array([JSONValue])
    /// Keys and values. The order of the keys has no meaning and is not preserved.
    case object([String: JSONValue])
}

extension JSONValue: Hashable {
    /// Whether two values are equal as JSON: numbers by value, objects independent of the order of keys.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left.bitPattern == right.bitPattern
        case (.integer(let whole), .number(let number)), (.number(let number), .integer(let whole)):
            number.wholeNumber == whole
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes the value. Equal numbers have equal hashes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value):
            if let whole = value.wholeNumber { hasher.combine(whole) } else { hasher.combine(value.bitPattern) }
        case .string(let value): hasher.combine(value)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension Double {
    /// The 64-bit integer written for this number in JSON; `nil` for fractions, larger numbers and negative zero.
    var wholeNumber: Int64? {
        self == 0 && sign == .minus ? nil : Int64(exactly: self)
    }
}

extension JSONValue {
    /// The string, if the value is one.
    public var stringValue: String? {
        if case .string(let value) = self { return value }
        return nil
    }

    /// The integer, if the value is one or a double without a fraction.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): return value
        case .number(let value): return Int64(exactly: value)
        default: return nil
        }
    }

    /// The number as a double, if the value is a number.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): return Double(value)
        case .number(let value): return value
        default: return nil
        }
    }

    /// The Boolean value, if the value is one.
    public var boolValue: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    /// The elements, if the value is an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { return value }
        return nil
    }

    /// The members, if the value is an object.
    public var objectValue: [String: JSONValue]? {
        if case .object(let value) = self { return value }
        return nil
    }

    /// The member with this name, if the value is an object and has it.
    public subscript(key: String) -> JSONValue? {
        objectValue?[key]
    }
}

extension JSONValue: Codable {
    /// Creates a value by decoding any JSON.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = Self.number(in: container, decodedAs: value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Returns the exact number for a decoded integer. Decoders also return integers for negative zero and, without
    /// their fraction, for large numbers.
    private static func number(in container: any SingleValueDecodingContainer, decodedAs whole: Int64) -> JSONValue {
        // Decoders of formats other than JSON may not offer these types; the integer is then used.
        if whole == 0, let number = try? container.decode(Double.self), number.sign == .minus { return .number(number) }
        if whole.magnitude >= 1 << 53, var exact = try? container.decode(Decimal.self),
            let number = try? container.decode(Double.self)
        {
            var rounded = Decimal()
            NSDecimalRound(&rounded, &exact, 0, .plain)
            if rounded != exact { return .number(number) }
        }
        return .integer(whole)
    }

    /// Encodes the value as plain JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value):
            if let whole = value.wholeNumber { try container.encode(whole) } else { try container.encode(value) }
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

// No `nil` literal: `object["key"] = nil` must remove a member and never set it to null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. Of several values for a key, the last one is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}
