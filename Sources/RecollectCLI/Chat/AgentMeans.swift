#if CommandLine
    import Foundation
    import Recollect
    import RecollectModels

    /// What agents are made with: the history, the journal, and the keys of models.
    struct AgentMeans {
        let history: any HistoryStore
        let journal: JournalFolder
        /// The environment, which holds keys: never on a command line, where other users can read them.
        let environment: [String: String]

        /// The environment variable that holds a model's key unless another is named.
        static let keyVariable = "OPENAI_API_KEY"

        /// The environment variable that names a model's server.
        private static let serverVariable = "OPENAI_BASE_URL"

        /// Makes an agent as a file describes it.
        /// - Throws: `invalidArgument` where its model cannot be asked.
        func agent(_ agent: AgentsFile.Agent) throws -> any AgentProtocol {
            switch agent.kind {
            case .historian: return historian(agent.name, agent.description)
            case .scribe: return scribe(agent.name, agent.description)
            case .model(let model, let prompt, let tools):
                let (name, description) = (agent.name ?? "", agent.description ?? "")
                guard let prompt else {
                    return Agent(
                        name: name, description: description, model: try client(model), tools: tools.map(tool))
                }
                return Agent(
                    name: name, description: description, model: try client(model), tools: tools.map(tool),
                    systemPrompt: prompt)
            }
        }

        /// The agent that finds what was said; what is not given is as usual.
        func historian(_ name: String? = nil, _ description: String? = nil) -> any AgentProtocol {
            let usual = HistorianAgent(history: history)
            return HistorianAgent(
                history: history, name: name ?? usual.name, description: description ?? usual.description,
                calendar: Format.calendar)
        }

        /// The agent that takes notes; what is not given is as usual.
        func scribe(_ name: String? = nil, _ description: String? = nil) -> any AgentProtocol {
            let usual = ScribeAgent(journal: journal)
            return ScribeAgent(
                journal: journal, name: name ?? usual.name, description: description ?? usual.description,
                calendar: Format.calendar)
        }

        private func tool(_ tool: AgentsFile.Tool) -> AgentTool {
            switch tool {
            case .searchHistory: HistoryTools(history: history).searchHistory
            case .readSession: HistoryTools(history: history).readSession
            case .takeNote: JournalTools(journal: journal).takeNote
            case .readNotes: JournalTools(journal: journal).readNotes
            }
        }

        /// The client of a model.
        /// - Throws: `invalidArgument` where its key is missing.
        func client(_ model: AgentsFile.Model) throws -> any LLMClient {
            let key = model.keyVariable.flatMap { environment[$0] }.flatMap { $0.isEmpty ? nil : $0 }
            var server = model.baseURL
            if server == nil, let named = environment[Self.serverVariable], !named.isEmpty {
                guard let url = AgentsFile.serverURL(named) else {
                    throw RecollectError(
                        .invalidArgument, "\(Self.serverVariable) is no address of a server: https://…/v1 would be one")
                }
                server = url
            }
            guard let server else {
                guard key != nil else {
                    throw RecollectError(
                        .invalidArgument,
                        "OpenAI's server wants a key: set \(model.keyVariable ?? Self.keyVariable), or name a server of your own with --base-url or base_url"
                    )
                }
                return ChatCompletionsClient(model: model.name, apiKey: key)
            }
            if key == nil, let variable = model.keyVariable, variable != Self.keyVariable {
                throw RecollectError(
                    .invalidArgument, "the environment has no \(variable.visible), which holds a model's key")
            }
            return ChatCompletionsClient(baseURL: server, model: model.name, apiKey: key)
        }
    }
#endif
