import RecollectAgents
import RecollectCore
import Testing

@Suite("The sixty routing cases")
struct RoutingAccuracyTests {
    @Test("are sixty different ones, twenty of them follow-ups, over agents that there are")
    func shape() throws {
        let all = try RoutingCases.load()
        #expect(all.cases.count == 60)
        #expect(Set(all.cases.map(\.id)).count == 60)
        #expect(all.cases.count { $0.kind == .followUp } == 20)
        for agents in all.agents.values {
            #expect((2...5).contains(agents.count))
            #expect(Set(agents.map(\.id)).count == agents.count)
            #expect(agents.allSatisfy { !$0.id.isEmpty && !$0.description.isEmpty })
        }
        for routing in all.cases {
            let ids = try #require(all.agents[routing.agents], "\(routing.id)").map(\.id)
            #expect(ids.contains(routing.expected), "\(routing.id)")
            #expect(routing.history.allSatisfy { ids.contains($0.agent) }, "\(routing.id)")
            #expect(routing.history.isEmpty == (routing.kind == .first), "\(routing.id)")
        }
    }

    @Test("are follow-ups where the last agent goes on, switches where another one takes over")
    func kinds() throws {
        for routing in try RoutingCases.load().cases where routing.kind != .first {
            #expect((routing.history.last?.agent == routing.expected) == (routing.kind == .followUp), "\(routing.id)")
        }
    }

    @Test("tell a classifier that reads from one that always takes the default agent, or always the last")
    func blindClassifiers() async throws {
        struct Blind: Classifier {
            let staysWithLast: Bool
            func classify(
                _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
            ) async throws -> ClassifierResult {
                let last = history.last { $0.role == .assistant }?.text ?? ""
                let agent = staysWithLast ? agents.first { last.hasPrefix("[\($0.id)] ") } : nil
                return ClassifierResult(selectedAgent: agent, confidence: 1)
            }
        }
        let first = try await RoutingCases.accuracy(of: Blind(staysWithLast: false))
        let last = try await RoutingCases.accuracy(of: Blind(staysWithLast: true))
        #expect(first.right < 25)
        #expect(last.right < 35)
        #expect(first.of == 60 && first.misses.count == 60 - first.right)
    }
}
