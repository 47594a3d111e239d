import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import Testing
@testable import RecollectModels

@Suite("Retries of chat-completions requests", .eachTransport, .timeLimit(.minutes(10)))
struct RetryTests {
    private let policy = RetryPolicy(maxRetries: 3, firstDelay: .seconds(1), maxDelay: .seconds(3))

    @Test("429, 5xx and lost connections are retried, after waits that double up to a maximum")
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

    @Test("After the last retry, the last error is thrown")
    func givesUp() async throws {
        let server = try await ModelServer.start { _ in .status(500, "broken") }
        let error = await ChatCompletionsClient(server, retries: policy).failure().error
        #expect(error?.code == .serverFailed)
        #expect(server.requests.count == 4)
        try await server.stop()
    }

    @Test("Permanent failures are not retried")
    func permanent() async throws {
        for status in [307, 400, 401, 403, 404, 422] {
            let server = try await ModelServer.start { _ in .status(status, "no") }
            #expect(await ChatCompletionsClient(server, retries: policy).failure().error?.status == status)
            #expect(server.requests.count == 1)
            try await server.stop()
        }
    }

    @Test("After the first event, nothing is retried")
    func afterYield() async throws {
        let server = try await ModelServer.start { _ in .stream([.delta(["content": "a"]), .hangUp]) }
        let outcome = await ChatCompletionsClient(server, retries: policy).failure()
        #expect(outcome.events == [.textDelta("a")])
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("Retry-After is followed in seconds and as a date; a wait over the limit throws at once")
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

    @Test("Invalid values of Retry-After are ignored")
    func retryAfterValues() {
        let now = Date(timeIntervalSince1970: 1_445_412_480)
        #expect(RetryAfter.duration(" 1.5 ", now: now) == .seconds(1.5))
        #expect(RetryAfter.duration("Wed, 21 Oct 2015 07:00:00 GMT", now: now) == .zero)
        for value in ["", "soon", "-1", "nan", "inf"] {
            #expect(RetryAfter.duration(value, now: now) == nil, "\(value)")
        }
    }

    @Test("Jitter shortens a wait by half at most")
    func jitter() {
        let error = ModelError(.serverFailed, "")
        #expect(policy.delay(before: 0, after: error, jitter: 0) == .milliseconds(500))
        #expect(policy.delay(before: 0, after: error, jitter: 1) == .seconds(1))
        #expect(policy.delay(before: 3, after: error, jitter: 1) == nil)
    }
}
