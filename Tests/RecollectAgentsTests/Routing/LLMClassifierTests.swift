import RecollectAgents
import RecollectCore
import Testing

@Suite("LLM classifier")
struct LLMClassifierTests {
    private let agents = [
        SilentAgent("Billing", "Knows invoices."), SilentAgent("Tech Support", "Knows devices."),
    ]

    private func select(_ arguments: JSONValue) -> ScriptedModel {
        ScriptedModel(says: [.toolCall(id: "1", name: "select_agent", arguments: arguments)])
    }

    private func choices(_ model: ScriptedModel) throws -> [String] {
        let schema = try #require(model.requests.first?.tools.first?.inputSchema)
        return try #require(schema["properties"]?["agent"]?["enum"]?.arrayValue).compactMap(\.stringValue)
    }

    @Test("A classifier sends one request with the agents' IDs as the choices of a required tool")
    func request() async throws {
        let model = select(["agent": "tech-support", "confidence": 0.9])
        let result = try await LLMClassifier(model: model).classify("It beeps", history: [], agents: agents)
        #expect(result.selectedAgent?.id == "tech-support")
        #expect(result.confidence == 0.9)
        #expect(model.requests.count == 1)
        #expect(try choices(model) == ["billing", "tech-support"])
        let request = try #require(model.requests.first)
        #expect(request.toolChoice == .tool("select_agent"))
        #expect(request.system?.contains("Knows invoices.") == true)
        #expect(request.messages.map(\.role) == [.user])
        #expect(request.messages[0].text.hasSuffix("It beeps"))
    }

    @Test(
        "A missing, unknown or invalid choice of the model chooses no agent",
        arguments: [
            [], [.textDelta("billing")],
            [.toolCall(id: "1", name: "select_agent", arguments: ["agent": "sales", "confidence": 1])],
            [.toolCall(id: "1", name: "select_agent", arguments: ["confidence": 1])],
            [.toolCall(id: "1", name: "select_agent", arguments: "{\"agent\": \"bil")],
            [.toolCall(id: "1", name: "other_tool", arguments: ["agent": "billing"])],
        ] as [[LLMStreamEvent]])
    func none(events: [LLMStreamEvent]) async throws {
        let model = ScriptedModel(says: events)
        let result = try await LLMClassifier(model: model).classify("Hi", history: [], agents: agents)
        #expect(result.selectedAgent == nil)
        #expect(result.confidence == 0)
    }

    @Test(
        "The confidence is clamped to the range from 0 to 1",
        arguments: [(JSONValue.integer(90), 1.0), (-1, 0), (.null, 0.5)])
    func confidence(given: JSONValue, expected: Double) async throws {
        let model = select(["agent": "billing", "confidence": given])
        let result = try await LLMClassifier(model: model).classify("Hi", history: [], agents: agents)
        #expect(result.confidence == expected)
    }

    @Test("With one agent or none, the model receives no request")
    func single() async throws {
        let model = select(["agent": "billing"])
        let classifier = LLMClassifier(model: model)
        let one = try await classifier.classify("Hi", history: [], agents: [agents[1]])
        #expect(one.selectedAgent?.id == "tech-support")
        #expect(try await classifier.classify("Hi", history: [], agents: []).selectedAgent == nil)
        #expect(model.requests.isEmpty)
    }

    @Test("Agents with an empty or duplicate ID get unique choices")
    func awkwardIds() async throws {
        let awkward = [
            SilentAgent("!", "One.", id: ""), SilentAgent("数学", "Two."), SilentAgent("A", "Three.", id: "agent-1"),
            SilentAgent("B", "Four.", id: "agent-1"),
        ]
        let model = select(["agent": "agent-4"])
        let result = try await LLMClassifier(model: model).classify("Hi", history: [], agents: awkward)
        #expect(result.selectedAgent?.description == "Four.")
        #expect(try choices(model) == ["agent-1-", "数学", "agent-1", "agent-4"])
    }

    @Test("The request holds the text of the newest messages, each up to a size limit")
    func bounds() async throws {
        let model = select(["agent": "billing"])
        var history = (0..<100).map { index in
            ConversationMessage(role: index % 2 == 0 ? .user : .assistant, text: "<\(index)>")
        }
        history[99] = ConversationMessage(
            role: .assistant,
            parts: [
                .text("[billing] " + String(repeating: "é", count: 100_000)), .thinking("secret", signature: nil),
                .toolCall(id: "1", name: "look_up", arguments: ["key": "secret"]),
                .toolResult(id: "1", content: "secret"),
            ])
        let input = String(repeating: "x", count: 100_000)
        _ = try await LLMClassifier(model: model).classify(input, history: history, agents: agents)
        let sent = try #require(model.requests.first?.messages.first?.text)
        #expect(!sent.contains("<79>") && sent.contains("<80>") && sent.contains("<98>") && sent.contains("[billing]"))
        #expect(!sent.contains("secret") && !sent.contains("\u{FFFD}"))
        #expect(sent.utf8.count < LLMClassifier.messageByteLimit + LLMClassifier.inputByteLimit + 500)
    }

    @Test("An error of the model is thrown")
    func failure() async throws {
        struct Down: Error {}
        let model = ScriptedModel([.fails([], Down())])
        await #expect(throws: Down.self) {
            try await LLMClassifier(model: model).classify("Hi", history: [], agents: agents)
        }
    }

    @Test("Cancellation stops the model", .timeLimit(.minutes(10)))
    func cancellation() async throws {
        let model = ScriptedModel([.stalls([])])
        let agents = agents
        let task = Task { try await LLMClassifier(model: model).classify("Hi", history: [], agents: agents) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
