import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Nested turns", .timeLimit(.minutes(10)))
struct NestedTurnTests {
    /// Lets agents send inputs during their own turns; `orchestrator` is set once it exists.
    private final class Team: Sendable {
        let orchestrator = Locked<Orchestrator?>(nil)
        let failures = Locked<[RecollectError.Code?]>([])

        /// Sends an input to a session; returns the reply, or records the failure.
        func ask(_ text: String, session: String) async throws -> String {
            do {
                guard let orchestrator = orchestrator.withLock({ $0 }) else { return "" }
                return try await orchestrator.say(.text(text), session: session).reply?.text ?? ""
            } catch {
                failures.withLock { $0.append((error as? RecollectError)?.code) }
                return "failed"
            }
        }

        func start(_ script: @escaping ScriptedAgent.Script) -> Orchestrator {
            let orchestrator = Orchestrator(agents: [ScriptedAgent(script: script)], store: InMemoryChatStorage())
            self.orchestrator.withLock { $0 = orchestrator }
            return orchestrator
        }
    }

    @Test("Inside a turn, `waitUntilIdle` returns at once; in a task left over from the turn, it waits")
    func waitsForIdle() async throws {
        let team = Team()
        let left = Locked<Task<Void, Never>?>(nil)
        let mayEnd = Gate()
        let orchestrator = team.start { input, _, say in
            let orchestrator = team.orchestrator.withLock { $0 }
            switch input.text {
            case "outer": say(.textDelta(try await team.ask("inner", session: "other")))
            case "inner":
                await orchestrator?.waitUntilIdle()
                left.withLock { left in
                    left = Task {
                        while (try? await team.ask("later", session: "third")) == "failed" { await Task.yield() }
                        await orchestrator?.waitUntilIdle()
                    }
                }
                say(.textDelta("idle"))
            case "later": say(.textDelta("later"))
            default: try await mayEnd.wait()
            }
        }
        #expect(try await orchestrator.say("outer").reply?.text == "idle")
        let slow = orchestrator.route("slow", userId: "user", sessionId: "slow")
        let waiting = try #require(left.withLock { $0 })
        let hasWaited = Locked(false)
        let watch = Task {
            await waiting.value
            hasWaited.withLock { $0 = true }
        }
        for _ in 0..<100 { await Task.yield() }
        mayEnd.open()
        await watch.value
        #expect(hasWaited.withLock { $0 })
        withExtendedLifetime(slow) {}
    }

    @Test("A nested turn of the same session throws, and the outer turn continues")
    func sameSession() async throws {
        let team = Team()
        let orchestrator = team.start { input, _, say in
            say(.textDelta(input.text == "outer" ? try await team.ask("inner", session: "session") : "unreachable"))
        }
        #expect(try await orchestrator.say("outer").reply?.text == "failed")
        #expect(team.failures.withLock { $0 } == [.invalidArgument])
        #expect(try await orchestrator.say("next").reply?.text == "unreachable")
    }

    @Test("A nested turn of another session runs, but cannot begin a turn of the outer session")
    func otherSession() async throws {
        let team = Team()
        let orchestrator = team.start { input, _, say in
            switch input.text {
            case "one": say(.textDelta("two said \(try await team.ask("two", session: "other"))"))
            case "two": say(.textDelta("three \(try await team.ask("three", session: "session"))"))
            default: say(.textDelta("unreachable"))
            }
        }
        #expect(try await orchestrator.say("one").reply?.text == "two said three failed")
        #expect(team.failures.withLock { $0 } == [.invalidArgument])
    }

    @Test("Two sessions with turns waiting for each other: one turn throws, and both end")
    func eachOther() async throws {
        let team = Team()
        let haveBegun = Locked(0)
        let bothHaveBegun = Gate()
        let orchestrator = team.start { input, _, say in
            guard let other = ["one": "second", "two": "first"][input.text] else { return say(.textDelta("inner")) }
            let count = haveBegun.withLock { count in
                count += 1
                return count
            }
            if count == 2 { bothHaveBegun.open() }
            try await bothHaveBegun.wait()
            say(.textDelta(try await team.ask("ask", session: other)))
        }
        async let one = orchestrator.say(.text("one"), session: "first").reply?.text
        async let two = orchestrator.say(.text("two"), session: "second").reply?.text
        #expect(try await Set([one, two]) == ["failed", "inner"])
        #expect(team.failures.withLock { $0 } == [.invalidArgument])
    }

