import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("JSON parser")
struct JSONParserTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }

    private func skips(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            (try? JSONParser.read(bytes) { try $0.skip() }) == 0..<bytes.count
        }
    }

    private static let validTexts: [(String, JSONValue)] = [
        ("null", .null), ("true", true), ("false", false), ("0", 0), ("-0", .number(-0.0)), ("-12", -12), ("1.5", 1.5),
        ("1e2", 100), ("1.0", 1), ("-0.0", .number(-0.0)), ("0e99", 0), ("150e-1", 15),
        ("86508627356916546E2", 8_650_862_735_691_654_600),
        ("15e-1", 1.5), ("1e-2", 0.01), ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("\"\"", ""), ("[]", []), ("{}", [:]),
        (" [ 1 , \"a\" ] ", [1, "a"]), ("{\"a\":1,\"a\":2}", ["a": 2]),
        (#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00\u0000""#, .string("\"\\/\u{8}\u{c}\n\r\tAé😀\u{0}")),
        ("\"0123456789abcdef漢字\"", "0123456789abcdef漢字"),
    ]

    @Test("Text that RFC 8259 allows is read", arguments: validTexts)
    func valid(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(
        "Text that RFC 8259 forbids is refused by the reader and by the skipper",
        arguments: [
            "", " ", "nul", "tru", "01", "-", "1.", ".5", "1e", "+1", "1 2", "[1,]", "[,1]", "[1", "{\"a\"}",
            "{\"a\":}", "{a:1}",
            "{\"a\":1,}", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"",
            "'a'",
            "[1}", "{\"a\":1]", "NaN", "Infinity", "\u{feff}1",
        ])
    func invalid(text: String) {
        #expect(throws: RecollectError.self) { try parse(text) }
        #expect(!skips(Array(text.utf8)))
    }

    @Test(
        "Bytes that are not UTF-8 are refused",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3],
            [0xE6, 0xBC],
            [0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x80],
        ] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        let quoted = [0x22] + bytes + [0x22]
        #expect(!skips(quoted))
        #expect(throws: RecollectError.self) {
            try quoted.withUnsafeBytes { try JSONParser.read($0) { try $0.value() } }
        }
    }

    @Test("An error names the byte offset")
    func errorOffset() throws {
        let error = #expect(throws: RecollectError.self) { try parse("[1, 2, x]") }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("byte 7") == true)
    }

    @Test("512 levels are read on a small stack, and 513 are refused")
    func depth() async throws {
        @Sendable func nested(_ levels: Int) -> String {
            String(repeating: "[{\"a\":", count: levels / 2) + (levels % 2 == 1 ? "[]" : "1")
                + String(repeating: "}]", count: levels / 2)
        }
        let outcome: (Bool, Bool) = await withCheckedContinuation { continuation in
            let thread = Thread {
                let read = (try? JSONValue(parsing: nested(512))) != nil
                let refused = (try? JSONValue(parsing: nested(513))) == nil
                continuation.resume(returning: (read, refused))
            }
            thread.stackSize = 512 * 1024
            thread.start()
        }
        #expect(outcome == (true, true))
    }

    @Test("A lone surrogate becomes U+FFFD if the caller asks for it")
    func loneSurrogates() throws {
        let text = Array(#"["a\ud83d","\ude00b","\ud83d\ude00","\ud83d\u0041"]"#.utf8)
        let value = try text.withUnsafeBytes { bytes in
            try JSONParser.read(bytes, replacesLoneSurrogates: true) { try $0.value() }
        }
        #expect(value == ["a\u{FFFD}", "\u{FFFD}b", "😀", "\u{FFFD}A"])
    }

    @Test("Numbers without a finite value, and nothing else, become null if the caller asks for it")
    func nonFiniteNumbers() throws {
        func read(_ text: String) throws -> JSONValue {
            try Array(text.utf8).withUnsafeBytes { bytes in
                let range = try JSONParser.read(bytes, readsNonFiniteAsNull: true) { try $0.skip() }
                #expect(range == 0..<bytes.count)
                return try JSONParser.read(bytes, readsNonFiniteAsNull: true) { try $0.value() }
            }
        }
        #expect(
            try read(#"[NaN,Infinity,{"a":-Infinity,"b":1e999},-1e999,1.5,-0.0]"#)
                == [.null, .null, ["a": .null, "b": .null], .null, 1.5, .number(-0.0)])
        for text in ["nan", "-NaN", "Inf", "+Infinity", "NaN1", "1e", "-", "[Infinity", "Infinit"] {
            #expect(throws: RecollectError.self, "\(text)") { try read(text) }
        }
    }

    @Test("Selected members of an object are read, and the others are skipped")
    func envelope() throws {
        let text = Array(#"{"data":{"deep":[1,{"x":"}"}]},"type":"progress","n":3}"#.utf8)
        var type: String?
        var rest: [String: String] = [:]
        try text.withUnsafeBytes { bytes in
            try JSONParser.read(bytes) { parser in
                try parser.forEachMember { key, parser in
                    if key == "type" {
                        type = try parser.string()
                    } else {
                        let range = try parser.skip()
                        rest[key] = String(decoding: bytes[range], as: UTF8.self)
                    }
                }
            }
        }
        #expect(type == "progress")
        #expect(rest == ["data": #"{"deep":[1,{"x":"}"}]}"#, "n": "3"])
    }

    @Test("Random bytes never crash the parser, and the reader and the skipper agree")
    func fuzz() async {
        await Seeds.run(20) { seed in
            var random = RandomJSON(seed: seed)
            let alphabet = Array("{}[]\",:\\u0123456789dDeE+-.truefalsn \n\u{7f}é漢".utf8) + [0xFF, 0x00]
            for _ in 0..<1_000 {
                var bytes: [UInt8]
                if Bool.random(using: &random.generator) {
                    bytes = (0..<Int.random(in: 0...24, using: &random.generator)).map { _ in random.pick(alphabet) }
                } else {
                    bytes = Array(random.value().jsonString.utf8)
                    let range = Int.random(in: bytes.indices, using: &random.generator)
                    bytes[range] = random.pick(alphabet)
                }
                let value = bytes.withUnsafeBytes { bytes in try? JSONParser.read(bytes) { try $0.value() } }
                let skipped =
                    skips(bytes) || bytes.withUnsafeBytes { (try? JSONParser.read($0) { try $0.skip() }) != nil }
                #expect((value != nil) == skipped, "\(String(decoding: bytes, as: UTF8.self))")
                _ = bytes.withUnsafeBytes { try? ContentPart.parse(list: $0) }
            }
        }
    }

    @Test("The parser accepts and returns the same as JSONDecoder")
    func agreesWithFoundation() async {
        await Seeds.run(20) { seed in
            var random = RandomJSON(seed: seed)
            for _ in 0..<150 {
                var bytes = Array(random.value().jsonString.utf8)
                if Bool.random(using: &random.generator),
                    let range = bytes.indices.randomElement(using: &random.generator)
                {
                    bytes[range] = random.pick(Array("{}[]\",:0123456789eE+-. ".utf8))
                }
                let ours = bytes.withUnsafeBytes { bytes in try? JSONParser.read(bytes) { try $0.value() } }
                // Foundation accepts a comma before the end of a list; RFC 8259 does not.
                let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
                if ours == nil, text.contains(",]") || text.contains(",}") { continue }
                let theirs = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
                #expect(ours == theirs, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}
