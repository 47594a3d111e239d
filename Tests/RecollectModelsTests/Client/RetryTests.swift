import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import Testing
@testable import RecollectModels

@Suite("A chat-completions client that tries again", .eachTransport, .timeLimit(.minutes(10)))
struct RetryTests {
    private let policy = RetryPolicy(maxRetries: 3, firstDelay: .seconds(1), maxDelay: .seconds(3))

    @Test("429, 5xx and lost connections are tried again, after waits that double up to the longest")
    func backoff() async throws {
        let server = try await ModelServer.start(replies: [
            .status(429, "slow"), .raw([.reset]), .status(503, "later"), .text(["ok"]),
        ])
        let waits = Locked<[Duration]>([])
        let client = ChatCompletionsClient(server, retries: policy, waits: waits)
        #expect(try await client.events().text == "ok")
        #expect(waits.withLock { $0 } == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(server.requests.count == 4)
        try await server.stop()
    }

    @Test("it gives up after the last retry with the last failure")
    func givesUp() async throws {
        let server = try await ModelServer.start { _ in .status(500, "broken") }
        let error = await ChatCompletionsClient(server, retries: policy).failure().error
        #expect(error?.code == .serverFailed)
        #expect(server.requests.count == 4)
        try await server.stop()
    }

    @Test("what cannot pass by itself is not tried again")
    func permanent() async throws {
        for status in [307, 400, 401, 403, 404, 422] {
            let server = try await ModelServer.start { _ in .status(status, "no") }
            #expect(await ChatCompletionsClient(server, retries: policy).failure().error?.status == status)
            #expect(server.requests.count == 1)
            try await server.stop()
        }
    }

    @Test("once something was given on, nothing is tried again")
    func afterYield() async throws {
        let server = try await ModelServer.start { _ in .stream([.delta(["content": "a"]), .hangUp]) }
        let outcome = await ChatCompletionsClient(server, retries: policy).failure()
        #expect(outcome.events == [.textDelta("a")])
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("Retry-After is obeyed, in seconds and as a date; what is longer than allowed is told at once")
    func retryAfter() async throws {
        let now = Date(timeIntervalSince1970: 1_445_412_480)
        let server = try await ModelServer.start(replies: [
            .status(429, "slow", headers: [("Retry-After", "2")]),
            .status(503, "slow", headers: [("Retry-After", "Wed, 21 Oct 2015 07:28:03 GMT")]),
            .status(429, "slow", headers: [("Retry-After", "60")]),
        ])
        let waits = Locked<[Duration]>([])
        let error = await ChatCompletionsClient(server, retries: policy, waits: waits, now: now).failure().error
        #expect(waits.withLock { $0 } == [.seconds(2), .seconds(3)])
        #expect(error?.code == .rateLimited)
        #expect(error?.retryAfter == .seconds(60))
        try await server.stop()
    }

    @Test("values of Retry-After that say nothing are none")
    func retryAfterValues() {
        let now = Date(timeIntervalSince1970: 1_445_412_480)
        #expect(RetryAfter.duration(" 1.5 ", now: now) == .seconds(1.5))
        #expect(RetryAfter.duration("Wed, 21 Oct 2015 07:00:00 GMT", now: now) == .zero)
        for value in ["", "soon", "-1", "nan", "inf"] {
            #expect(RetryAfter.duration(value, now: now) == nil, "\(value)")
        }
    }

    @Test("jitter halves a wait at most")
    func jitter() {
        let error = ModelError(.serverFailed, "")
        #expect(policy.delay(before: 0, after: error, jitter: 0) == .milliseconds(500))
        #expect(policy.delay(before: 0, after: error, jitter: 1) == .seconds(1))
        #expect(policy.delay(before: 3, after: error, jitter: 1) == nil)
    }
}
