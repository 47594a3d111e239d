import RecollectAgents
import RecollectCore
import Testing

@Suite("The routing cases")
struct RoutingAccuracyTests {
    @Test(
        "are different ones, many of them follow-ups, over agents that there are",
        arguments: [(RoutingCases.Fixture.known, 60, 20), (.tuning, 100, 23), (.unseen, 120, 35)])
    func shape(fixture: RoutingCases.Fixture, count: Int, followUps: Int) throws {
        let all = try RoutingCases.load(fixture)
        #expect(all.cases.count == count)
        #expect(Set(all.cases.map(\.id)).count == count)
        #expect(all.cases.count { $0.kind == .followUp } == followUps)
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

    @Test(
        "are follow-ups where the last agent goes on, switches where another one takes over",
        arguments: RoutingCases.Fixture.allCases)
    func kinds(fixture: RoutingCases.Fixture) throws {
        for routing in try RoutingCases.load(fixture).cases where routing.kind != .first {
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

    // Measured: 51 of 60, all 20 follow-ups.
    @Test("are mostly handed to the right agent by words alone, the follow-ups almost always")
    func keywordClassifier() async throws {
        let result = try await RoutingCases.accuracy(of: KeywordClassifier())
        let misses = result.misses.map(\.description).joined(separator: "\n")
        #expect(result.right >= 50, "\(result.right) of \(result.of); missed:\n\(misses)")
        #expect(result.misses.count { $0.kind == .followUp } <= 1, "\(misses)")
        print("KeywordClassifier: \(result.right) of \(result.of) routing cases right; missed:\n\(misses)")
    }

    // Measured: 88 of 100. 53 before there were subjects.
    @Test("that it was tuned on are mostly right")
    func tuning() async throws {
        let result = try await RoutingCases.accuracy(of: KeywordClassifier(), in: .tuning)
        #expect(result.right >= 86, "\(result.right) of \(result.of)")
    }

    // Measured: 113 of 120, all 35 follow-ups; 89 before there were subjects. Which ones are missed is not looked at: these cases measure,
    // and what is mended is mended by others.
    @Test("that it was not tuned on are mostly right, too")
    func unseen() async throws {
        let result = try await RoutingCases.accuracy(of: KeywordClassifier(), in: .unseen)
        #expect(result.right >= 102, "\(result.right) of \(result.of)")
        print("KeywordClassifier: \(result.right) of \(result.of) unseen routing cases right")
    }
}
