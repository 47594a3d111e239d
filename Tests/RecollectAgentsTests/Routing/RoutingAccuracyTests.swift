import RecollectAgents
import RecollectCore
import Testing

@Suite("Routing cases")
struct RoutingAccuracyTests {
    @Test(
        "Each set has unique cases, the expected number of follow-ups and only known agents",
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
        "A follow-up expects the last agent, and a switch expects another one",
        arguments: RoutingCases.Fixture.allCases)
    func kinds(fixture: RoutingCases.Fixture) throws {
        for routing in try RoutingCases.load(fixture).cases where routing.kind != .first {
            #expect((routing.history.last?.agent == routing.expected) == (routing.kind == .followUp), "\(routing.id)")
        }
    }

    @Test("Classifiers that always choose the first or the last agent score low")
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

    // Measured: 51 of 60, with all 20 follow-ups.
    @Test("The keyword classifier routes most cases correctly, and almost all follow-ups")
    func keywordClassifier() async throws {
        let result = try await RoutingCases.accuracy(of: KeywordClassifier())
        let misses = result.misses.map(\.description).joined(separator: "\n")
        #expect(result.right >= 50, "\(result.right) of \(result.of); missed:\n\(misses)")
        #expect(result.misses.count { $0.kind == .followUp } <= 1, "\(misses)")
        print("KeywordClassifier: \(result.right) of \(result.of) routing cases right; missed:\n\(misses)")
    }

    // Measured: 88 of 100; 53 before subjects were added.
    @Test("The keyword classifier routes most cases of its tuning set correctly")
    func tuning() async throws {
        let result = try await RoutingCases.accuracy(of: KeywordClassifier(), in: .tuning)
        #expect(result.right >= 86, "\(result.right) of \(result.of)")
    }

    // Measured: 113 of 120, with all 35 follow-ups; 89 before subjects were added. The missed cases are never examined:
    // this set only measures, and improvements use the other sets.
    @Test("The keyword classifier routes most cases outside its tuning set correctly")
    func unseen() async throws {
        let result = try await RoutingCases.accuracy(of: KeywordClassifier(), in: .unseen)
        #expect(result.right >= 102, "\(result.right) of \(result.of)")
        print("KeywordClassifier: \(result.right) of \(result.of) unseen routing cases right")
    }
}
