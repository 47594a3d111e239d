import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("A turn whose stream is left", .timeLimit(.minutes(10)))
struct EndedIterationTests {
    private let store = InMemoryChatStorage()
    private let mayEnd = Gate()
    private let orchestrator: Orchestrator

    init() {
        let mayEnd = mayEnd
        let agent = ScriptedAgent { _, _, say in
            say(.textDelta("a"))
            say(.textDelta("b"))
            try await mayEnd.wait()
            say(.textDelta("c"))
        }
        orchestrator = Orchestrator(agents: [agent], store: store)
    }

    private func route() -> AsyncThrowingStream<AgentEvent, any Error> {
        orchestrator.route("hello", userId: "user", sessionId: "session")
    }

    /// Expects the turn to end by itself.
    private func expectStopped() async throws {
        await orchestrator.waitUntilIdle()
        let reply = try #require(try await store.all().last)
        #expect(reply.role == .assistant && reply.isInterrupted)
    }

    /// Expects the turn to go on to its end.
    private func expectWhole() async throws {
        mayEnd.open()
        await orchestrator.waitUntilIdle()
        let reply = try #require(try await store.all().last)
        #expect(reply.text == "abc" && !reply.isInterrupted)
    }

    @Test("stops where the loop held the stream")
    func leftLoop() async throws {
        for try await event in route() {
            if case .textDelta = event { break }
        }
        try await expectStopped()
    }

    @Test("goes on where something else holds the stream, and a second loop is told the rest")
    func heldStream() async throws {
        let stream = route()
        for try await event in stream {
            if case .textDelta("b") = event { break }
        }
        try await expectWhole()
        var rest: [AgentEvent] = []
        for try await event in stream { rest.append(event) }
        #expect(rest.count == 2 && rest.reply?.text == "abc")
    }

    @Test("stops when the stream is released that was held")
    func releasedStream() async throws {
        var stream: AsyncThrowingStream<AgentEvent, any Error>? = route()
        for try await event in try #require(stream) {
            if case .textDelta = event { break }
        }
        stream = nil
        try await expectStopped()
    }

    @Test(
        "stops when a task is cancelled that waits for an event, or that asks for one after others",
        arguments: [true, false])
    func cancelled(isWaiting: Bool) async throws {
        let stream = route()
        let (hasHeard, goOn) = (Gate(), Gate())
        let task = Task {
            for try await event in stream {
                guard case .textDelta("b") = event else { continue }
                hasHeard.open()
                if !isWaiting { try? await goOn.wait() }
            }
        }
        try await hasHeard.wait()
        if isWaiting { for _ in 0..<100 { await Task.yield() } }
        task.cancel()
        _ = await task.result
        try await expectStopped()
        withExtendedLifetime(stream) {}
    }

    @Test("goes on when a task is cancelled before it has asked for an event")
    func cancelledBefore() async throws {
        let stream = route()
        let mayBegin = Gate()
        let task = Task {
            try? await mayBegin.wait()
            for try await _ in stream {}
        }
        task.cancel()
        _ = await task.result
        try await expectWhole()
    }
}