    @Test("Two orchestrators with turns waiting for each other: one turn throws, and both end")
    func twoOrchestrators() async throws {
        let (left, right) = (Team(), Team())
        let haveBegun = Locked(0)
        let bothHaveBegun = Gate()
        func script(asking other: Team) -> ScriptedAgent.Script {
            { input, _, say in
                guard input.text == "outer" else { return say(.textDelta("inner")) }
                let count = haveBegun.withLock { count in
                    count += 1
                    return count
                }
                if count == 2 { bothHaveBegun.open() }
                try await bothHaveBegun.wait()
                say(.textDelta(try await other.ask("ask", session: "session")))
            }
        }
        let (first, second) = (left.start(script(asking: right)), right.start(script(asking: left)))
        async let one = first.say("outer").reply?.text
        async let two = second.say("outer").reply?.text
        #expect(try await Set([one, two]) == ["failed", "inner"])
        await first.waitUntilIdle()
        await second.waitUntilIdle()
    }

    @Test("A task left over from a turn can begin a turn of the same session after the turn has ended")
    func afterTheTurn() async throws {
        let team = Team()
        let isOver = Gate()
        let late = Locked<Task<String, any Error>?>(nil)
        let orchestrator = team.start { input, _, say in
            if input.text == "outer" {
                late.withLock {
                    $0 = Task {
                        try await isOver.wait()
                        return try await team.ask("later", session: "session")
                    }
                }
            }
            say(.textDelta("re \(input.text)"))
        }
        try await orchestrator.say("outer")
        await orchestrator.waitUntilIdle()
        isOver.open()
        #expect(try await late.withLock { $0 }?.value == "re later")
    }

    @Test("An agent that computes its next event can stop its own turn")
    func stopsItself() async throws {
        let orchestrator = Locked<Orchestrator?>(nil)
        let agent = OneByOneAgent { await orchestrator.withLock { $0 }?.stop(userId: "user", sessionId: "session") }
        let made = Orchestrator(agents: [agent], store: InMemoryChatStorage())
        orchestrator.withLock { $0 = made }
        #expect(try await made.say("outer").reply?.isInterrupted == true)
        await made.waitUntilIdle()
        orchestrator.withLock { $0 = nil }
    }

    /// An agent that computes each event on request.
    private struct OneByOneAgent: AgentProtocol {
        let name = "Agent"
        let description = ""
        let work: @Sendable () async -> Void

        func process(
            _ input: AgentInput, history: [ConversationMessage], context: AgentContext
        ) -> AsyncThrowingStream<AgentEvent, any Error> {
            let count = Locked(0)
            return AsyncThrowingStream { () async throws -> AgentEvent? in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number == 2 { await work() }
                return number < 4 ? .textDelta("\(number) ") : nil
            }
        }
    }

    @Test("A nested turn of the same session begun by a tool throws")
    func tool() async throws {
        let team = Team()
        let ask = AgentTool(name: "ask", description: "Asks.") { _, _ in
            .text(try await team.ask("inner", session: "session"))
        }
        let model = ScriptedModel(
            says: [.toolCall(id: "1", name: "ask", arguments: [:]), .done(LLMCompletion(reason: .toolCalls))],
            [.textDelta("done")])
        let orchestrator = Orchestrator(
            agents: [Agent(name: "Agent", description: "", model: model, tools: [ask])], store: nil)
        team.orchestrator.withLock { $0 = orchestrator }
        #expect(try await orchestrator.say("outer").reply?.text == "done")
        #expect(team.failures.withLock { $0 } == [.invalidArgument])
    }
}
