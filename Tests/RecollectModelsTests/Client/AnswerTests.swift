import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import RecollectTestSupport
import Testing
@testable import RecollectModels

@Suite("Responses of chat-completions servers", .eachTransport, .timeLimit(.minutes(10)))
struct AnswerTests {
    @Test("Text arrives in pieces, followed by the end with the usage")
    func prose() async throws {
        let server = try await ModelServer.start { _ in .text(["Good ", "day"]) }
        #expect(
            try await ChatCompletionsClient(server).events() == [
                .textDelta("Good "), .textDelta("day"),
                .done(
                    LLMCompletion(
                        reason: .stop, usage: TokenUsage(input: 8, output: 3, cacheRead: 4), model: "test-model")),
            ])
        try await server.stop()
    }

    @Test("The request contains all parameters at the right URL, and `extraBody` overrides them")
    func request() async throws {
        let server = try await ModelServer.start { _ in .text(["ok"]) }
        let address = try #require(URL(string: server.baseURL.absoluteString + "/?api-version=1"))
        let client = ChatCompletionsClient(
            baseURL: address, model: "m", apiKey: "key-12345", headers: ["X-Team": "blue"],
            extraBody: ["temperature": 0, "stream_options": .null], transport: TestTransport.current)
        let tool = AgentTool(name: "now", description: "The time.") { _, _ in .text("noon") }
        let messages = [ConversationMessage(role: .user, text: "hello")]
        _ = try await client.events(
            LLMRequest(system: "Be brief.", messages: messages, tools: [tool], toolChoice: .tool("now")))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/v1/chat/completions?api-version=1")
        #expect(request.header("Authorization") == "Bearer key-12345")
        #expect(request.header("X-Team") == "blue")
        #expect(request.header("Content-Type") == "application/json")
        #expect(
            request.body == [
                "model": "m", "stream": true, "temperature": 0,
                "messages": [
                    ["role": "system", "content": "Be brief."], ["role": "user", "content": "hello"],
                ],
                "tools": [
                    [
                        "type": "function",
                        "function": [
                            "name": "now", "description": "The time.",
                            "parameters": ["type": "object", "properties": [:]],
                        ],
                    ]
                ],
                "tool_choice": ["type": "function", "function": ["name": "now"]],
            ])
        try await server.stop()
    }

    @Test("A piece is passed on as soon as it arrives")
    func streams() async throws {
        let gate = Gate()
        let server = try await ModelServer.start { _ in
            .stream([.delta(["content": "now"]), .wait(gate)] + ModelReply.ending(reason: "stop"))
        }
        var events: [LLMStreamEvent] = []
        for try await event in ChatCompletionsClient(server).complete(LLMRequest(messages: [])) {
            events.append(event)
            // Only the received piece lets the server continue.
            if event == .textDelta("now") { gate.open() }
        }
        #expect(events.completion?.reason == .stop)
        try await server.stop()
    }

    @Test("Tool calls arrive whole")
    func toolCalls() async throws {
        let server = try await ModelServer.start { _ in
            .toolCalls([("a", "search", ["q": "Grüße"]), ("b", "read", [:])])
        }
        let events = try await ChatCompletionsClient(server).events()
        #expect(
            events.dropLast() == [
                .toolCall(id: "a", name: "search", arguments: ["q": "Grüße"]),
                .toolCall(id: "b", name: "read", arguments: [:]),
            ])
        #expect(events.completion?.reason == .toolCalls)
        try await server.stop()
    }

    @Test("Any segmentation and padding of the bytes gives the same events")
    func awkwardPieces() async throws {
        let pieces = ["Grüße, ", "👩‍👩‍👧", " 日本\n", "done"]
        let clean = ModelReply.text(pieces).steps.flatMap { step -> [UInt8] in
            if case .send(let bytes) = step { return bytes }
            return []
        }
        let padded = Array(
            (": ping\n\n" + String(decoding: clean, as: UTF8.self)).replacing(
                "\n\n", with: "\r\n\r\n: ping\r\n\r\n"
            )
            .utf8)
        await Seeds.run(3) { seed in
            var random = SeededGenerator(seed: seed)
            let replies = [clean, padded, clean, padded].map { stream -> ModelReply in
                var rest = stream[...]
                var steps: [ModelReply.Step] = []
                while !rest.isEmpty {
                    let count = min(rest.count, Int.random(in: 1...40, using: &random))
                    steps.append(.send(Array(rest.prefix(count))))
                    rest = rest.dropFirst(count)
                }
                return .stream(steps)
            }
            let server = try await ModelServer.start(replies: replies)
            for _ in replies {
                let events = try await ChatCompletionsClient(server).events()
                #expect(events.text == pieces.joined())
                #expect(events.completion?.usage != nil)
            }
            try await server.stop()
        }
    }

    @Test("A response without streaming is read")
    func whole() async throws {
        let server = try await ModelServer.start { _ in
            .json([
                "model": "m", "usage": ["prompt_tokens": 5, "completion_tokens": 2],
                "choices": [
                    [
                        "index": 0, "finish_reason": "tool_calls",
                        "message": [
                            "role": "assistant", "content": "Wait.",
                            "tool_calls": [["id": "a", "function": ["name": "f", "arguments": "{}"]]],
                        ],
                    ]
                ],
            ])
        }
        #expect(
            try await ChatCompletionsClient(server).events() == [
                .textDelta("Wait."), .toolCall(id: "a", name: "f", arguments: [:]),
                .done(LLMCompletion(reason: .toolCalls, usage: TokenUsage(input: 5, output: 2), model: "m")),
            ])
        try await server.stop()
    }

    @Test("[DONE] ends a response without a reason on an open connection; a reason ends one without [DONE]")
    func ends() async throws {
        let server = try await ModelServer.start(replies: [
            .stream([.delta(["content": "a"]), .done, .silence]),
            .stream([.delta(["content": "a"], finishReason: "length")]),
            .stream([.delta(["content": "a"], finishReason: "length"), .hangUp]),
        ])
        for reason in [FinishReason.stop, .length, .length] {
            #expect(
                try await ChatCompletionsClient(server).events()
                    == [.textDelta("a"), .done(LLMCompletion(reason: reason, model: "test-model"))])
        }
        try await server.stop()
    }

    @Test("A server that refuses `stream_options` receives requests without it from then on")
    func refusesUsage() async throws {
        let server = try await ModelServer.start { request in
            request.body["stream_options"] == nil
                ? .text(["ok"]) : .status(400, "Unrecognized request argument: stream_options")
        }
        let client = ChatCompletionsClient(server)
        #expect(try await client.events().text == "ok")
        #expect(try await client.events().text == "ok")
        #expect(server.requests.map { $0.body["stream_options"] != nil } == [true, false, false])
        try await server.stop()
    }
}
