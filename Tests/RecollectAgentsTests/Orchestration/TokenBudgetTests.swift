import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("The token budget of an orchestrator")
struct TokenBudgetTests {
    /// The texts given to an agent with the last input.
    private let received = Locked<[String]>([])

    private func recordingAgent() -> ScriptedAgent {
        ScriptedAgent { [received] input, history, say in
            received.withLock { $0 = history.map(\.text) }
            say(.textDelta("re \(input.text)"))
        }
    }

    private func orchestrator(_ agent: ScriptedAgent, _ store: any ChatStorage) -> Orchestrator {
        Orchestrator(agents: [agent], store: store, maxTokens: 5, tokenCounter: TokenCounter { _ in 1 })
    }

    @Test(
        "An agent gets whole turns within the budget, pinned ones first, and the store keeps all",
        arguments: AnyStore.allCases)
    func budget(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let agent = recordingAgent()
            let orchestrator = orchestrator(agent, store)
            var rule = ConversationMessage(id: "rule", role: .user, text: "Answer in German.")
            rule.isPinned = true
            try await store.saveMessages(
                [rule, ConversationMessage(id: "yes", role: .assistant, text: "Gern.")],
                userId: "user", sessionId: "session", agentId: agent.id, maxMessages: nil)
            for number in 1...4 { try await orchestrator.say(.text("\(number)", id: "u\(number)")) }
            #expect(received.withLock { $0 } == ["Answer in German.", "Gern.", "3", "re 3"])
            #expect(try await reopen().all().count == 10)
        }
    }

    @Test("An agent gets the summary of a compaction in place of its messages", arguments: AnyStore.allCases)
    func compaction(_ kind: AnyStore) async throws {
        try await kind.with { store, _ in
            let agent = recordingAgent()
            let orchestrator = orchestrator(agent, store)
            for number in 1...4 { try await orchestrator.say(.text("\(number)")) }
            let chat = try await store.compactedMessages(userId: "user", sessionId: "session", agentId: agent.id)
            try await store.compact(
                Array(chat.messages.prefix(6)), into: "so far", by: "writer", after: nil, userId: "user",
                sessionId: "session", agentId: agent.id)
            try await orchestrator.say("5")
            #expect(received.withLock { $0 } == ["so far", "4", "re 4"])
            try await orchestrator.say("6")
            #expect(received.withLock { $0 } == ["so far", "4", "re 4", "5", "re 5"])
            try await orchestrator.say("7")
            #expect(received.withLock { $0 } == ["so far", "5", "re 5", "6", "re 6"])
        }
    }

    /// A store that reports reads of a whole scope, other than that of its compactions.
    private struct BoundedReads: ChatStorage {
        let base = InMemoryChatStorage()

        func fetch(
            userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws -> [ConversationMessage] {
            #expect(maxMessages != nil || agentId.hasPrefix(SummarizingChatStorage.reservedPrefix))
            return try await base.fetch(
                userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }

        func save(
            _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws {
            try await base.save(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }

        func saveMessages(
            _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws {
            try await base.saveMessages(
                messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }

        func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
            try await base.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    @Test("Without a compaction, no turn reads the whole history")
    func boundedReads() async throws {
        let orchestrator = orchestrator(recordingAgent(), BoundedReads())
        for number in 1...4 { try await orchestrator.say(.text("\(number)")) }
        #expect(received.withLock { $0 } == ["2", "re 2", "3", "re 3"])
    }

    @Test("A question whose reply is missing is found beyond the budget, and answered")
    func unanswered() async throws {
        let store = InMemoryChatStorage()
        let agent = ScriptedAgent.echo()
        let question = ConversationMessage(id: "u1", role: .user, text: String(repeating: "long ", count: 100))
        try await store.save(question, userId: "user", sessionId: "session", agentId: agent.id, maxMessages: nil)
        let orchestrator = Orchestrator(agents: [agent], store: store, maxTokens: 3)
        let reply = try await orchestrator.say(AgentInput(question)).reply
        #expect(reply?.text == "You said: \(question.text)")
        #expect(try await store.all().map(\.id) == ["u1", reply?.id])
    }
}
