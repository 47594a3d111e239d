import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Messages as JSON, without a coder")
struct MessageJSONTests {
    private func encoded(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: String(decoding: JSONEncoder().encode(value), as: UTF8.self))
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ json: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func written(_ message: ConversationMessage) -> String {
        var writer = JSONWriter()
        writer.write(message)
        return writer.text
    }

    @Test("Values are written as JSONEncoder writes them, and are read back equal")
    func values() async {
        await Seeds.run(20) { seed throws in
            var random = RandomJSON(seed: seed)
            for _ in 0..<100 {
                let value = random.value()
                #expect(try JSONValue(parsing: value.jsonString) == value)
                #expect(decoded(JSONValue.self, value.jsonString) == value)
                #expect(try encoded(value) == value)
                let object = random.object()
                var text = JSONValue.write(object: object)
                #expect(
                    try text.withUTF8 { try JSONValue.parse(object: UnsafeRawBufferPointer($0)) } == object)
            }
        }
    }

    @Test("Parts are written and read as by their Codable conformance")
    func parts() async {
        await Seeds.run(20) { seed throws in
            var random = RandomJSON(seed: seed)
            for _ in 0..<50 {
                let parts = [random.part(), random.part()]
                var text = ContentPart.write(list: parts)
                #expect(try JSONValue(parsing: text) == encoded(parts))
                let read = try text.withUTF8 { try ContentPart.parse(list: UnsafeRawBufferPointer($0)) }
                #expect(read == parts)
                #expect(decoded([ContentPart].self, text) == parts)
            }
        }
    }

    @Test("Malformed parts are read without loss, with and without a coder")
    func nearlyParts() async {
        await Seeds.run(20) { seed throws in
            var random = RandomJSON(seed: seed)
            for _ in 0..<250 {
                let json = random.nearlyPart()
                let theirs = try #require(decoded(ContentPart.self, json.jsonString))
                #expect(ContentPart(json: json) == theirs, "\(json.jsonString)")
                // The signature of reasoning may be null.
                var expected = json
                if case .thinking(let text, signature: nil) = theirs { expected = ["thinking": ["_0": .string(text)]] }
                #expect(try JSONValue(parsing: ContentPart.write(list: [theirs])) == .array([expected]))
                var text = "[\(json.jsonString)]"
                let read = try text.withUTF8 { try ContentPart.parse(list: UnsafeRawBufferPointer($0)) }
                #expect(read == [theirs], "\(json.jsonString)")
            }
        }
    }

    @Test("Messages are written and read as by their Codable conformance")
    func messages() async {
        await Seeds.run(20) { seed throws in
            var random = RandomJSON(seed: seed)
            for _ in 0..<25 {
                let message = random.message()
                let text = written(message)
                #expect(try JSONValue(parsing: text) == encoded(message))
                #expect(try ConversationMessage(json: JSONValue(parsing: text)) == message)
                #expect(decoded(ConversationMessage.self, text) == message)
            }
        }
    }

    @Test("A message with a missing or wrong field throws, with and without a coder")
    func refusedMessages() throws {
        let whole: [String: JSONValue] = ["id": "1", "role": "user", "parts": [], "timestamp": 5, "metadata": ["a": 1]]
        let accepted: [String: [JSONValue?]] = [
            "id": ["x"], "role": ["x"], "parts": [[]], "timestamp": [7, 1.5], "metadata": [nil, .null, [:]],
        ]
        for (name, values) in accepted {
            for wrong: JSONValue? in [nil, .null, true, 7, 1.5, "x", [], [:]] {
                var fields = whole
                fields[name] = wrong
                let json = JSONValue.object(fields)
                let message = try? ConversationMessage(json: json)
                #expect((message != nil) == values.contains(wrong), "\(json.jsonString)")
                #expect(message == decoded(ConversationMessage.self, json.jsonString))
            }
        }
    }

    @Test("Equal values have equal bytes, without white space and with sorted keys")
    func stable() {
        let value: JSONValue = ["b": [1, 2.5, .null], "a": ["é/": "\u{1}\n"]]
        #expect(value.jsonString == #"{"a":{"é/":"\u0001\n"},"b":[1,2.5,null]}"#)
        #expect(JSONValue.number(.infinity).jsonString == "null")
        // A comparison of strings does not order these keys.
        let keys = ["\u{E9}\\", "e\u{301}", "\u{E9}\u{0}", "z"]
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            let shuffled = keys.shuffled(using: &generator)
            let members = Dictionary(uniqueKeysWithValues: shuffled.map { ($0, JSONValue.null) })
            #expect(members.inOrderOfKeys.map(\.key) == ["e\u{301}", "z", "\u{E9}\u{0}", "\u{E9}\\"])
        }
    }
}
