import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import RecollectTestSupport
import Testing

@testable import RecollectModels

@Suite("Optional transport abilities", .timeLimit(.minutes(10)))
struct AbilityTests {
    @Test(
        "A hang-up inside the response head is a lost connection", .requires(.survivesCutHeads),
        .eachTransport(with: .survivesCutHeads))
    func hangUpInHead() async throws {
        let server = try await ModelServer.start { _ in .raw(["HTTP/1.1 200 OK\r\nContent-Ty", .hangUp]) }
        #expect(await ChatCompletionsClient(server).failure().error?.code == .connectionLost)
        try await server.stop()
    }

    @Test(
        "A connection is reused, even if the body ends shortly after [DONE]", .requires(.reusesConnections),
        .eachTransport(with: .reusesConnections))
    func usesConnectionsAgain() async throws {
        let gates = Locked<[Gate]>([])
        let server = try await ModelServer.start { _ in
            let gate = Gate()
            gates.withLock { $0.append(gate) }
            return .stream([.delta(["content": "ok"], finishReason: "stop"), .done, .wait(gate)])
        }
        let other = try await ModelServer.start { _ in .text(["ok"]) }
        var timeouts = ChatCompletionsClient.Timeouts()
        // A busy machine may exceed the usual limit for the end.
        timeouts.usage = .seconds(60)
        timeouts.end = .seconds(60)
        let client = ChatCompletionsClient(server, timeouts: timeouts)
        // A connection is free again shortly after a response; the next request may come before that.
        for _ in 0..<10 where server.requests.count == server.connectionCount {
            #expect(try await client.events().completion != nil)
            // Meanwhile, a client that closes connections would have closed this one.
            for _ in 0..<3 { _ = try await ChatCompletionsClient(other).events() }
            gates.withLock { $0.last }?.open()
            _ = try await ChatCompletionsClient(other).events()
        }
        #expect(server.connectionCount < server.requests.count)
        try await server.stop()
        try await other.stop()
    }
}
