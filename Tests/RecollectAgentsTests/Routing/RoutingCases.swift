import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

/// Messages of users, each with the agent that a careful reader of the agents' descriptions and of the session so far
/// would choose.
struct RoutingCases: Decodable {
    /// The sets of agents, by name; the first agent of each set is the default.
    let agents: [String: [Agent]]
    let cases: [Case]

    /// An agent that is only chosen, and never run.
    struct Agent: AgentProtocol, Decodable {
        let name: String
        let description: String

        func process(
            _ input: AgentInput, history: [ConversationMessage], context: AgentContext
        ) -> AsyncThrowingStream<AgentEvent, any Error> {
            AsyncThrowingStream { $0.finish() }
        }
    }

    struct Case: Decodable {
        let id: String
        /// The name of the set.
        let agents: String
        let kind: Kind
        let history: [Turn]
        let input: String
        /// The ID of the agent; the default agent's if none fits.
        let expected: String

        /// The session, as `ChatStorage.fetchAllChats` returns it.
        var messages: [ConversationMessage] {
            history.flatMap {
                [
                    ConversationMessage(role: .user, text: $0.user),
                    ConversationMessage(role: .assistant, text: "[\($0.agent)] \($0.reply)"),
                ]
            }
        }
    }

    enum Kind: String, Decodable, CaseIterable {
        /// Begins a session.
        case first
        /// Begins another subject, which belongs to another agent.
        case `switch`
        /// Makes sense only as a response to the last agent's message.
        case followUp
    }

    struct Turn: Decodable {
        let user: String
        /// The ID of the replying agent.
        let agent: String
        let reply: String
    }

    /// A case for which a classifier chose another agent than expected.
    struct Miss: CustomStringConvertible {
        let id: String
        let kind: Kind
        let expected: String
        let chosen: String

        var description: String { "\(id) (\(kind)): \(chosen) instead of \(expected)" }
    }

    /// A fixture of cases.
    enum Fixture: String, CaseIterable {
        /// 60 cases.
        case known = "routing-cases"
        /// 100 cases, used to choose the subjects and the weights of `KeywordClassifier`.
        case tuning = "routing-cases-tuning"
        /// 120 cases, used only to measure a classifier and never to improve it.
        case unseen = "routing-cases-unseen"
    }

    /// Reads the cases of a fixture.
    static func load(_ fixture: Fixture = .known) throws -> RoutingCases {
        let file = try #require(
            Bundle.module.url(forResource: "Fixtures/\(fixture.rawValue)", withExtension: "json"))
        return try JSONDecoder().decode(RoutingCases.self, from: Data(contentsOf: file))
    }

    /// Counts the cases that a classifier routes to the expected agent, and lists the others. As in an orchestrator,
    /// the first agent replies if the classifier chooses none.
    static func accuracy(
        of classifier: any Classifier, in fixture: Fixture = .known
    ) async throws -> (right: Int, of: Int, misses: [Miss]) {
        let all = try load(fixture)
        var misses: [Miss] = []
        for routing in all.cases {
            let agents = try #require(all.agents[routing.agents])
            let result = try await classifier.classify(routing.input, history: routing.messages, agents: agents)
            let chosen = result.selectedAgent?.id ?? agents[0].id
            if chosen != routing.expected {
                misses.append(
                    Miss(id: routing.id, kind: routing.kind, expected: routing.expected, chosen: chosen))
            }
        }
        return (all.cases.count - misses.count, all.cases.count, misses)
    }
}
