import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("JSON of messages")
struct ConversationMessageTests {
    /// As Agent Squad's file store writes it.
    private let agentSquad = """
        [{"id":"0E7B5D5A-1","role":"user","parts":[{"text":{"_0":"Where is my order?"}}],"timestamp":1718000000123},\
        {"id":"0E7B5D5A-2","role":"assistant","parts":[{"toolCall":{"id":"call_1","name":"lookup",\
        "arguments":{"order":42,"deep":[true,null,1.5]}}}],"timestamp":1718000000456},\
        {"id":"0E7B5D5A-3","role":"tool","parts":[{"toolResult":{"id":"call_1","content":"shipped"}}],"timestamp":1718000000789},\
        {"id":"0E7B5D5A-4","role":"system","parts":[{"audioTranscript":{"_0":"hm"}},{"widget":{"_0":{"kind":"card"}}}],\
        "timestamp":1718000001000}]
        """

    private func decode(_ text: String) throws -> [ConversationMessage] {
        try JSONDecoder().decode([ConversationMessage].self, from: Data(text.utf8))
    }

    private func object(_ data: Data) throws -> NSObject {
        try #require(try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject)
    }

    @Test("Messages written by Agent Squad are read")
    func readsAgentSquad() throws {
        let messages = try decode(agentSquad)
        #expect(messages.map(\.role) == [.user, .assistant, .tool, .system])
        #expect(messages[0].text == "Where is my order?")
        #expect(messages[0].timestamp.millisecondsSince1970 == 1_718_000_000_123)
        #expect(
            messages[1].parts == [
                .toolCall(id: "call_1", name: "lookup", arguments: ["order": 42, "deep": [true, .null, 1.5]])
            ])
        #expect(messages[2].parts == [.toolResult(id: "call_1", content: "shipped")])
        #expect(
            messages[3].parts == [.audioTranscript("hm"), .unknown(["widget": ["_0": ["kind": "card"]]])])
    }

    @Test("Messages are written field by field as Agent Squad writes them")
    func writesAgentSquad() throws {
        let written = try JSONEncoder().encode(try decode(agentSquad))
        #expect(try object(written) == object(Data(agentSquad.utf8)))
    }

    @Test("Unknown roles, parts, values in parts and fields of a newer version are preserved")
    func keepsTheUnknown() throws {
        let text = """
            [{"id":"1","role":"moderator","parts":[{"hologram":{"_0":[1,2.5,"x"]}},{"text":{"_0":"a","style":"bold"}},\
            "bare",{"toolCall":{"id":"c","name":"n","arguments":{},"more":1}}],"timestamp":5,"mood":{"joy":1}}]
            """
        let messages = try decode(text)
        #expect(messages[0].role.rawValue == "moderator")
        #expect(messages[0].unknownFields == ["mood": ["joy": 1]])
        #expect(try object(JSONEncoder().encode(messages)) == object(Data(text.utf8)))
    }

    @Test("Metadata is written if there is any")
    func metadata() throws {
        let bare = ConversationMessage(role: .user, text: "a")
        #expect(!String(decoding: try JSONEncoder().encode(bare), as: UTF8.self).contains("metadata"))
        let full = ConversationMessage(role: .user, text: "a", metadata: ["model": "m", "tokens": 3])
        #expect(try JSONDecoder().decode(ConversationMessage.self, from: JSONEncoder().encode(full)) == full)
    }

    @Test("A message equals itself after JSON, with its date rounded to milliseconds at creation")
    func milliseconds() async {
        await Seeds.run(200) { seed in
            var generator = SeededGenerator(seed: seed)
            let seconds = Double.random(in: -1e9...4e9, using: &generator)
            let message = ConversationMessage(
                role: .user, text: "a", timestamp: Date(timeIntervalSince1970: seconds))
            try #require(abs(message.timestamp.timeIntervalSince1970 - seconds) <= 0.000_51)
            try #require(JSONDecoder().decode(ConversationMessage.self, from: JSONEncoder().encode(message)) == message)
        }
    }

    @Test("Text keeps U+0000, combining accents and characters that JSON escapes")
    func text() throws {
        for text in ["a\u{0}b", "e\u{301}", "\u{e9}", "\"\\/\u{8}\n\r\t\u{2028}", "👩‍👩‍👧‍👦", ""] {
            let message = ConversationMessage(role: .user, text: text)
            let back = try JSONDecoder().decode(ConversationMessage.self, from: JSONEncoder().encode(message))
            #expect(back.text.hasSameBytes(as: text))
        }
    }

    @Test("Attribution marks only the first text of an assistant message")
    func attribution() {
        let call = ContentPart.toolCall(id: "1", name: "n", arguments: [:])
        let said = ConversationMessage(role: .assistant, parts: [call, .text("a"), .text("b")])
        #expect(said.attributed(agentId: "x").parts == [call, .text("[x] a"), .text("b")])
        let silent = ConversationMessage(role: .assistant, parts: [call])
        #expect(silent.attributed(agentId: "x").parts == [.text("[x]"), call])
        let asked = ConversationMessage(role: .user, text: "a")
        #expect(asked.attributed(agentId: "x") == asked)
    }

    @Test("Mapping the text changes only text parts")
    func mappingText() {
        let parts: [ContentPart] = [.text("a"), .thinking("a", signature: nil), .toolResult(id: "1", content: "a")]
        let mapped = ConversationMessage(role: .assistant, parts: parts).mappingText { $0 + "!" }
        #expect(mapped.parts == [.text("a!")] + parts.dropFirst())
    }
}
