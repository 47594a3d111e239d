import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Turns whose stream is abandoned", .timeLimit(.minutes(10)))
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

    /// Expects the turn to end with an interrupted reply.
    private func expectStopped() async throws {
        await orchestrator.waitUntilIdle()
        let reply = try #require(try await store.all().last)
        #expect(reply.role == .assistant && reply.isInterrupted)
    }

    /// Expects the turn to continue to its end.
    private func expectWhole() async throws {
        mayEnd.open()
        await orchestrator.waitUntilIdle()
        let reply = try #require(try await store.all().last)
        #expect(reply.text == "abc" && !reply.isInterrupted)
    }

    @Test("Leaving a loop with the only reference to the stream stops the turn")
    func leftLoop() async throws {
        for try await event in route() {
            if case .textDelta = event { break }
        }
        try await expectStopped()
    }

    @Test("Leaving a loop continues the turn while the stream is held elsewhere, and a second loop reads the rest")
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

    @Test("Releasing the last reference to the stream stops the turn")
    func releasedStream() async throws {
        var stream: AsyncThrowingStream<AgentEvent, any Error>? = route()
        for try await event in try #require(stream) {
            if case .textDelta = event { break }
        }
        stream = nil
        try await expectStopped()
    }

    @Test(
        "Canceling the reading task stops the turn, whether it waits for an event or is between events",
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

    @Test("Canceling a task before its first event request does not stop the turn")
    func canceledBefore() async throws {
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
