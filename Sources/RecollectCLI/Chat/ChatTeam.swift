#if CommandLine
    import Foundation
    import Recollect

    /// Who answers in a chat, and how one of them is chosen.
    struct ChatTeam {
        /// Those there are; the first answers what fits none.
        let agents: [any AgentProtocol]
        /// What chooses; `nil` where there is nothing to choose.
        let classifier: (any Classifier)?

        private init(agents: [any AgentProtocol], classifier: any Classifier) {
            self.agents = agents
            self.classifier = agents.count > 1 ? classifier : nil
        }

        /// The two that need no model.
        static func builtIn(_ means: AgentMeans) -> ChatTeam {
            ChatTeam(agents: [means.historian(), means.scribe()], classifier: KeywordClassifier())
        }

        /// An assistant with a model, alone: it has tools for all that the two do. Beside them, words would have to decide whether a
        /// message is for it, and a request that names no business would go to whoever spoke last.
        /// - Throws: `invalidArgument` where the model cannot be asked.
        static func assistant(_ model: AgentsFile.Model, _ means: AgentMeans) throws -> ChatTeam {
            let assistant = AgentsFile.Agent(
                name: "Assistant", description: "Answers questions and helps with any task.",
                kind: .model(model, prompt: nil, tools: AgentsFile.Tool.allCases))
            return ChatTeam(agents: [try means.agent(assistant)], classifier: KeywordClassifier())
        }

        /// Those of a file.
        /// - Throws: `invalidArgument` where a model cannot be asked.
        static func team(of file: AgentsFile, _ means: AgentMeans) throws -> ChatTeam {
            let agents = try file.agents.map(means.agent)
            guard file.routing == .model, let model = file.model else {
                return ChatTeam(agents: agents, classifier: KeywordClassifier())
            }
            return ChatTeam(agents: agents, classifier: LLMClassifier(model: try means.client(model)))
        }
    }
#endif
