import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectAgents

@Suite("Agent", .timeLimit(.minutes(10)))
struct AgentTests {
    private func agent(_ model: ScriptedModel, _ tools: [AgentTool] = [], rounds: Int = 20) -> Agent {
        Agent(
            name: "Tech Support", description: "Helps with devices.", model: model, tools: tools, maxToolRounds: rounds)
    }

    private let echo = AgentTool(name: "echo", description: "Gives back its arguments.") { arguments, _ in
        ToolResult(arguments)
    }

    @Test("An agent streams its model's output, then returns the whole reply with model and usage")
    func plainReply() async throws {
        let end = LLMCompletion(reason: .stop, usage: TokenUsage(input: 5, output: 2), model: "small-1")
        let model = ScriptedModel(says: [
            .thinking("hm"), .thinking("m"), .textDelta("Hel"), .textDelta("lo"), .done(end),
        ])
        let events = try await agent(model).run("Hi")
        #expect(
            events.dropLast() == [.thinking("hm"), .thinking("m"), .textDelta("Hel"), .textDelta("lo")])
        let reply = try #require(events.reply)
        #expect(reply.role == .assistant)
        #expect(reply.parts == [.thinking("hmm", signature: nil), .text("Hello")])
        #expect(reply.model == "small-1")
        #expect(reply.usage == TokenUsage(input: 5, output: 2))
        #expect(!reply.isInterrupted)
    }

    @Test("An agent passes the unchanged history and then the input to its model")
    func request() async throws {
        let model = ScriptedModel(says: [.textDelta("Yes")])
        let history = [
            ConversationMessage(role: .user, text: "Is it on?"), ConversationMessage(role: .assistant, text: "No"),
        ]
        let input = AgentInput.text("Now?", id: "m3")
        _ = try await agent(model, [echo]).run(input, history: history)
        let request = try #require(model.requests.first)
        #expect(request.messages == history + [input.message])
        #expect(request.tools == [echo])
        #expect(request.toolChoice == .automatic)
    }

    @Test("The default system prompt introduces the agent; a custom prompt or none replaces it")
    func systemPrompt() async throws {
        let model = ScriptedModel(says: [.textDelta("Hi")])
        _ = try await agent(model).run("Hi")
        _ = try await Agent(name: "A", description: "B", model: model, systemPrompt: "Be brief.").run("Hi")
        _ = try await Agent(name: "A", description: "B", model: model, systemPrompt: nil).run("Hi")
        let prompts = model.requests.map(\.system)
        #expect(prompts[0]?.contains("Tech Support") == true && prompts[0]?.contains("Helps with devices.") == true)
        #expect(prompts[1...] == ["Be brief.", nil])
    }

    @Test("Arguments and results that nest too deeply or hold an infinite number become text that a store can save")
    func deepExchange() async throws {
        let deepest = (0..<128).reduce(JSONValue.string("bottom")) { value, _ in ["in": value] }
        let (deep, deeper): (JSONValue, JSONValue) = (["in": deepest], ["in": ["in": deepest]])
        let tool = AgentTool(name: "dig", description: "Digs.") { arguments, _ in
            ToolResult(arguments["deep"] == true ? deeper : ["depth": .number(.infinity)])
        }
        let model = ScriptedModel(
            says: [
                .toolCall(id: "1", name: "dig", arguments: ["deep": true]),
                .toolCall(id: "2", name: "dig", arguments: deep), .toolCall(id: "3", name: "dig", arguments: deepest),
            ], [.textDelta("Done.")])
        let reply = try #require(try await agent(model, [tool]).run("Go").reply)
        let results = Dictionary(
            uniqueKeysWithValues: reply.parts.compactMap { part -> (String, JSONValue)? in
                guard case .toolResult(let id, let content) = part else { return nil }
                return (id, content)
            })
        #expect(reply.parts.contains(.toolCall(id: "2", name: "dig", arguments: .string(deep.jsonString))))
        #expect(reply.parts.contains(.toolCall(id: "3", name: "dig", arguments: deepest)))
        #expect(results["1"] == .string(deeper.jsonString))
        #expect(results["2"]?["error"] != nil)
        #expect(results["3"] == ["depth": "inf"])
        let store = InMemoryChatStorage()
        try await store.save(reply, userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
    }

    @Test("An agent runs tools until the model finishes, in one message with the usage of all rounds")
    func toolLoop() async throws {
        func end(_ reason: FinishReason) -> LLMStreamEvent {
            .done(LLMCompletion(reason: reason, usage: TokenUsage(input: 10, output: 1)))
        }
        let model = ScriptedModel(
            says: [.textDelta("Let me see. "), .toolCall(id: "1", name: "echo", arguments: ["a": 1]), end(.toolCalls)],
            [.toolCall(id: "2", name: "echo", arguments: ["b": 2]), end(.toolCalls)],
            [.textDelta("Done."), end(.stop)])
        let events = try await agent(model, [echo]).run("Go")
        let reply = try #require(events.reply)
        #expect(
            reply.parts == [
                .text("Let me see. "), .toolCall(id: "1", name: "echo", arguments: ["a": 1]),
                .toolResult(id: "1", content: ["a": 1]), .toolCall(id: "2", name: "echo", arguments: ["b": 2]),
                .toolResult(id: "2", content: ["b": 2]), .text("Done."),
            ])
        #expect(events.pieces == reply.parts)
        #expect(reply.usage == TokenUsage(input: 30, output: 3))
        #expect(model.requests.map(\.messages.count) == [1, 2, 2])
        #expect(model.requests[2].messages[1].parts == Array(reply.parts.dropLast()))
    }

    @Test("The tool calls of a round run concurrently, with results in the order of the calls")
    func concurrentCalls() async throws {
        let (secondIsDone, signal) = AsyncStream<Void>.makeStream()
        let first = AgentTool(name: "first", description: "Ends after the second.") { _, _ in
            for await _ in secondIsDone { break }
            return .text("one")
        }
        let second = AgentTool(name: "second", description: "Ends at once.") { _, _ in
            signal.yield()
            return .text("two")
        }
        let model = ScriptedModel(
            says: [
                .toolCall(id: "a", name: "first", arguments: [:]), .toolCall(id: "b", name: "second", arguments: [:]),
            ],
            [.textDelta("ok")])
        let events = try await agent(model, [first, second]).run("Go")
        #expect(events.results == ["one", "two"])
        #expect(
            events.reply?.parts.dropLast() == [
                .toolCall(id: "a", name: "first", arguments: [:]), .toolCall(id: "b", name: "second", arguments: [:]),
                .toolResult(id: "a", content: "one"), .toolResult(id: "b", content: "two"),
            ])
    }

    @Test("A failed tool call returns its error message to the model, and the turn continues")
    func failures() async throws {
        let broken = AgentTool(name: "broken", description: "Fails.") { _, _ in
            throw RecollectError(.notFound, "there is no such manual")
        }
        let refusing = AgentTool(name: "refusing", description: "Fails.") { _, _ in
            ToolResult("not today", isError: true)
        }
        let model = ScriptedModel(
            says: [
                .toolCall(id: "1", name: "nosuch", arguments: [:]),
                .toolCall(id: "2", name: "echo", arguments: "{\"a\":"),
                .toolCall(id: "3", name: "broken", arguments: [:]),
                .toolCall(id: "4", name: "refusing", arguments: [:]),
                .toolCall(id: "5", name: "echo", arguments: ""),
            ], [.textDelta("Sorry")])
        let events = try await agent(model, [echo, broken, refusing]).run("Go")
        let errors = events.results.map { $0["error"]?.stringValue }
        #expect(errors[0]?.contains("nosuch") == true && errors[0]?.contains("echo, broken, refusing") == true)
        #expect(errors[1]?.contains("JSON object") == true)
        #expect(errors[2] == "there is no such manual")
        #expect(errors[3] == "not today")
        #expect(events.results[4] == [:])
        #expect(events.reply?.text == "Sorry")
        #expect(events.errors.isEmpty)
    }

    @Test("Each tool call gets a unique ID, even if the model server repeats or omits IDs")
    func callIds() async throws {
        let call = LLMStreamEvent.toolCall(id: "call_0", name: "echo", arguments: [:])
        let nameless = LLMStreamEvent.toolCall(id: "", name: "echo", arguments: [:])
        let model = ScriptedModel(says: [call, call], [call, nameless, nameless], [.textDelta("ok")])
        let history = [
            ConversationMessage(role: .user, text: "Go"),
            ConversationMessage(
                role: .assistant,
                parts: [.toolCall(id: "call_0", name: "echo", arguments: [:]), .toolResult(id: "call_0", content: 1)]),
        ]
        let reply = try #require(try await agent(model, [echo]).run("Again", history: history).reply)
        let ids = reply.parts.compactMap { if case .toolCall(let id, _, _) = $0 { id } else { nil } }
        #expect(ids.count == 5)
        #expect(Set(ids + ["", "call_0"]).count == 7)
        #expect((history + [reply]).wholeExchanges() == history + [reply])
    }

    @Test("The last allowed round forbids tool calls", arguments: [1, 3])
    func cap(rounds: Int) async throws {
        let call = ScriptedModel.Round.says([.toolCall(id: "x", name: "echo", arguments: [:])])
        let model = ScriptedModel(
            Array(repeating: call, count: rounds - 1) + [.says([.textDelta("That is all I know.")])])
        let events = try await agent(model, [echo], rounds: rounds).run("Go")
        let choices = Array(repeating: LLMRequest.ToolChoice.automatic, count: rounds - 1) + [.none]
        #expect(model.requests.map(\.toolChoice) == choices)
        #expect(events.reply?.text == "That is all I know.")
        #expect(events.errors.isEmpty)
    }

    @Test("A tool call in the last round does not run, and the reply has no call without a result")
    func disobedience() async throws {
        let runs = Locked(0)
        let counted = AgentTool(name: "counted", description: "Counts.") { _, _ in
            runs.withLock { $0 += 1 }
            return .text("ok")
        }
        let model = ScriptedModel(says: [.toolCall(id: "x", name: "counted", arguments: [:])])
        let events = try await agent(model, [counted], rounds: 3).run("Go")
        let reply = try #require(events.reply)
        #expect(model.requests.count == 3)
        #expect(runs.withLock { $0 } == 2)
        #expect([reply].wholeExchanges() == [reply])
        #expect(reply.isInterrupted)
        #expect(events.errors.count == 1)
    }

    @Test(
        "A reply cut off by the model is interrupted and reports an error",
        arguments: [FinishReason.length, .contentFilter])
    func cutOff(reason: FinishReason) async throws {
        let model = ScriptedModel(says: [.textDelta("The answer is"), .done(LLMCompletion(reason: reason))])
        let events = try await agent(model).run("Go")
        #expect(events.errors.count == 1)
        #expect(events.reply?.isInterrupted == true)
        #expect(events.reply?.text == "The answer is")
    }

    @Test("An empty completion reports an error")
    func silence() async throws {
        let events = try await agent(ScriptedModel(says: [])).run("Go")
        #expect(events.errors.count == 1)
        #expect(events.reply?.parts.isEmpty == true)
    }

    @Test("An error of the model is thrown after the events before it")
    func modelFailure() async throws {
        struct Down: Error {}
        var pieces: [AgentEvent] = []
        await #expect(throws: Down.self) {
            let model = ScriptedModel([.fails([.textDelta("I")], Down())])
            for try await event in agent(model).process("Hi", history: [], context: .test) { pieces.append(event) }
        }
        #expect(pieces == [.textDelta("I")])
    }

    @Test("A completion without an end throws, and none of its tool calls run")
    func hangUp() async throws {
        let forbidden = AgentTool(name: "pay", description: "Pays.") { _, _ in
            Issue.record("a tool call of an unfinished completion was run")
            return .text("paid")
        }
        let model = ScriptedModel([.hangsUp([.toolCall(id: "1", name: "pay", arguments: [:])])])
        let error = await #expect(throws: RecollectError.self) { try await agent(model, [forbidden]).run("Go") }
        #expect(error?.code == .unreadable)
    }

    @Test("Ending the iteration of the agent's stream stops the model")
    func stopModel() async throws {
        let model = ScriptedModel([.stalls([.textDelta("I")])])
        for try await _ in agent(model).process("Hi", history: [], context: .test) { break }
        for await _ in model.stopped { break }
    }

    @Test("Cancellation stops running tools and prevents further model requests")
    func stopTools() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let ended = Locked<Bool?>(nil)
        let slow = AgentTool(name: "slow", description: "Takes an hour.") { _, _ in
            begin.yield()
            try? await Task.sleep(for: .seconds(3600))
            ended.withLock { $0 = Task.isCancelled }
            return .text("late")
        }
        let model = ScriptedModel(says: [.toolCall(id: "1", name: "slow", arguments: [:])])
        let agent = agent(model, [slow])
        // Runs the turn directly: behind the agent's stream, its task continues after the iteration has ended.
        let work = Task {
            let (_, stream) = AsyncThrowingStream<AgentEvent, any Error>.makeStream()
            var turn = AgentTurn(agent: agent, input: "Go", history: [], context: .test, stream: stream)
            try await turn.run()
        }
        for await _ in begun { break }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(ended.withLock { $0 } == true)
        #expect(model.requests.count == 1)
    }

    @Test("A tool that throws a cancellation error ends the agent's run")
    func canceledTool() async throws {
        let cancelled = AgentTool(name: "cancelled", description: "Stops.") { _, _ in throw CancellationError() }
        let model = ScriptedModel(says: [.toolCall(id: "1", name: "cancelled", arguments: [:])])
        await #expect(throws: CancellationError.self) { try await agent(model, [cancelled]).run("Go") }
    }
}
