#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct ChatCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "chat",
            abstract: "Talk with agents; what is said is kept.",
            discussion: """
                Goes on with the session of the latest activity, or begins one where there is none. Without MESSAGE it asks for \
                one after the other; what begins with / is a command, and /help tells those there are. Ctrl-C stops a reply and \
                keeps what was said; a reply is kept while it streams, so that a crash loses at most its last second.

                Who answers: Historian, who finds what was said in your sessions, and Scribe, who takes notes into the journal, \
                both without a model; which of them is decided by the words of your message and of the conversation. With --model an \
                Assistant in their place, who may search the history, read sessions, and take and read notes; the API key comes \
                from the environment variable OPENAI_API_KEY, the server from --base-url, else from OPENAI_BASE_URL, else it is \
                OpenAI's. With --agents those of a file, in YAML or JSON:

                    classifier: keyword            # or model, which asks the model below
                    model: gpt-5-mini              # for all that name none
                    base_url: http://localhost:11434/v1
                    api_key_env: OPENAI_API_KEY    # the variable that holds the key
                    agents:
                      - name: Navigator
                        description: Plans routes, tides and harbours.
                        prompt: You are a calm navigator.
                        tools: [search_history, read_session, take_note, read_notes]
                      - kind: historian            # or scribe: no model

                The first agent answers what fits none. An agent may name a model, base_url and api_key_env of its own; a server \
                that is not OpenAI's is given a key only where the file names its variable.

                Without a terminal every line of standard input is a message, and replies alone go to standard output. A turn \
                that fails does not keep the next lines from being said, a command that fails does; both end with exit code 1. \
                Stopped by Ctrl-C it ends with 130, by SIGTERM with 143.

                JSON: a line for each event: session (id), began (replyId, agentId, inputId), thinking and text (text), toolCall \
                (id, name, arguments), toolResult (id, content), error (message), final (message, as `recall show` gives it), \
                failed (message).

                What you type is remembered for the key ↑ in a file chat-history of the history's folder, one for each user; deleting a session does not change it.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "Say this, show the reply and end.")
        var message: [String] = []

        @Option(name: .long, help: "Go on in this session: its id or a beginning of it.")
        var session: String?

        @Flag(name: .long, help: "Begin a new session.")
        var new = false

        @Option(name: .long, help: ArgumentHelp("The agents that answer.", valueName: "file"))
        var agents: String?

        @Option(name: .long, help: ArgumentHelp("An assistant with this model answers.", valueName: "name"))
        var model: String?

        @Option(name: .long, help: ArgumentHelp("The model's server: https://…/v1.", valueName: "url"))
        var baseURL: String?

        @Option(
            name: .long,
            help: ArgumentHelp("Where notes are taken (default: journal, beside the history).", valueName: "dir"))
        var journal: String?

        func validate() throws {
            if new, session != nil { throw ValidationError("--new and --session exclude each other.") }
            if agents != nil, model != nil { throw ValidationError("--agents and --model exclude each other.") }
            if baseURL != nil, model == nil { throw ValidationError("--base-url needs --model.") }
            if let baseURL, AgentsFile.serverURL(baseURL) == nil {
                throw ValidationError("--base-url needs the address of a server: https://…/v1.")
            }
            if [model, journal, agents].contains("") {
                throw ValidationError("--model, --journal and --agents need a value.")
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
            let folder = journal.map { URL(fileURLWithPath: $0, isDirectory: true) }
            let means = AgentFactory(
                history: history,
                journal: JournalFolder(
                    baseURL: folder ?? options.directory.appendingPathComponent("journal", isDirectory: true)),
                environment: ProcessInfo.processInfo.environment)
            if let agents { return try .team(of: AgentsFile.read(agents), means) }
            guard let model else { return .builtIn(means) }
            let server = baseURL.flatMap(AgentsFile.serverURL)
            return try .assistant(
                AgentsFile.Model(name: model, baseURL: server, keyVariable: AgentFactory.keyVariable), means)
        }
    }
#endif
