#if CommandLine
    import Foundation
    import Recollect

    /// The agents of a chat, and their classifier.
    struct AgentRoster {
        /// The agents. The first one is the default.
        let agents: [any AgentProtocol]
        /// The classifier; `nil` for a single agent.
        let classifier: (any Classifier)?
        /// The maximum number of tokens of the history given to an agent; `nil` for no limit.
        let historyTokens: Int?

        private init(agents: [any AgentProtocol], classifier: any Classifier, historyTokens: Int? = nil) {
            self.agents = agents
            self.historyTokens = historyTokens
            self.classifier = agents.count > 1 ? classifier : nil
        }

        /// Returns the team of the two agents without a model: historian and scribe.
        static func builtIn(_ means: AgentFactory) -> AgentRoster {
            AgentRoster(agents: [means.historian(), means.scribe()], classifier: KeywordClassifier())
        }

        /// Returns a team of one assistant with a model, and the tools for the history and the journal. The historian and the scribe are not in it:
        /// its tools cover their tasks. Beside them, keywords would route each message, and a request without a
        /// keyword would go to the last agent.
        /// - Throws: `invalidArgument` if the model's client cannot be created.
        static func assistant(_ model: AgentsFile.Model, _ means: AgentFactory) throws -> AgentRoster {
            let assistant = AgentsFile.Agent(
                name: "Assistant", description: "Answers questions and helps with any task.",
                kind: .model(model, prompt: nil, tools: AgentsFile.Tool.ofAssistant))
            return AgentRoster(agents: [try means.agent(assistant)], classifier: KeywordClassifier())
        }

        /// Returns the team of a file.
        /// - Throws: `invalidArgument` if a model's client cannot be created.
        static func team(of file: AgentsFile, _ means: AgentFactory) throws -> AgentRoster {
            let agents = try file.agents.map(means.agent)
            guard file.routing == .model, let model = file.model else {
                return AgentRoster(
                    agents: agents, classifier: KeywordClassifier(), historyTokens: file.historyTokens)
            }
            return AgentRoster(
                agents: agents, classifier: LLMClassifier(model: try means.client(model)),
                historyTokens: file.historyTokens)
        }
    }
#endif
