#if CommandLine
    import Foundation
    import Recollect
    import RecollectBuiltInAgents
    import RecollectModels

    /// The dependencies of agents: the history, the journal, the workspace, and the keys of models.
    struct AgentFactory {
        let history: any HistoryStore
        let journal: JournalFolder
        /// The workspace with the memory of agents; `nil` if no agent has the tool `memory`.
        let workspace: SharedWorkspace?
        /// The environment with the models' keys. Other users can read a command line, so keys are never on it.
        let environment: [String: String]

        /// The default environment variable for a model's key.
        static let keyVariable = "OPENAI_API_KEY"

        /// The environment variable for the address of a model's server.
        private static let serverVariable = "OPENAI_BASE_URL"

        /// Creates an agent from its description in a file.
        /// - Throws: `invalidArgument` if the client of its model cannot be created.
        func agent(_ agent: AgentsFile.Agent) throws -> any AgentProtocol {
            switch agent.kind {
            case .historian: return historian(agent.name, agent.description)
            case .scribe: return scribe(agent.name, agent.description)
            case .model(let model, let prompt, let tools):
                let (name, description) = (agent.name ?? "", agent.description ?? "")
                let tools = tools.compactMap { tool($0, of: name.slug) }
                guard let prompt else {
                    return Agent(name: name, description: description, model: try client(model), tools: tools)
                }
                return Agent(
                    name: name, description: description, model: try client(model), tools: tools, systemPrompt: prompt)
            }
        }

        /// Creates the agent for searching the history, with the default name and description unless others are
        /// given.
        func historian(_ name: String? = nil, _ description: String? = nil) -> any AgentProtocol {
            let usual = HistorianAgent(history: history)
            return HistorianAgent(
                history: history, name: name ?? usual.name, description: description ?? usual.description,
                calendar: Format.calendar)
        }

        /// Creates the agent for taking notes, with the default name and description unless others are given.
        func scribe(_ name: String? = nil, _ description: String? = nil) -> any AgentProtocol {
            let usual = ScribeAgent(journal: journal)
            return ScribeAgent(
                journal: journal, name: name ?? usual.name, description: description ?? usual.description,
                calendar: Format.calendar)
        }

        private func tool(_ tool: AgentsFile.Tool, of agentId: String) -> AgentTool? {
            switch tool {
            case .searchHistory: HistoryTools(history: history).searchHistory
            case .readSession: HistoryTools(history: history).readSession
            case .takeNote: JournalTools(journal: journal).takeNote
            case .readNotes: JournalTools(journal: journal).readNotes
            case .memory: workspace.map { MemoryTool(workspace: $0, agentId: agentId).tool }
            }
        }

        /// Creates the client of a model.
        /// - Throws: `invalidArgument` if `OPENAI_BASE_URL` is not an address, if OpenAI's server has no key, or
        ///   if the environment lacks a key variable other than `OPENAI_API_KEY`.
        func client(_ model: AgentsFile.Model) throws -> any LLMClient {
            let key = model.keyVariable.flatMap { environment[$0] }.flatMap { $0.isEmpty ? nil : $0 }
            var server = model.baseURL
            if server == nil, let named = environment[Self.serverVariable], !named.isEmpty {
                guard let url = AgentsFile.serverURL(named) else {
                    throw RecollectError(
                        .invalidArgument,
                        "\(Self.serverVariable) is not a valid server URL: use one like https://host/v1")
                }
                server = url
            }
            guard let server else {
                guard key != nil else {
                    throw RecollectError(
                        .invalidArgument,
                        "OpenAI's server requires an API key: set \(model.keyVariable ?? Self.keyVariable), or specify another server with --base-url or base_url"
                    )
                }
                return ChatCompletionsClient(model: model.name, apiKey: key)
            }
            if key == nil, let variable = model.keyVariable, variable != Self.keyVariable {
                throw RecollectError(
                    .invalidArgument, "the API key of a model is missing: set \(variable.visible)")
            }
            return ChatCompletionsClient(baseURL: server, model: model.name, apiKey: key)
        }
    }
#endif
