#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectBuiltInAgents

    struct ChatCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "chat",
            abstract: "Chat with agents; messages are saved.",
            discussion: """
                Continues the most recent session, or starts a new one. Without MESSAGE, prompts for messages; lines that \
                begin with / are commands (/help lists them). Ctrl-C stops a reply and saves the received text. Replies are \
                saved while they stream: a crash loses at most the last second.

                Two agents reply without a model: Historian searches your sessions, and Scribe takes notes in the journal. The \
                agent is chosen by the words of the message and of the session. With --model, an Assistant replaces both; it \
                can search the history, read sessions, and take and read notes. The API key comes from the environment \
                variable OPENAI_API_KEY, and the server from --base-url or OPENAI_BASE_URL; the default is OpenAI's server. \
                With --agents, the agents come from a YAML or JSON file:

                    classifier: keyword            # or model: ask the model below
                    model: gpt-5-mini              # the default model of the agents
                    base_url: http://localhost:11434/v1
                    api_key_env: OPENAI_API_KEY    # the variable with the key
                    history_tokens: 50000          # the estimated size of the history sent to a model
                    agents:
                      - name: Navigator
                        description: Plans routes, tides and harbors.
                        prompt: You are a calm navigator.
                        tools: [search_history, read_session, take_note, read_notes, memory]
                      - kind: historian            # or scribe: no model

                The first agent is the default. An agent may have its own model, base_url and api_key_env. A server other than \
                OpenAI's is sent a key only if the file names the variable with the key. The tool memory keeps an agent's \
                notes across sessions, in the folder Memories of the workspace (RECOLLECT_WORKSPACE, or the default one; \
                `recall workspace --help`).

                Without a terminal, each line of standard input is a message, and only replies go to standard output. After a \
                failed turn, the next lines are still sent; a failed command ends the chat. In both cases, the exit code is 1. \
                After Ctrl-C, it is 130; after SIGTERM, 143.

                JSON: one line for each event: session (id), began (replyId, agentId, inputId), thinking and text (text), \
                toolCall (id, name, arguments), toolResult (id, content), error (message), final (message, as in `recall \
                show`), failed (message).

                The lines you type are saved for the ↑ key in the file chat-history in the folder of the history, one file for \
                each user; deleting a session does not delete them.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "Send this message, print the reply and exit.")
        var message: [String] = []

        @Option(name: .long, help: "Continue this session: its ID or a prefix.")
        var session: String?

        @Flag(name: .long, help: "Start a new session.")
        var new = false

        @Option(name: .long, help: ArgumentHelp("The agents file: YAML or JSON.", valueName: "file"))
        var agents: String?

        @Option(name: .long, help: ArgumentHelp("Chat with an assistant that uses this model.", valueName: "name"))
        var model: String?

        @Option(
            name: .long,
            help: ArgumentHelp("The base URL of the model server, such as https://host/v1.", valueName: "url"))
        var baseURL: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The folder for notes (default: journal in the folder of the history).", valueName: "dir"))
        var journal: String?

        func validate() throws {
            if new, session != nil { throw ValidationError("--new and --session cannot be used together.") }
            if agents != nil, model != nil { throw ValidationError("--agents and --model cannot be used together.") }
            if baseURL != nil, model == nil { throw ValidationError("--base-url requires --model.") }
            if let baseURL, AgentsFile.serverURL(baseURL) == nil {
                throw ValidationError("--base-url must be a server URL, such as https://host/v1.")
            }
            if [model, journal, agents].contains("") {
                throw ValidationError("--model, --journal and --agents must not be empty.")
            }
            if !message.isEmpty, message.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) {
                throw ValidationError("The message is empty.")
            }
        }

        func run() async throws {
            try await options.withHistory(makes: true) { history in
                options.printEvents(of: history)
                let team = try team(history)
                let session = try await session(in: history)
                try await Output.open { output in
                    let signals = Signals()
                    let chat = Chat(
                        history: history, options: options, team: team,
                        session: session?.id ?? .new(of: options.user), output: output, signals: signals)
                    let result: Result<Void, any Error>
                    do {
                        try await chat.printSession()
                        result = .success(try await talk(in: chat, session, signals))
                    } catch {
                        result = .failure(error)
                    }
                    await chat.finish()
                    try result.get()
                }
            }
        }

        private func talk(in chat: Chat, _ session: Session?, _ signals: Signals) async throws {
            let usesEditor = message.isEmpty && !options.json
            let input = ChatInput(
                usesEditor: usesEditor, lines: TypedLines(in: options.directory, of: options.user), signals: signals)
            let loop = ChatLoop(chat: chat, input: input, signals: signals)
            guard message.isEmpty else { return try await loop.runOnce(message.joined(separator: " ")) }
            guard input.isInteractive else { return try await loop.runPiped() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await loop.runAtTerminal(opening: session))
            } catch {
                result = .failure(error)
            }
            await input.end()
            try result.get()
        }

        /// The session to continue; `nil` for a new one.
        private func session(in history: any HistoryStore) async throws -> Session? {
            if let session { return try await options.session(session, in: history) }
            guard !new else { return nil }
            return try await history.sessions(of: options.user, page: PageRequest(limit: 1)).elements.first
        }

        private func team(_ history: any HistoryStore) throws -> AgentRoster {
            let file = try agents.map { try AgentsFile.read($0) }
            let folder = journal.map { URL(fileURLWithPath: $0, isDirectory: true) }
            let means = AgentFactory(
                history: history,
                journal: JournalFolder(
                    baseURL: folder ?? options.directory.appendingPathComponent("journal", isDirectory: true)),
                workspace: file?.usesWorkspace == true ? try WorkspaceOptions.opened(root: nil, makes: true) : nil,
                environment: ProcessInfo.processInfo.environment)
            if let file { return try .team(of: file, means) }
            guard let model else { return .builtIn(means) }
            let server = baseURL.flatMap(AgentsFile.serverURL)
            return try .assistant(
                AgentsFile.Model(name: model, baseURL: server, keyVariable: AgentFactory.keyVariable), means)
        }
    }
#endif
