import Foundation
import Testing

@testable import RecollectCore

@Suite("JSON numbers")
struct JSONNumberTests {
    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 1e15, 0x1p53, -0x1p53, 0x1p53 + 2, 1e17, -1e17, 123_456_789_012_345_680, 1e18,
        0x1p63 - 1024, -0x1p63, 0x1p63, 1e19, 1e22, 1e300, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .greatestFiniteMagnitude,
    ]

    @Test("Doubles keep their value and sign in every conversion", arguments: doubles)
    func roundTrip(double: Double) throws {
        let value = JSONValue.number(double)
        let parsed = try JSONValue(parsing: value.jsonString)
        let encoded = try JSONEncoder().encode([value])
        let decoded = try JSONDecoder().decode([JSONValue].self, from: encoded)
        #expect(parsed == value && decoded == [value])
        #expect(parsed.doubleValue?.bitPattern == double.bitPattern)
        #expect(decoded.first?.doubleValue?.bitPattern == double.bitPattern)
        #expect(parsed.jsonString == value.jsonString && parsed.hashValue == value.hashValue)
        #expect(String(decoding: encoded, as: UTF8.self) == "[\(value.jsonString)]")
    }

    @Test("Numbers are equal by value, whatever their case")
    func equality() {
        #expect(JSONValue.number(2) == .integer(2))
        #expect(Set<JSONValue>([.number(2), .integer(2), [.number(2)], [.integer(2)]]).count == 2)
        #expect(JSONValue.number(0x1p53) == .integer(1 << 53))
        #expect(JSONValue.number(0x1p53) != .integer((1 << 53) + 1))
        #expect(JSONValue.number(0x1p63) != .integer(.max))
        #expect(JSONValue.number(-0.0) != .integer(0))
        #expect(JSONValue.number(-0.0) != .number(0))
        #expect(!JSONValue.array([.number(-0.0)]).hasSameBytes(as: [0]))
    }

    @Test(
        "A large number with a fraction is not an integer",
        arguments: ["1.234567789012345689e+17", "-1.234567789012345689e+17", "123456778901234568.9"])
    func fraction(text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(value == .number(try #require(Double(text))))
        #expect(try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8)) == [value])
    }

    @Test(
        "A whole number keeps its digits in any notation",
        arguments: ["9007199254740993.0", "9007199254740993e0", "900719925474099.3e1"])
    func wholeNumber(text: String) throws {
        #expect(try JSONValue(parsing: text) == .integer(9_007_199_254_740_993))
    }

    @Test("A number too large for a double is refused by the reader and by the skipper")
    func tooLarge() {
        for text in [
            "1e400", "[-1e309]", "{\"a\":1" + String(repeating: "0", count: 400) + "}", "1e99999999999999999999",
        ] {
            #expect(throws: RecollectError.self) { try JSONValue(parsing: text) }
            let bytes = Array(text.utf8)
            #expect(throws: RecollectError.self) {
                try bytes.withUnsafeBytes { try JSONParser.read($0) { try $0.skip() } }
            }
        }
    }
}
