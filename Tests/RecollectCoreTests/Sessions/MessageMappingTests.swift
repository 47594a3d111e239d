import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Mapping between the two message models")
struct MessageMappingTests {
    @Test("A message saved by a UI is read with every field, for all roles and types")
    func savedIsRead() async {
        await Seeds.run(20) { seed in
            var generator = SeededGenerator(seed: seed)
            var random = RandomJSON(seed: generator.next())
            for role in RandomJSON.roles {
                for type in RandomJSON.types {
                    let chat = random.chat(role: role, type: type)
                    let message = ConversationMessage(chat)
                    try expectSame(message.chatMessages(), [chat])
                    #expect(message.id == chat.id.uuidString)
                    try expectSame(try stored(message).chatMessages(), [chat])
                }
            }
        }
    }

    @Test("A message that is read and saved back stays unchanged")
    func readAndSavedBack() async {
        await Seeds.run(1000) { seed in
            var generator = SeededGenerator(seed: seed)
            var random = RandomJSON(seed: generator.next())
            let message = random.historyMessage()
            let chats = message.chatMessages()
            try require(!chats.isEmpty && Set(chats.map(\.id)).count == chats.count, "unique IDs")
            try require(message.replacing(chats) == message, "unchanged")
        }
    }

    @Test("Changes, moves and removals by a UI are read again, and the rest of the message stays")
    func editedIsRead() async {
        await Seeds.run(2000) { seed in
            var generator = SeededGenerator(seed: seed)
            var random = RandomJSON(seed: generator.next())
            let message = random.historyMessage()
            var chats = message.chatMessages()
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                switch Int.random(in: 0...3, using: &generator) {
                case 0: chats.shuffle(using: &generator)
                case 1: chats.remove(at: chats.indices.randomElement(using: &generator) ?? 0)
                default:
                    let index = chats.indices.randomElement(using: &generator) ?? 0
                    chats[index] = random.edited(chats[index])
                }
                if chats.isEmpty { break }
            }
            guard let saved = message.replacing(chats) else {
                try require(chats.isEmpty, "nothing is left only if no entries were given")
                return
            }
            try expectSame(saved.chatMessages(), chats)
            try expectSame(try stored(saved).chatMessages(), chats)
            try require(saved.replacing(chats) == saved, "saving again changes nothing")
            try require(saved.id == message.id && saved.unknownFields == message.unknownFields, "ID and unknown fields")
        }
    }

    @Test("A metadata key respelled in other bytes is read with these bytes")
    func respelledKey() throws {
        let message = ConversationMessage(role: .user, parts: [.text("hi")], metadata: ["\u{E9}": 1])
        var chats = message.chatMessages()
        chats[0].metadata = ["e\u{301}": 1]
        let saved = try #require(message.replacing(chats))
        #expect(saved.metadata.keys.map { Array($0.utf8) } == [Array("e\u{301}".utf8)])
        try expectSame(saved.chatMessages(), chats)
    }

    @Test("A metadata key respelled in other bytes in one of several entries is read with these bytes")
    func respelledKeyOfOneEntry() throws {
        let message = ConversationMessage(
            role: .assistant, parts: [.thinking("Well.", signature: nil), .text("hi")], metadata: ["\u{E9}": 1, "b": 2])
        var chats = message.chatMessages()
        chats[0].metadata = ["e\u{301}": 1, "b": 2]
        let saved = try #require(message.replacing(chats))
        try expectSame(saved.chatMessages(), chats)
        try expectSame(try stored(saved).chatMessages(), chats)
    }

    @Test("An input with a picture is one entry, under the message's ID in either letter case")
    func pictures() throws {
        let id = UUID()
        let picture = Attachment(mediaType: "image/png", content: .remote(url: "https://example.org/p.png"))
        for parts: [ContentPart] in [
            [.text("What is this?"), .attachment(picture)], [.attachment(picture), .text("What is this?")],
        ] {
            let message = ConversationMessage(id: id.uuidString.lowercased(), role: .user, parts: parts)
            let chats = message.chatMessages()
            #expect(chats.map(\.id) == [id])
            #expect(chats[0].content == "What is this?" && chats[0].attachments == [picture])
            var edited = chats
            edited[0].content = "And this?"
            let saved = try #require(message.replacing(edited))
            #expect(saved.id == message.id)
            #expect(saved.parts == parts.map { $0.text == nil ? $0 : .text("And this?") })
        }
        let picturesAlone = ConversationMessage(ChatMessage(role: .user, content: "", attachments: [picture]))
        #expect(picturesAlone.parts == [.attachment(picture)])
    }

    @Test("An agent's message is shown in entries of the guide's roles and types, with stable IDs")
    func agentTurn() throws {
        let turn = ConversationMessage(
            id: "turn-1", role: .assistant,
            parts: [
                .thinking("Which file?", signature: "s"), .text("Let me see."),
                .toolCall(id: "call-1", name: "Read", arguments: ["path": "a.swift", "lines": [1, 20]]),
                .unknown(["widget": 1]),
            ], timestamp: Date(millisecondsSince1970: 1_700_000_000_000), metadata: ["model": "m"])
        let chats = turn.chatMessages()
        #expect(chats.map(\.role) == [.thinking, .assistant, .toolUse, .assistant])
        #expect(chats.map(\.messageType) == [.thinking, .text, .toolUse, .text])
        #expect(chats.map(\.content) == ["Which file?", "Let me see.", "", ""])
        #expect(chats[2].toolName == "Read")
        #expect(chats[2].toolInputData?.parameters == ["path": "a.swift", "lines": "[1,20]"])
        #expect(chats[2].metadata == ["model": "m", "toolCallId": "call-1"])
        #expect(chats.allSatisfy { $0.timestamp == turn.timestamp && $0.metadata["model"] == "m" })
        #expect(chats[0].id == UUID(uuidString: "DC783289-E1F0-59BF-86E2-C487F5935216"))
    }

    @Test("A tool result is shown as text, or as an error if the importer marked one, and references its call")
    func results() throws {
        let message = ConversationMessage(
            role: .tool,
            parts: [
                .toolResult(id: "a", content: "plain"),
                .toolResult(id: "b", content: [["type": "text", "text": "one"], ["type": "text", "text": "two"]]),
                .toolResult(id: "c", content: ["exit": 1]),
            ], metadata: ["partFields": ["2": ["is_error": true]]])
        let chats = message.chatMessages()
        #expect(chats.map(\.content) == ["plain", "one\ntwo", "{\"exit\":1}"])
        #expect(chats.map(\.messageType) == [.toolResult, .toolResult, .toolError])
        #expect(chats.map(\.isError) == [false, false, true])
        #expect(chats.map { $0.metadata["toolCallId"] } == ["a", "b", "c"])

        let saved = try #require(message.replacing([chats[2]]))
        #expect(saved.parts == [message.parts[2]])
        #expect(saved.metadata["partFields"] == ["0": ["is_error": true]])
        try expectSame(saved.chatMessages(), [chats[2]])
    }

    @Test("Arguments that a UI did not change keep their values; edited arguments take the entered value")
    func arguments() throws {
        let arguments: JSONValue = ["path": "a", "lines": [1, 2], "depth": 3, "all": true]
        let call = ConversationMessage(
            role: .assistant, parts: [.toolCall(id: "c", name: "Grep", arguments: arguments)])
        var chat = call.chatMessages()[0]
        chat.isComplete = false
        #expect(call.replacing([chat])?.parts == call.parts)

        chat.toolInputData?.parameters["path"] = "12"
        chat.toolInputData?.parameters["depth"] = "4"
        chat.toolInputData?.parameters["all"] = "most"
        let edited: JSONValue = ["path": "12", "lines": [1, 2], "depth": 4, "all": "most"]
        #expect(call.replacing([chat])?.parts == [.toolCall(id: "c", name: "Grep", arguments: edited)])
    }

    @Test("A call and its result that are made by a UI form an exchange for agents")
    func exchanges() throws {
        let call = ChatMessage(
            role: .toolUse, content: "", messageType: .toolUse, toolName: "Read",
            toolInputData: ToolInputData(parameters: ["path": "a"], rawParameters: ["path": "./a"]))
        let result = ChatMessage(role: .toolDenied, content: "no", messageType: .toolDenied, isError: true)
        let messages = [
            ConversationMessage(call), ConversationMessage(result, answering: call.id.uuidString),
        ]
        #expect(messages.map(\.role) == [.assistant, .tool])
        #expect(messages[0].parts == [.toolCall(id: call.id.uuidString, name: "Read", arguments: ["path": "a"])])
        #expect(messages[1].parts == [.toolResult(id: call.id.uuidString, content: "no")])
        try expectSame(messages.flatMap { $0.chatMessages() }, [call, result])

        let own = ChatMessage(
            role: .toolUse, content: "", messageType: .toolUse, toolName: "Read", metadata: ["toolCallId": "call-7"])
        #expect(ConversationMessage(own).parts == [.toolCall(id: "call-7", name: "Read", arguments: [:])])
    }

    @Test("Edited reasoning loses its signature; unedited reasoning keeps it")
    func signatures() throws {
        let message = ConversationMessage(role: .assistant, parts: [.thinking("a", signature: "s"), .text("b")])
        var chats = message.chatMessages()
        chats[1].content = "c"
        #expect(message.replacing(chats)?.parts == [.thinking("a", signature: "s"), .text("c")])
        chats[0].content = "d"
        #expect(message.replacing(chats)?.parts == [.thinking("d", signature: nil), .text("c")])
    }

    @Test("Interruption and streaming are states of the message")
    func states() throws {
        let cancelled = ChatMessage(role: .assistant, content: "half", isComplete: false, wasCancelled: true)
        let message = ConversationMessage(cancelled)
        #expect(message.isInterrupted && !message.isStreaming)
        try expectSame(message.chatMessages(), [cancelled])

        var flying = ConversationMessage(role: .assistant, parts: [.thinking("a", signature: nil), .text("b")])
        flying.isStreaming = true
        var chats = flying.chatMessages()
        #expect(chats.map(\.isComplete) == [true, false])
        chats[1].isComplete = true
        #expect(flying.replacing(chats)?.isStreaming == false)
    }

    @Test("Entries keep their IDs when others are removed; a message without entries is removed")
    func removal() throws {
        let message = ConversationMessage(id: UUID().uuidString, role: .assistant, parts: [.text("a"), .text("b")])
        let chats = message.chatMessages()
        let saved = try #require(message.replacing([chats[1]]))
        #expect(saved.parts == [.text("b")])
        #expect(saved.chatMessages().map(\.id) == [chats[1].id])
        #expect(message.replacing([]) == nil)
        #expect(message.replacing([ChatMessage(role: .user, content: "another message's")]) == nil)
    }

    @Test("Notes of a newer version about an entry survive an edit")
    func newerNotes() throws {
        let message = ConversationMessage(
            role: .user, parts: [.text("a")], metadata: ["chat": ["0": ["isError": true, "mood": "good"]]])
        var chat = message.chatMessages()[0]
        #expect(chat.isError && chat.metadata.isEmpty)
        chat.isError = false
        #expect(message.replacing([chat])?.metadata == ["chat": ["0": ["mood": "good"]]])
    }

    @Test("A change of only the Unicode form of “é” is a change, in every field")
    func sameLook() throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        func chat(_ text: String) -> ChatMessage {
            ChatMessage(
                id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), role: .toolUse, content: text,
                timestamp: Date(millisecondsSince1970: 0), messageType: .toolUse, toolName: text,
                toolInputData: ToolInputData(parameters: ["a": text], rawParameters: ["b": text]),
                attachments: [Attachment(mediaType: "text/plain", name: text, content: .remote(url: text))],
                metadata: ["c": [.string(text)], "toolCallId": .string(text)])
        }
        let message = try #require(ConversationMessage(chat(one)).replacing([chat(two)]))
        let shown = message.chatMessages()[0]
        #expect(chat(one) != chat(two) && shown == chat(two))
        for text in [
            shown.content, shown.toolName, shown.toolInputData?.parameters["a"],
            shown.toolInputData?.rawParameters?["b"], shown.attachments[0].name,
            shown.metadata["toolCallId"]?.stringValue, shown.metadata["c"]?.arrayValue?[0].stringValue,
        ] {
            #expect(text?.unicodeScalars.count == 2)
        }
    }

    @Test("Duplicate entries become one entry, at the first position and with the last content")
    func eachIdOnce() {
        let (first, second) = (ChatMessage(role: .user, content: "a"), ChatMessage(role: .user, content: "b"))
        var later = first
        later.content = "c"
        #expect([first, second, later].eachIdOnce().map(\.content) == ["c", "b"])
    }

    /// The message as a store returns it.
    private func stored(_ message: ConversationMessage) throws -> ConversationMessage {
        var writer = JSONWriter()
        writer.write(message)
        return try ConversationMessage(json: JSONValue(parsing: writer.text))
    }

    private func expectSame(_ left: [ChatMessage], _ right: [ChatMessage]) throws {
        try require(left == right, "\(try json(left))\nis not\n\(try json(right))")
    }

    private func json(_ chats: [ChatMessage]) throws -> String {
        String(decoding: try JSONEncoder().encode(chats), as: UTF8.self)
    }

    private func require(_ holds: Bool, _ comment: @autoclosure () throws -> String) throws {
        if !holds { throw Broken(description: try comment()) }
    }

    private struct Broken: Error, CustomStringConvertible {
        let description: String
    }
}
