import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing
@testable import RecollectModels

@Suite("History as chat-completions messages")
struct ChatCompletionsMessagesTests {
    private func map(_ messages: ConversationMessage...) -> [JSONValue] {
        ChatCompletionsMessages.map(messages)
    }

    private func assistant(_ parts: ContentPart...) -> ConversationMessage {
        ConversationMessage(role: .assistant, parts: parts)
    }

    private func call(_ id: String, _ name: String = "f", _ arguments: String = "{}") -> JSONValue {
        [
            "id": .string(id), "type": "function",
            "function": ["name": .string(name), "arguments": .string(arguments)],
        ]
    }

    private func result(_ id: String, _ content: String) -> JSONValue {
        ["role": "tool", "tool_call_id": .string(id), "content": .string(content)]
    }

    @Test("A reply with a tool loop becomes calls, results and text in order")
    func toolLoop() {
        let reply = assistant(
            .text("Let me see."), .toolCall(id: "a", name: "f", arguments: ["q": 1]),
            .toolCall(id: "b", name: "g", arguments: .null), .toolResult(id: "b", content: ["n": 2]),
            .toolResult(id: "a", content: "one"), .text("It is "), .text("one."))
        #expect(
            map(reply) == [
                [
                    "role": "assistant", "content": "Let me see.",
                    "tool_calls": [call("a", "f", "{\"q\":1}"), call("b", "g")],
                ],
                result("a", "one"), result("b", "{\"n\":2}"), ["role": "assistant", "content": "It is one."],
            ])
    }

    @Test("Results in tool messages follow their calls directly, even if a message was between them")
    func toolMessages() {
        let messages = map(
            assistant(.toolCall(id: "a", name: "f", arguments: [:])),
            ConversationMessage(role: .user, text: "Hurry!"),
            ConversationMessage(role: .tool, parts: [.toolResult(id: "a", content: "one")]))
        #expect(
            messages == [
                ["role": "assistant", "content": .null, "tool_calls": [call("a")]], result("a", "one"),
                ["role": "user", "content": "Hurry!"],
            ])
    }

    @Test("Text between a call and its result follows both")
    func proseInExchange() {
        let reply = assistant(
            .toolCall(id: "a", name: "f", arguments: [:]), .text("Soon."), .toolResult(id: "a", content: "one"),
            .text("Now."))
        #expect(
            map(reply) == [
                ["role": "assistant", "content": .null, "tool_calls": [call("a")]], result("a", "one"),
                ["role": "assistant", "content": "Soon."], ["role": "assistant", "content": "Now."],
            ])
    }

    @Test("Half exchanges, reasoning, unknown parts and empty messages are omitted; instructions come first")
    func leftOut() {
        let history = [
            ConversationMessage(role: .tool, parts: [.toolResult(id: "x", content: "lost")]),
            assistant(.thinking("hm", signature: nil), .unknown(["new": 1])),
            ConversationMessage(role: .user, text: ""),
            ConversationMessage(role: .user, parts: [.audioTranscript("heard")]),
            assistant(.toolCall(id: "y", name: "f", arguments: [:])),
        ]
        #expect(
            ChatCompletionsMessages.map(history, system: "Be brief.")
                == [["role": "system", "content": "Be brief."], ["role": "user", "content": "heard"]])
    }

    @Test("An interrupted reply is marked as interrupted, and one without content as missing")
    func interruption() {
        let note = ChatCompletionsMessages.interruption
        var partial = assistant(.text("The answer is"))
        partial.isInterrupted = true
        var empty = assistant()
        empty.isInterrupted = true
        var inTools = assistant(
            .toolCall(id: "a", name: "f", arguments: [:]), .toolResult(id: "a", content: "one"))
        inTools.isInterrupted = true
        #expect(map(partial) == [["role": "assistant", "content": .string("The answer is\n\n" + note)]])
        // Its writer may still be active in another process.
        #expect(map(empty) == [["role": "assistant", "content": .string(ChatCompletionsMessages.missingReply)]])
        #expect(map(inTools).last == ["role": "assistant", "content": .string(note)])
    }

    @Test("Images are sent, and attachments that cannot be sent are named")
    func attachments() {
        let png = Attachment(mediaType: "image/png", content: .inline(Data([1, 2, 3])))
        let saved = Attachment(mediaType: "image/png", name: "a.png", content: .stored(sha256: "00", byteCount: 3))
        let pdf = Attachment(mediaType: "application/pdf", content: .inline(Data([1])))
        let message = ConversationMessage(
            role: .user, parts: [.text("See: "), .attachment(png), .attachment(saved), .attachment(pdf)])
        #expect(
            map(message) == [
                [
                    "role": "user",
                    "content": [
                        ["type": "text", "text": "See: "],
                        ["type": "image_url", "image_url": ["url": "data:image/png;base64,AQID"]],
                        ["type": "text", "text": "[Attachment not shown: a.png, image/png]"],
                        ["type": "text", "text": "[Attachment not shown: application/pdf]"],
                    ],
                ]
            ])
        #expect(
            map(assistant(.attachment(png))) == [
                ["role": "assistant", "content": "[Attachment not shown: image/png]"]
            ])
    }

    @Test("Messages with unknown roles become user messages with the role as a prefix")
    func foreignRoles() {
        #expect(
            map(ConversationMessage(role: Role(rawValue: "critic"), text: "Too long."))
                == [["role": "user", "content": "[critic] Too long."]])
    }

    @Test("Calls that a server would refuse are repaired: names, arguments and repeated IDs")
    func repairedCalls() {
        let reply = assistant(
            .toolCall(id: "", name: "my tool!", arguments: "{broken"),
            .toolCall(id: "a", name: "", arguments: [1]), .toolCall(id: "a", name: "f", arguments: [:]),
            .toolResult(id: "a", content: "second"), .toolResult(id: "a", content: "first"),
            .toolResult(id: "", content: "none"))
        let messages = map(reply)
        let calls = messages[0]["tool_calls"]?.arrayValue ?? []
        #expect(calls.map { $0["function"]?["name"] } == ["my_tool_", "unnamed", "f"])
        #expect(
            calls.map { $0["function"]?["arguments"] } == [
                #"{"arguments":"{broken"}"#, #"{"arguments":[1]}"#, "{}",
            ])
        #expect(Set(calls.map { $0["id"] }).count == 3)
        #expect(messages.dropFirst().map { $0["content"] } == ["none", "first", "second"])
    }

    @Test("Any history becomes valid messages that lose no whole exchange")
    func alwaysValid() async {
        await Seeds.run(15) { seed in
            var random = SeededGenerator(seed: seed)
            for round in 0..<100 {
                let history = (0..<Int.random(in: 0...7, using: &random)).map { _ in Self.message(&random) }
                let mapped = ChatCompletionsMessages.map(history)
                let comment: Comment = "round \(round)"
                try Self.check(mapped, comment)
                let whole = history.wholeExchanges().flatMap(\.parts)
                let results = whole.filter { if case .toolResult = $0 { true } else { false } }
                #expect(mapped.count { $0["role"] == "tool" } == results.count, comment)
                let said = whole.compactMap(\.text).filter { !$0.isEmpty }
                let sent = mapped.compactMap { $0["content"]?.stringValue }.joined()
                #expect(said.allSatisfy(sent.contains), comment)
            }
        }
    }

    private static func message(_ random: inout SeededGenerator) -> ConversationMessage {
        let roles: [Role] = [.user, .assistant, .assistant, .tool, .system, Role(rawValue: "critic")]
        let parts = (0..<Int.random(in: 0...5, using: &random)).map { _ -> ContentPart in
            let id = ["a", "b", "", "é", "e\u{301}"].randomElement(using: &random) ?? "a"
            return switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                .toolCall(id: id, name: ["f", "g h", ""].randomElement(using: &random) ?? "", arguments: [:])
            case 3...5: .toolResult(id: id, content: .string(id))
            case 6: .thinking("hm", signature: nil)
            case 7: .text("")
            default: .text("word \(UInt64.random(in: 0...UInt64.max, using: &random))")
            }
        }
        var message = ConversationMessage(role: roles.randomElement(using: &random) ?? .user, parts: parts)
        message.isInterrupted = Int.random(in: 0..<5, using: &random) == 0
        return message
    }

    /// The requirements of servers for a sequence of messages.
    private static func check(_ messages: [JSONValue], _ comment: Comment) throws {
        var open: [String] = []
        var used: Set<[UInt8]> = []
        for message in messages {
            let role = message["role"]?.stringValue ?? ""
            if role == "tool" {
                let id = try #require(message["tool_call_id"]?.stringValue, comment)
                #expect(open.first == id, comment)
                open = Array(open.dropFirst())
                #expect(message["content"]?.stringValue != nil, comment)
                continue
            }
            #expect(open.isEmpty, comment)
            #expect(["user", "assistant", "system"].contains(role), comment)
            let calls = message["tool_calls"]?.arrayValue ?? []
            #expect(calls.isEmpty || role == "assistant", comment)
            #expect(message["content"]?.stringValue?.isEmpty == false || !calls.isEmpty, comment)
            open = calls.compactMap { $0["id"]?.stringValue }
            #expect(open.count == calls.count, comment)
            for call in calls {
                let id = try #require(call["id"]?.stringValue, comment)
                #expect(!id.isEmpty && used.insert(Array(id.utf8)).inserted, comment)
                let arguments = try #require(call["function"]?["arguments"]?.stringValue, comment)
                #expect(try JSONValue(parsing: arguments).objectValue != nil, comment)
                let name = try #require(call["function"]?["name"]?.stringValue, comment)
                #expect(name.wholeMatch(of: /[a-zA-Z0-9_-]{1,64}/) != nil, comment)
            }
        }
        #expect(open.isEmpty, comment)
    }
}
