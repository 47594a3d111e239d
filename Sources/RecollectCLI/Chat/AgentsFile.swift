#if CommandLine
    import Foundation
    import Recollect
    import Yams

    /// The agents of a chat, described in a YAML or JSON file.
    struct AgentsFile: Equatable {
        /// The method of choosing an agent.
        enum Routing: String, CaseIterable {
            case keyword, model
        }

        /// The tools available to the models of agents.
        enum Tool: String, CaseIterable {
            case searchHistory = "search_history"
            case readSession = "read_session"
            case takeNote = "take_note"
            case readNotes = "read_notes"
            case memory

            /// The tools of the assistant without a file. `memory` writes to the workspace, so a file has to name it.
            static let ofAssistant: [Tool] = [.searchHistory, .readSession, .takeNote, .readNotes]
        }

        /// A language model and its server.
        struct Model: Equatable {
            var name: String
            /// The address of the server; `nil` for the server of the environment, else OpenAI's.
            var baseURL: URL?
            /// The environment variable for the key; `nil` for a server without a key.
            var keyVariable: String?
        }

        /// The kind of an agent: built-in, or with a model.
        enum Kind: Equatable {
            case historian
            case scribe
            case model(Model, prompt: String?, tools: [Tool])
        }

        struct Agent: Equatable {
            var name: String?
            var description: String?
            var kind: Kind
        }

        /// Whether an agent has the tool `memory`, and so uses the workspace.
        var usesWorkspace: Bool {
            agents.contains { agent in
                guard case .model(_, _, let tools) = agent.kind else { return false }
                return tools.contains(.memory)
            }
        }

        var routing: Routing
        /// The model for classification, and the default model of the agents.
        var model: Model?
        /// The maximum number of tokens of the history given to an agent, as estimated; `nil` for no limit.
        var historyTokens: Int?
        var agents: [Agent]

        /// Reads a file. Blocks.
        /// - Throws: `unreadable` if the file cannot be read or is invalid. The message names the file and, for
        ///   invalid content, the line.
        static func read(_ path: String) throws -> AgentsFile {
            let text: String
            do {
                text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            } catch {
                throw RecollectError(.unreadable, "the agents file \(path.visible) cannot be read", cause: error)
            }
            return try AgentsFile(text, path: path)
        }

        /// Creates the configuration from a file's text.
        init(_ text: String, path: String) throws {
            let root = try AgentsFileNode.root(of: text, path: path)
            let table = try root.table(allowing: [
                "classifier", "model", "base_url", "api_key_env", "history_tokens", "agents",
            ])
            let defaults = ModelKeys(
                name: try table["model"]?.text(), baseURL: try table["base_url"]?.url(),
                keyVariable: try table["api_key_env"]?.text())
            routing = try table["classifier"]?.choice(of: Routing.self) ?? .keyword
            model = defaults.model(default: nil)
            historyTokens = try table["history_tokens"]?.count()
            guard let list = try table["agents"]?.list(), !list.isEmpty else {
                throw root.error("no agents: add a list of them under 'agents'")
            }
            agents = try list.map { try Self.agent($0, defaults: defaults) }
            if routing == .model, model == nil {
                throw root.error("the classifier 'model' requires a 'model'")
            }
            try Self.checkNames(of: agents, in: list)
        }

        /// Returns the address of a server; `nil` unless the text is an HTTP or HTTPS URL with a host.
        static func serverURL(_ text: String) -> URL? {
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host != nil else {
                return nil
            }
            return url
        }

        private static func agent(_ node: AgentsFileNode, defaults: ModelKeys) throws -> Agent {
            let table = try node.table(allowing: [
                "name", "description", "kind", "prompt", "model", "base_url", "api_key_env", "tools",
            ])
            let (name, description) = (try table["name"]?.text(), try table["description"]?.text())
            if let kind = table["kind"] {
                for key in ["prompt", "model", "base_url", "api_key_env", "tools"] {
                    if let value = table[key] {
                        throw value.error("'\(key)' cannot be used with 'kind', which selects a built-in agent")
                    }
                }
                let isHistorian = try kind.choice(of: BuiltIn.self) == .historian
                return Agent(name: name, description: description, kind: isHistorian ? .historian : .scribe)
            }
            guard name != nil else { throw node.error("the agent has no 'name'") }
            guard description != nil else {
                throw node.error("the agent has no 'description', which is needed to choose it")
            }
            let own = ModelKeys(
                name: try table["model"]?.text(), baseURL: try table["base_url"]?.url(),
                keyVariable: try table["api_key_env"]?.text())
            guard let model = own.model(default: defaults) else {
                throw node.error("the agent has no 'model', and the file has no default 'model'")
            }
            let tools = try table["tools"]?.list().map { try $0.choice(of: Tool.self) } ?? []
            return Agent(
                name: name, description: description,
                kind: .model(model, prompt: try table["prompt"]?.text(), tools: tools))
        }

        private enum BuiltIn: String, CaseIterable {
            case historian, scribe
        }

        private static func checkNames(of agents: [Agent], in nodes: [AgentsFileNode]) throws {
            var ids: [String] = []
            for (agent, node) in zip(agents, nodes) {
                let name = agent.name ?? (agent.kind == .historian ? "Historian" : "Scribe")
                guard !name.slug.isEmpty else { throw node.error("the name of the agent has no letters or digits") }
                if ids.contains(where: name.slug.hasSameBytes) {
                    throw node.error("duplicate agent '\(name.visible)': names must be unique")
                }
                ids.append(name.slug)
            }
        }
    }

    /// The keys of a file or an agent for its model.
    private struct ModelKeys {
        var name: String?
        var baseURL: URL?
        var keyVariable: String?

        /// Returns the model, with the file's defaults for missing keys; `nil` without a name. A server named by
        /// an agent gets only a key named by the same agent: keys are not sent to other servers.
        func model(default other: ModelKeys?) -> AgentsFile.Model? {
            guard let name = name ?? other?.name else { return nil }
            let server = baseURL ?? other?.baseURL
            let key = keyVariable ?? (baseURL == nil ? other?.keyVariable : nil)
            return AgentsFile.Model(
                name: name, baseURL: server, keyVariable: key ?? (server == nil ? AgentFactory.keyVariable : nil))
        }
    }
#endif
