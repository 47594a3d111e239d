import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import RecollectTestSupport
import Testing
@testable import RecollectModels

@Suite("HTTP transports", .eachTransport, .timeLimit(.minutes(10)))
struct TransportTests {
    /// `RECOLLECT_STREAMS=1000` needs 2,000 open files, too many next to the tests that start processes.
    private static let streams = ProcessInfo.processInfo.environment["RECOLLECT_STREAMS"].flatMap { Int($0) } ?? 100

    private func request(_ server: ModelServer, _ body: String = "{}") -> TransportRequest {
        TransportRequest(
            url: server.baseURL, headers: [("Content-Type", "application/json")], body: Data(body.utf8))
    }

    @Test("Many responses stream at once, and none waits for the end of another")
    func manyStreams() async throws {
        let gate = Gate()
        let count = Locked(0)
        let server = try await ModelServer.start { _ in
            let isLast = count.withLock { count in
                count += 1
                return count == Self.streams
            }
            if isLast { gate.open() }
            return .stream([.delta(["content": "a"]), .wait(gate)] + ModelReply.ending(reason: "stop"))
        }
        let client = ChatCompletionsClient(server)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<Self.streams { group.addTask { try await client.events().completion != nil } }
            for try await isWhole in group { #expect(isWhole) }
        }
        try await server.stop()
    }

    @Test("Canceling many requests at any time closes their connections")
    func cancelsMany() async throws {
        let server = try await ModelServer.start { request in
            request.messages.isEmpty
                ? .text(Array(repeating: "a", count: 20)) : .stream([.delta(["content": "a"]), .silence])
        }
        let client = ChatCompletionsClient(server)
        let tasks = (0..<60).map { index in
            Task {
                let message = ConversationMessage(role: .user, text: "hello")
                for try await _ in client.complete(LLMRequest(messages: index % 2 == 0 ? [] : [message])) {}
            }
        }
        for (index, task) in tasks.enumerated() {
            if index % 3 == 0 { await Task.yield() }
            task.cancel()
        }
        for task in tasks { _ = await task.result }
        for request in server.requests where !request.messages.isEmpty { try await request.closed() }
        // The transport still works.
        #expect(try await client.events(LLMRequest(messages: [])).text.count == 20)
        try await server.stop()
    }

    @Test("Request bodies over a megabyte and even larger responses arrive whole")
    func largeBodies() async throws {
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let server = try await ModelServer.start { _ in
            ModelReply(headers: [], steps: Array(repeating: .send(piece), count: 12))
        }
        let text = String(repeating: "é", count: 1 << 20)
        let response = try await TestTransport.current.send(request(server, "{\"text\":\"\(text)\"}"))
        var count = 0
        for try await bytes in response.body { count += bytes.count }
        #expect(count == 12 << 20)
        #expect(server.requests.first?.body["text"]?.stringValue == text)
        try await server.stop()
    }

    @Test("Releasing a response closes its connection")
    func dropped() async throws {
        let server = try await ModelServer.start { _ in .stream([.delta(["content": "a"]), .silence]) }
        #expect(try await TestTransport.current.send(request(server)).status == 200)
        try await server.requests.first?.closed()
        try await server.stop()
    }

    @Test(
        "A 401 response with an authentication challenge is reported like any other",
        arguments: ["Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"y\"", "Negotiate", "", "=,\""])
    func credentials(challenge: String) async throws {
        let server = try await ModelServer.start { _ in
            .status(401, "who is it?", headers: [("WWW-Authenticate", challenge)])
        }
        #expect(await ChatCompletionsClient(server).failure().error?.code == .unauthorized)
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("Cookies are not sent back, and responses are not cached")
    func forgets() async throws {
        let server = try await ModelServer.start { _ in
            var reply = ModelReply.text(["ok"])
            reply.headers += [("Set-Cookie", "id=1; Path=/"), ("Cache-Control", "max-age=600")]
            return reply
        }
        for _ in 1...2 { #expect(try await ChatCompletionsClient(server).events().text == "ok") }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.header("Cookie") == nil })
        try await server.stop()
    }

    @Test("A custom transport can be used")
    func custom() async throws {
        struct Canned: HTTPTransport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let pieces = AsyncThrowingStream<Data, any Error> { pieces in
                    pieces.yield(Data(#"{"choices":[{"finish_reason":"stop","message":{"content":"ok"}}]}"#.utf8))
                    pieces.finish()
                }
                return TransportResponse(status: 200, headers: [], body: TransportBody(pieces))
            }
        }
        let url = try #require(URL(string: "http://model.invalid/v1"))
        #expect(try await ChatCompletionsClient(baseURL: url, model: "m", transport: Canned()).events().text == "ok")
    }
}
