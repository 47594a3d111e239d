import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

/// Things that people say, each with the agent that a careful reader of the agents' descriptions and of the session so far
/// would hand it to.
struct RoutingCases: Decodable {
    /// The sets of agents, by name; in each the default agent comes first.
    let agents: [String: [Agent]]
    let cases: [Case]

    /// An agent that is chosen, and never asked anything.
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
        /// The id of the agent; that of the default one where none fits.
        let expected: String

        /// The session, as `ChatStorage.fetchAllChats` gives it.
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
        /// Begins another subject, which another agent is there for.
        case `switch`
        /// Makes sense only as an answer to what the last agent said.
        case followUp
    }

    struct Turn: Decodable {
        let user: String
        /// The id of the agent that answered.
        let agent: String
        let reply: String
    }

    /// Where a classifier chose another agent than expected.
    struct Miss: CustomStringConvertible {
        let id: String
        let kind: Kind
        let expected: String
        let chosen: String

        var description: String { "\(id) (\(kind)): \(chosen) instead of \(expected)" }
    }

    /// A fixture of cases.
    enum Fixture: String, CaseIterable {
        /// Sixty.
        case known = "routing-cases"
        /// A hundred, which the subjects and the weights of `KeywordClassifier` were chosen by.
        case tuning = "routing-cases-tuning"
        /// A hundred and twenty, which a classifier is measured by and never mended for.
        case unseen = "routing-cases-unseen"
    }

    /// Reads the cases of a fixture.
    static func load(_ fixture: Fixture = .known) throws -> RoutingCases {
        let file = try #require(
            Bundle.module.url(forResource: "Fixtures/\(fixture.rawValue)", withExtension: "json"))
        return try JSONDecoder().decode(RoutingCases.self, from: Data(contentsOf: file))
    }

    /// How many cases a classifier hands to the expected agent, and which not. As in an orchestrator, the first agent answers where
    /// it chooses none.
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
