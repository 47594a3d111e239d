import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import RecollectTestSupport
import Testing
@testable import RecollectModels

@Suite("Unusual responses of chat-completions servers", .eachTransport, .timeLimit(.minutes(10)))
struct OddAnswerTests {
    private let chunk: ModelReply.Step = .delta(["content": "ok"], finishReason: "stop")

    @Test("The end is reported at once if the server keeps the body open after [DONE]")
    func reportedAtOnce() async throws {
        let server = try await ModelServer.start { _ in .stream([chunk, .done, .silence]) }
        let events = try await ChatCompletionsClient(server).events()
        #expect(events.completion?.reason == .stop)
        // The client closes the connection by itself.
        try await server.requests[0].closed()
        try await server.stop()
    }

    @Test("A response is complete if only silence or comments follow its finish reason")
    func silentBehindTheReason() async throws {
        let comments = [ModelReply.Step](repeating: ": ping\n\n", count: 50)
        for rest in [[], comments] {
            let server = try await ModelServer.start { _ in .stream([chunk] + rest + [.silence]) }
            // Long enough for the response itself on a busy machine.
            let client = ChatCompletionsClient(server, timeouts: .init(idle: .seconds(5)))
            #expect(try await client.events().completion?.reason == .stop)
            try await server.stop()
        }
    }

    @Test("[DONE] with surrounding spaces is the end")
    func blanks() async throws {
        let server = try await ModelServer.start { _ in .stream([chunk, "data:  [DONE] \n\n", .silence]) }
        #expect(try await ChatCompletionsClient(server).events().completion?.reason == .stop)
        try await server.stop()
    }

    @Test("An event named error is an error, whatever the shape of its data")
    func errorEvents() async throws {
        let server = try await ModelServer.start(replies: [
            .stream([
                .delta(["content": "a"]), "event: error\ndata: {\"message\":\"no room left\",\"code\":503}\n\n",
            ]),
            .stream([.delta(["content": "a"]), "event: error\ndata: no room left\n\n"]),
            .stream(["event: error\ndata: {\"error\":{\"message\":\"no room left\"}}\n\n"]),
            .stream([.delta(["content": "a"]), "event: error\n\n", chunk, .done]),
        ])
        for status in [503, nil, nil] {
            let error = try #require(await ChatCompletionsClient(server).failure().error)
            #expect(error.code == .serverFailed)
            #expect(error.status == status)
            #expect(error.message.contains("no room left"), "\(error)")
        }
        #expect(try await ChatCompletionsClient(server).events().text == "aok")
        try await server.stop()
    }

    @Test("A body is recognized by its beginning, not by its content type")
    func wrongTypes() async throws {
        let whole: JSONValue = [
            "choices": [["index": 0, "finish_reason": "stop", "message": ["role": "assistant", "content": "ok"]]]
        ]
        let server = try await ModelServer.start(replies: [
            ModelReply(headers: [("Content-Type", "text/plain")], steps: [.text(whole.jsonString)]),
            ModelReply(headers: [], steps: ["\u{FEFF}", "\r\n ", .text(whole.jsonString)]),
            ModelReply(headers: [("Content-Type", "application/json")], steps: [chunk, .done]),
            ModelReply(headers: [("Content-Type", "application/json")], steps: ["\n: hello\n\n", chunk, .done]),
            ModelReply(headers: [("Content-Type", "application/x-ndjson")], steps: [chunk, .done]),
        ])
        for index in 0..<5 {
            let outcome = await ChatCompletionsClient(server).failure()
            #expect(outcome.events.text == "ok", "\(index): \(String(describing: outcome.error))")
            #expect(outcome.events.completion?.reason == .stop)
        }
        try await server.stop()
    }

