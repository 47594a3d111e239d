import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Turn order")
struct TurnOrderTests {
    @Test("Turns of one session run one after another, in the order of their requests")
    func oneSession() async throws {
        let store = InMemoryChatStorage()
        let running = Locked(0)
        let agent = ScriptedAgent { input, _, say in
            #expect(
                running.withLock {
                    $0 += 1; return $0
                } == 1)
            for _ in 0..<10 { await Task.yield() }
            say(.textDelta("to \(input.text)"))
            running.withLock { $0 -= 1 }
        }
        let orchestrator = Orchestrator(agents: [agent], store: store, maxMessages: nil)
        let streams = (0..<50).map { orchestrator.route(.text("\($0)"), userId: "user", sessionId: "session") }
        for stream in streams.reversed() {
            for try await _ in stream {}
        }
        #expect(try await store.all().map(\.text) == (0..<50).flatMap { ["\($0)", "to \($0)"] })
    }

    @Test("Turns of other sessions run while one turn is slow")
    func sideBySide() async throws {
        let gate = Gate()
        let agent = ScriptedAgent { input, _, say in
            if input.text == "slow" { try await gate.wait() }
            say(.textDelta("done"))
        }
        let orchestrator = Orchestrator(agents: [agent], store: InMemoryChatStorage())
        let slow = orchestrator.route("slow", userId: "user", sessionId: "slow")
        for number in 0..<20 { try await orchestrator.say("quick", session: "\(number)") }
        gate.open()
        var events: [AgentEvent] = []
        for try await event in slow { events.append(event) }
        #expect(events.reply?.text == "done")
    }

    @Test("Stopping a session also stops its waiting turns, which save nothing")
    func stopped() async throws {
        let store = InMemoryChatStorage()
        let reached = Gate()
        let orchestrator = Orchestrator(
            agents: [ScriptedAgent.hanging(after: [.textDelta("a")], reached: reached)], store: store)
        let first = orchestrator.route("one", userId: "user", sessionId: "session")
        let second = orchestrator.route("two", userId: "user", sessionId: "session")
        try await reached.wait()
        await orchestrator.stop(userId: "user", sessionId: "session")
        #expect(try await store.all().map(\.role) == [.user, .assistant])
        for try await _ in first {}
        await #expect(throws: CancellationError.self) { for try await _ in second {} }
        await orchestrator.waitUntilIdle()
    }

    @Test("`waitUntilIdle` returns after many concurrent turns")
    func idle() async throws {
        let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: nil)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { _ = try? await orchestrator.say("hello", session: "\(number % 20)") }
            }
        }
        await orchestrator.waitUntilIdle()
        await orchestrator.stop(userId: "user", sessionId: "unknown")
    }
}

@Suite("Routing")
struct RoutingTests {
    private struct ByFirstWord: Classifier {
        func classify(
            _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
        ) async throws -> ClassifierResult {
            if input == "fail" { throw Failure() }
            if input == "stranger" {
                return ClassifierResult(selectedAgent: ScriptedAgent.echo("Stranger"), confidence: 1)
            }
            if input == "who" {
                let last = history.last?.text.split(separator: "]").first?.dropFirst()
                return ClassifierResult(selectedAgent: agents.first { $0.id == last ?? "" }, confidence: 1)
            }
            return ClassifierResult(selectedAgent: agents.first { input.hasPrefix($0.id) }, confidence: 1)
        }
    }

    private func orchestrator(over store: any ChatStorage) -> Orchestrator {
        Orchestrator(
            agents: [ScriptedAgent.echo("One"), ScriptedAgent.echo("Two")], classifier: ByFirstWord(), store: store)
    }

    @Test(
        "The classifier chooses the agent and receives the whole session with agent prefixes",
        arguments: AnyStore.allCases)
    func chosen(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let first = orchestrator(over: store)
            var answerers: [String?] = []
            for (number, input) in ["two please", "who", "one please", "who"].enumerated() {
                let asked = number.isMultiple(of: 2) ? first : orchestrator(over: try reopen())
                answerers.append(try await asked.answerer(of: .text(input)))
                // In the same millisecond, the agents' names decide the order (rule 5), not the order of the saves.
                let date = Date().wholeMilliseconds
                while Date().wholeMilliseconds == date { await Task.yield() }
            }
            #expect(answerers == ["two", "two", "one", "one"])
        }
    }

    @Test(
        "The first agent replies if the classifier chooses no agent or an unknown one",
        arguments: ["nobody", "stranger"])
    func nobody(_ input: String) async throws {
        #expect(try await orchestrator(over: InMemoryChatStorage()).answerer(of: .text(input)) == "one")
    }

    @Test(
        "A classifier failure throws, and the input is saved with the first agent",
        arguments: AnyStore.allCases)
    func fails(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            await #expect(throws: Failure()) { try await orchestrator(over: store).say("fail") }
            let saved = try await reopen().all("one")
            #expect(saved.map(\.text) == ["fail", ""])
            #expect(saved.last?.isInterrupted == true)
        }
    }
}

@Suite("UI and orchestrator on one history")
struct SharedHistoryTests {
    @Test("A UI and an orchestrator save the same turn once, in either order", arguments: [true, false])
    func once(isUIFirst: Bool) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "local")
        let ui = SQLiteSessionStorage(history: history)
        let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
        var question = ChatMessage(role: .user, content: "hello")
        question.isComplete = true

        if isUIFirst { try await ui.updateSessionMessages(id: "session", messages: [question]) }
        var events: [AgentEvent] = []
        let input = AgentInput.text("hello", id: question.id.uuidString)
        for try await event in orchestrator.route(input, userId: "local", sessionId: "session") { events.append(event) }
        let reply = try #require(events.reply)
        let id = try #require(UUID(uuidString: reply.id))
        let answer = ChatMessage(id: id, role: .assistant, content: reply.text)
        try await ui.updateSessionMessages(id: "session", messages: [question, answer])

        let shown = try #require(try await ui.getSession(id: "session")).messages
        #expect(shown.map(\.id) == [question.id, id])
        #expect(shown.map(\.content) == ["hello", "You said: hello"])
        let given = try await store.fetch(
            userId: "local", sessionId: "session", agentId: "agent", maxMessages: nil)
        #expect(given.map(\.text) == ["hello", "You said: hello"])
    }
}
