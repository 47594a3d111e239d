import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import RecollectTestSupport
import Testing
@testable import RecollectModels

@Suite("Failures of chat-completions requests", .eachTransport, .timeLimit(.minutes(10)))
struct FailureTests {
    @Test("A hang-up in the middle is an error at any byte, orderly or not")
    func hangUps() async throws {
        let event = Array(#"data: {"choices":[{"index":0,"delta":{"content":"half"}}]}"#.utf8) + [10, 10]
        for last in [ModelReply.Step.hangUp, .reset] {
            for cut in stride(from: 0, through: event.count, by: 7) {
                let server = try await ModelServer.start { _ in
                    .stream([.delta(["content": "said"]), .send(Array(event[..<cut])), last])
                }
                let outcome = await ChatCompletionsClient(server).failure()
                #expect(outcome.error?.code == .connectionLost, "\(last) at \(cut)")
                #expect(outcome.events.completion == nil)
                try await server.stop()
            }
        }
    }

    @Test(
        "An invalid response head throws an error that names the problem, without a retry",
        arguments: [
            ("Content-Length: -5\r\n\r\nabc", ["invalid character in content-length", "Invalid Content-Length"]),
            (
                "Content-Length: 5\r\nContent-Length: 9\r\n\r\nabc",
                ["unexpected content-length", "invalid Content-Length"]
            ),
            ("X: " + String(repeating: "x", count: 1 << 20) + "\r\n\r\n", ["too many header bytes", "Out of memory"]),
            ("X Y\r\n\r\n", ["invalid character in header", "Header without colon"]),
        ])
    func badHead(_ rest: String, reasons: [String]) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        let server = try await ModelServer.start { _ in .raw([.text(head + rest), .silence]) }
        let error = await ChatCompletionsClient(server, retries: RetryPolicy(maxRetries: 2)).failure().error
        #expect(
            error?.code == .unreadable && reasons.contains { error?.message.contains($0) == true }, "\(error as Any)")
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("A limit too large for the clock is no limit, and a negative limit has expired", arguments: [true, false])
    func endlessLimit(isTotal: Bool) async throws {
        let server = try await ModelServer.start { _ in .text(["ok"]) }
        for (seconds, code) in [(Int64.max, nil), (.min, ModelError.Code.timedOut)] {
            let limits: ChatCompletionsClient.Timeouts =
                isTotal ? .init(total: .seconds(seconds)) : .init(idle: .seconds(seconds))
            let outcome = await ChatCompletionsClient(server, timeouts: limits).failure()
            #expect(outcome.error?.code == code)
            if code == nil { #expect(outcome.events.text == "ok") }
        }
        try await server.stop()
    }

    @Test("An invalid port number throws")
    func noPort() async throws {
        let client = ChatCompletionsClient(
            baseURL: try #require(URL(string: "http://127.0.0.1:99999/v1")), model: "m",
            retries: RetryPolicy(maxRetries: 0), transport: TestTransport.current)
        let error = try #require(await client.failure().error)
        #expect(error.code == .invalidArgument && error.message.contains("99999"))
    }

    @Test("An orderly end of the stream without a reason or [DONE] is also an error")
    func silentEnd() async throws {
        let server = try await ModelServer.start(replies: [
            .stream([.delta(["content": "said"])]),
            .stream([.delta(["content": "said"]), #"data: {"choices":[{"del"#]),
        ])
        #expect(await ChatCompletionsClient(server).failure().error?.code == .connectionLost)
        #expect(await ChatCompletionsClient(server).failure().error?.code == .connectionLost)
        try await server.stop()
    }

    @Test("Each status has an error code, and a message with the server and a remedy")
    func statuses() async throws {
        let expected: [(Int, ModelError.Code, String)] = [
            (400, .refused, "with status 400"), (401, .unauthorized, "OPENAI_API_KEY"),
            (403, .unauthorized, "API key"), (404, .notFound, "/v1"), (408, .timedOut, "waiting"),
            (422, .refused, "422"), (429, .rateLimited, "rate limiting"), (500, .serverFailed, "500"),
            (503, .serverFailed, "503"),
        ]
        for (status, code, words) in expected {
            let server = try await ModelServer.start { _ in .status(status, "the very reason") }
            let error = try #require(await ChatCompletionsClient(server).failure().error)
            #expect(error.code == code)
            #expect(error.status == status)
            #expect(error.message.contains(words), "\(error.message)")
            #expect(error.message.contains("127.0.0.1"), "\(error.message)")
            #expect(error.message.contains("the very reason") == (code != .unauthorized), "\(error.message)")
            #expect(error.localizedDescription == error.message)
            try await server.stop()
        }
    }

    @Test("Web pages, empty responses, other JSON and garbage are not completions")
    func notCompletions() async throws {
        let page: ModelReply.Step = "<!doctype html><html><body>data: welcome</body></html>"
        let replies: [ModelReply] = [
            ModelReply(headers: [("Content-Type", "text/html")], steps: [page]), .stream([]),
            .stream([": ping\n\n"]),
            ModelReply(headers: [], steps: []), .json([:]), .json(["models": []]), .json([1]),
            .stream(["data: {not json}\n\n"]), .stream(["data: [1]\n\n"]),
            .stream([.event(["detail": "Not found"]), "data: [DONE]\n\n"]), .stream(["data: [DONE]\n\n"]),
        ]
        let server = try await ModelServer.start(replies: replies)
        for index in replies.indices {
            let error = await ChatCompletionsClient(server).failure().error
            #expect(error?.code == .unreadable, "\(index): \(String(describing: error))")
        }
        try await server.stop()
    }

    @Test("An error in the middle of a stream ends it, with the status given in the error")
    func midStream() async throws {
        let server = try await ModelServer.start(replies: [
            .stream([.delta(["content": "a"]), .event(["error": ["message": "overloaded", "code": 503]])]),
            .stream([.delta(["content": "a"]), .event(["error": ["message": "no idea", "code": "internal"]])]),
            .stream([.delta(["content": "a"]), .event(["error": "plain words"])]),
        ])
        for (status, words) in [(503, "overloaded"), (nil, "no idea"), (nil, "plain words")] {
            let outcome = await ChatCompletionsClient(server).failure()
            #expect(outcome.events == [.textDelta("a")])
            #expect(outcome.error?.code == .serverFailed)
            #expect(outcome.error?.status == status)
            #expect(outcome.error?.message.contains(words) == true)
        }
        try await server.stop()
    }

    @Test("A line without an end throws")
    func endlessLine() async throws {
        let megabyte = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let server = try await ModelServer.start { _ in
            .stream(["data: "] + Array(repeating: .send(megabyte), count: 18))
        }
        let error = await ChatCompletionsClient(server).failure().error
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("bytes") == true)
        try await server.stop()
    }

    @Test("An error response without an end is read only up to a limit", .timeLimit(.minutes(10)))
    func endlessRefusal() async throws {
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        let server = try await ModelServer.start { _ in
            .raw(
                [
                    .send(Array("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n".utf8)), .send(piece),
                    .silence,
                ])
        }
        let client = ChatCompletionsClient(server, timeouts: .init(idle: .seconds(600)))
        let error = await client.failure().error
        #expect(error?.status == 400)
        try await server.stop()
    }

    @Test("An error response whose text does not end in time is reported with its status")
    func slowRefusal() async throws {
        let head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\n\r\n"
        let server = try await ModelServer.start { _ in .raw([.send(Array((head + "no").utf8)), .silence]) }
        let client = ChatCompletionsClient(
            server, timeouts: .init(idle: .seconds(1)), retries: RetryPolicy(maxRetries: 0))
        let error = await client.failure().error
        #expect(error?.status == 401)
        try await server.stop()
    }

    @Test(
        "An invalid header name throws an error that reports it",
        arguments: ["X-Größe", "X A", "A\r\nB", "", "a:b", "ä"])
    func headerNames(name: String) async throws {
        let client = ChatCompletionsClient(
            baseURL: URL(string: "http://127.0.0.1:9/v1")!, model: "m", headers: [name: "1"],
            transport: TestTransport.current)
        let error = try #require(await client.failure().error)
        #expect(error.code == .invalidArgument && error.message.contains("is not a valid header name"))
        #expect(!error.message.contains("\n"))
    }

    @Test("A refused connection is reported at once, with a hint to check that the server is running")
    func refusedConnection() async throws {
        let server = try await ModelServer.start { _ in .text([]) }
        try await server.stop()
        let error = try #require(await ChatCompletionsClient(server).failure().error)
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("is running"))
    }

    @Test("Silence beyond the limit times out, before the head and in the middle, and closes the connection")
    func idle() async throws {
        let server = try await ModelServer.start(replies: [
            .raw([.silence]), .stream([.delta(["content": "a"]), .silence]),
        ])
        let client = ChatCompletionsClient(server, timeouts: .init(idle: .seconds(1)))
        for _ in 1...2 { #expect(await client.failure().error?.code == .timedOut) }
        for request in server.requests { try await request.closed() }
        try await server.stop()
    }

    @Test("The total limit ends a response that is never silent")
    func total() async throws {
        let gates = (0..<2_000).map { _ in Gate() }
        let server = try await ModelServer.start { _ in
            .stream(gates.flatMap { [.delta(["content": "a"]), .wait($0)] })
        }
        let client = ChatCompletionsClient(server, timeouts: .init(total: .milliseconds(150)))
        var count = 0
        await #expect {
            for try await _ in client.complete(LLMRequest(messages: [])) {
                // Each piece lets the server send the next one, until none is left: then the server waits.
                gates[count].open()
                count = min(count + 1, gates.count - 1)
            }
        } throws: { ($0 as? ModelError)?.code == .timedOut }
        try await server.stop()
    }

    @Test("A complete answer is returned without its usage if the total time ends")
    func completeAtTotal() async throws {
        let server = try await ModelServer.start { _ in
            .stream([.delta(["content": "whole"], finishReason: "stop"), .silence])
        }
        var timeouts = ChatCompletionsClient.Timeouts(total: .seconds(5))
        timeouts.usage = .seconds(600)
        let client = ChatCompletionsClient(server, timeouts: timeouts)
        let events = try await client.events()
        #expect(events.text == "whole" && events.completion?.reason == .stop)
        for request in server.requests { try await request.closed() }
        try await server.stop()
    }

    @Test("After a complete answer, the client waits a short time for the usage", .timeLimit(.minutes(1)))
    func missingUsage() async throws {
        let server = try await ModelServer.start { _ in
            .stream([.delta(["content": "whole"], finishReason: "stop"), .silence])
        }
        var timeouts = ChatCompletionsClient.Timeouts(idle: .seconds(Int.max))
        timeouts.usage = .milliseconds(100)
        let events = try await ChatCompletionsClient(server, timeouts: timeouts).events()
        #expect(events.text == "whole" && events.completion?.reason == .stop)
        try await server.stop()
    }

    @Test("A server that sends a reason for the end with each piece has time for the next piece")
    func reasonWithEachPiece() async throws {
        let gate = Gate()
        let server = try await ModelServer.start { _ in
            .stream([
                .delta(["content": "a"], finishReason: "stop"), .delta(["content": "b"], finishReason: "stop"),
                .wait(gate),
                .delta(["content": "c"], finishReason: "stop"), .done,
            ])
        }
        var timeouts = ChatCompletionsClient.Timeouts()
        timeouts.usage = .milliseconds(100)
        var events: [LLMStreamEvent] = []
        for try await event in ChatCompletionsClient(server, timeouts: timeouts).complete(LLMRequest(messages: [])) {
            events.append(event)
            guard events.text == "ab" else { continue }
            // Longer than the time for the usage.
            try await Task.sleep(for: .milliseconds(400))
            gate.open()
        }
        #expect(events.text == "abc" && events.completion?.reason == .stop)
        try await server.stop()
    }

    @Test("The total limit ends an answer with a reason for the end with each piece as incomplete")
    func uncertainAtTotal() async throws {
        let server = try await ModelServer.start { _ in
            .stream([
                .delta(["content": "a"], finishReason: "stop"), .delta(["content": "b"], finishReason: "stop"),
                .silence,
            ])
        }
        let client = ChatCompletionsClient(server, timeouts: .init(total: .seconds(3)))
        #expect(await client.failure().error?.code == .timedOut)
        try await server.stop()
    }

    @Test("Ending the iteration closes the connection")
    func endedIteration() async throws {
        let server = try await ModelServer.start { _ in .stream([.delta(["content": "a"]), .silence]) }
        for try await _ in ChatCompletionsClient(server).complete(LLMRequest(messages: [])) { break }
        try await server.requests.first?.closed()
        try await server.stop()
    }

    @Test("Canceling the task closes the connection, before the head and in the middle")
    func canceledTask() async throws {
        let asked = Gate()
        let heard = Gate()
        let server = try await ModelServer.start { request in
            asked.open()
            return request.messages.isEmpty
                ? .raw([.silence]) : .stream([.delta(["content": "a"]), .silence])
        }
        let client = ChatCompletionsClient(server)
        let early = Task { for try await _ in client.complete(LLMRequest(messages: [])) {} }
        try await asked.wait()
        early.cancel()
        try await server.requests.first?.closed()
        let late = Task {
            let message = ConversationMessage(role: .user, text: "hello")
            for try await _ in client.complete(LLMRequest(messages: [message])) { heard.open() }
        }
        try await heard.wait()
        late.cancel()
        try await server.requests.last?.closed()
        try await server.stop()
    }
}