    @Test(
        "Invalid JSON numbers are ignored in members that are not part of the reply",
        arguments: ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
    func oddNumbers(number: String) async throws {
        let whole =
            #"{"created":\#(number),"choices":[{"finish_reason":"stop","logprobs":{"all":[1,\#(number)]},"#
            + #""message":{"content":"ok"}}]}"#
        let piece = #"{"created":\#(number),"choices":[{"finish_reason":"stop","delta":{"content":"ok"}}]}"#
        let server = try await ModelServer.start(replies: [
            ModelReply(headers: [("Content-Type", "application/json")], steps: [.text(whole)]),
            .stream([.text("data: \(piece)\n\n"), .done]),
        ])
        for _ in 0..<2 {
            let outcome = await ChatCompletionsClient(server).failure()
            #expect(outcome.events.text == "ok", "\(String(describing: outcome.error))")
            #expect(outcome.events.completion?.reason == .stop)
        }
        try await server.stop()
    }

    @Test("A call in the older `function_call` format is a tool call")
    func functionCall() async throws {
        let whole: JSONValue = [
            "choices": [
                [
                    "index": 0, "finish_reason": "function_call",
                    "message": ["content": .null, "function_call": ["name": "f", "arguments": "{\"a\":1}"]],
                ]
            ]
        ]
        let server = try await ModelServer.start(replies: [
            .stream([
                .delta(["function_call": ["name": "f", "arguments": ""]]),
                .delta(["function_call": ["arguments": "{\"a\""]]),
                .delta(["function_call": ["arguments": ":1}"]]), .delta([:], finishReason: "function_call"), .done,
            ]), .json(whole),
        ])
        for _ in 0..<2 {
            let events = try await ChatCompletionsClient(server).events()
            guard case .toolCall(let id, "f", ["a": 1]) = events.first else {
                Issue.record("\(events)")
                continue
            }
            #expect(!id.isEmpty)
            #expect(events.completion?.reason == .toolCalls)
        }
        try await server.stop()
    }

    @Test("An excessively or incorrectly compressed response throws an error about its compression")
    func compression() async throws {
        // 50,000 letters in one piece of a response.
        let bomb = try #require(Data(base64Encoded: Self.bomb))
        let type = [(name: "Content-Type", value: "text/event-stream"), ("Content-Encoding", "gzip")]
        let server = try await ModelServer.start(replies: [
            ModelReply(headers: type, steps: [.send(Array(bomb))]),
            ModelReply(headers: type, steps: [chunk, .done]),
        ])
        for _ in 0..<2 {
            let error = try #require(await ChatCompletionsClient(server).failure().error)
            #expect(error.code == .unreadable, "\(error)")
            #expect(error.message.contains("compress"), "\(error)")
        }
        try await server.stop()
    }

    private static let bomb =
        "H4sIAAAAAAACA+3JMQrCMBQA0D2nKH92cM6sqx6gdAhNoAVpBzMIpXfXc8h766ullzwcMS/7Ord35PGIdavtE/l6id"
        + "pevUT+9b71tvXIUQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPgrcZ7TmVIt"
        + "veRhvD0f9ymlL+c+aseWwwAA"

    @Test(
        "An endless response is cut off at the limit, and the part before the limit is returned",
        arguments: [false, true])
    func limit(isCall: Bool) async throws {
        let piece = String(repeating: "é", count: 1 << 11)
        let delta: JSONValue =
            isCall
            ? ["tool_calls": [["index": 0, "id": "a", "function": ["name": "f", "arguments": .string(piece)]]]]
            : ["content": .string(piece)]
        let server = try await ModelServer.start { _ in
            .stream(Array(repeating: .delta(delta), count: 12) + ModelReply.ending(reason: "stop"))
        }
        let client = ChatCompletionsClient(
            baseURL: server.baseURL, model: "m", maxReplyBytes: 32 << 10, transport: TestTransport.current)
        let events = try await client.events()
        #expect(events.completion?.reason == .length)
        if isCall {
            guard case .toolCall("a", "f", .string(let arguments)) = events.first else {
                Issue.record("no tool call")
                return
            }
            #expect((31 << 10...32 << 10).contains(arguments.utf8.count))
        } else {
            #expect(events.text.utf8.count == 32 << 10)
        }
        try await server.stop()
    }

    @Test("A response of exactly the maximum size is complete", arguments: [(7, "stop"), (6, "length")])
    func exactLimit(limit: Int, reason: String) async throws {
        let server = try await ModelServer.start { _ in .text(["Grü", "ße"]) }
        let client = ChatCompletionsClient(
            baseURL: server.baseURL, model: "m", maxReplyBytes: limit, transport: TestTransport.current)
        let events = try await client.events()
        #expect(events.text == (limit == 7 ? "Grüße" : "Grüß"))
        #expect(events.completion?.reason.rawValue == reason)
        try await server.stop()
    }
}

@Suite("Base URLs", .eachTransport)
struct BaseURLTests {
    private let secret = "swordfish-42"

    @Test("An IPv6 address is printed as written")
    func version6() throws {
        let url = try #require(URL(string: "http://[::1]:9911/v1"))
        #expect(
            "\(ChatCompletionsClient(baseURL: url, model: "m"))" == "ChatCompletionsClient(m at http://[::1]:9911)")
    }

    @Test("A user and a password in the URL are sent, and never printed")
    func user() async throws {
        let server = try await ModelServer.start(replies: [.text(["ok"]), .status(400, "bad \(secret)")])
        let address = server.baseURL.absoluteString.replacing("http://", with: "http://ada%40home:\(secret)@")
        let client = ChatCompletionsClient(
            baseURL: try #require(URL(string: address)), model: "m", retries: RetryPolicy(maxRetries: 0),
            transport: TestTransport.current)
        #expect(try await client.events().text == "ok")
        let expected = "Basic " + Data("ada@home:\(secret)".utf8).base64EncodedString()
        #expect(server.requests.first?.header("Authorization") == expected)
        #expect(server.requests.first?.target == "/v1/chat/completions")
        let error = try #require(await client.failure().error)
        #expect(!String(reflecting: error).contains(secret))
        #expect(!String(reflecting: client).contains(secret))
        try await server.stop()
    }

    @Test(
        "A URL without a server address throws at once, without a retry",
        arguments: ["ftp://127.0.0.1/v1", "no-address", "http:///v1", "http://127.0.0.1:99999/v1"])
    func noAddress(text: String) async throws {
        let waits = Locked<[Duration]>([])
        let client = ChatCompletionsClient(
            baseURL: try #require(URL(string: text)), model: "m", retries: RetryPolicy(maxRetries: 3),
            transport: TestTransport.current,
            waiting: Waiting(
                sleep: { wait in waits.withLock { $0.append(wait) } }, now: { Date() }, jitter: { 1 }))
        let error = try #require(await client.failure().error)
        #expect(error.code == .invalidArgument, "\(error)")
        #expect(error.message.contains("base URL"), "\(error)")
        #expect(waits.withLock { $0 } == [])
    }

    @Test("A URL with a user throws if there is an API key, too")
    func userAndKey() async throws {
        let url = try #require(URL(string: "http://ada:\(secret)@127.0.0.1:9/v1"))
        let client = ChatCompletionsClient(
            baseURL: url, model: "m", apiKey: "key-12345", retries: RetryPolicy(maxRetries: 0),
            transport: TestTransport.current)
        let error = try #require(await client.failure().error)
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("API key"), "\(error)")
        #expect(!String(reflecting: error).contains(secret))
    }
}
