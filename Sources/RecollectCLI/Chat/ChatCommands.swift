#if CommandLine
    import Foundation
    import Recollect
    import RecollectTranscripts

    /// One line of input, typed or piped.
    enum ChatLine: Equatable {
        /// A message for the agents.
        case message(String)
        /// A command and its argument.
        case command(String, argument: String)

        /// Creates the line from its text. `/name argument` is a command; `//text` is a message with one leading
        /// slash.
        init(_ line: String) {
            guard line.hasPrefix("/"), !line.hasPrefix("//") else {
                self = .message(line.hasPrefix("/") ? String(line.dropFirst()) : line)
                return
            }
            let words = line.dropFirst().split(maxSplits: 1, whereSeparator: \.isWhitespace)
            let argument = words.dropFirst().first.map(String.init) ?? ""
            self = .command(
                words.first.map(String.init) ?? "", argument: argument.trimmingCharacters(in: .whitespaces))
        }
    }

    /// A command of a chat.
    struct ChatCommandDefinition: Sendable {
        /// The name, without the slash.
        let name: String
        /// The usage of its argument; empty for a command without one.
        var argument = ""
        /// The description, on one line.
        let help: String
        /// Runs the command. Returns `false` to end the chat.
        let run: @Sendable (Chat, String) async throws -> Bool

        /// All commands, in the order of `/help`.
        static let all: [ChatCommandDefinition] = [
            .init(name: "sessions", argument: "[SESSION]", help: "list sessions, or continue one") { chat, prefix in
                try await prefix.isEmpty ? chat.listSessions() : chat.switchSession(to: prefix)
                return true
            },
            .init(name: "new", help: "start a new session") { chat, _ in
                try await chat.move(to: .new(of: chat.options.user))
                try await chat.printLines([chat.style.dim("Started a new session.")])
                return true
            },
            .init(name: "fork", help: "copy the session to a new one and continue there") { chat, _ in
                try await chat.fork()
                return true
            },
            .init(name: "undo", help: "undo the last message and reply; a branch keeps them") {
                chat, _ in
                try await chat.undo()
                return true
            },
            .init(name: "search", argument: "WORDS", help: "search the messages of all sessions") { chat, words in
                try await chat.search(words)
                return true
            },
            .init(name: "export", argument: "[FILE]", help: "export the session to a new file: .md, .jsonl or .json") {
                chat, file in
                try await chat.export(to: file)
                return true
            },
            .init(name: "agents", help: "list the agents") { chat, _ in
                let agents = chat.team.agents.map { (id: $0.id.oneLine, purpose: $0.description.oneLine) }
                let width = agents.map(\.id.columns).max() ?? 0
                try await chat.printLines(agents.map { "\(chat.style.cyan($0.id.padded(to: width)))  \($0.purpose)" })
                return true
            },
            .init(name: "help", help: "show this help") { chat, _ in
                try await chat.printLines(helpLines(chat.style))
                return true
            },
            .init(name: "quit", help: "quit (also Ctrl-D)") { _, _ in false },
        ]

        private static func helpLines(_ style: Style) -> [String] {
            let usages = all.map { "/\($0.name) \($0.argument)".trimmingCharacters(in: .whitespaces) }
            let width = usages.map(\.columns).max() ?? 0
            return zip(usages, all).map { "\(style.cyan($0.padded(to: width)))  \($1.help)" } + [
                "\(style.cyan("//text".padded(to: width)))  send text that begins with a slash",
                "Ctrl-C stops a reply and saves the received part.",
            ]
        }
    }

    extension Chat {
        /// Runs a command. Returns `false` to end the chat.
        /// - Throws: `invalidArgument` for an unknown command, or for an argument to a command without one; errors
        ///   of the command.
        func run(command name: String, argument: String) async throws -> Bool {
            guard let command = ChatCommandDefinition.all.first(where: { $0.name == name }) else {
                throw RecollectError(
                    .invalidArgument,
                    "unknown command /\(name.visible); /help lists the commands; to send text that begins with a slash, type //text"
                )
            }
            if command.argument.isEmpty, !argument.isEmpty {
                throw RecollectError(.invalidArgument, "/\(name) takes no arguments")
            }
            return try await command.run(self, argument)
        }

        fileprivate func listSessions() async throws {
            let page = try await history.sessions(of: options.user, page: PageRequest(limit: 20))
            guard !page.elements.isEmpty else { return try await printLines(["No sessions yet."]) }
            var sessions: [(Session, String)] = []
            for session in page.elements {
                sessions.append((session, try await options.shortId(of: session.id.sessionId, in: history)))
            }
            try await printLines(SessionTable(style: style, columns: output.columns).lines(sessions))
            if page.next != nil { try await printLines([style.dim("The latest 20; `recall sessions` lists all.")]) }
        }

        fileprivate func switchSession(to prefix: String) async throws {
            let session = try await options.session(prefix, in: history)
            try await move(to: session.id)
            try await printLines(ChatBanner(chat: self).lines(of: session))
        }

        fileprivate func fork() async throws {
            let made = try await history.forkSession(session, at: nil)
            try await move(to: made.id)
            try await printLines(["Forked to \(style.bold(try await options.name(of: made, in: history)))"])
        }

        fileprivate func undo() async throws {
            guard let message = try await lastUserMessage() else {
                throw RecollectError(.notFound, "nothing to undo: you have not sent a message in this session")
            }
            let branch = try await history.branch(session, from: message.id)
            let branches = try await history.branches(of: session).map(\.id.sessionId)
            let from = ShellWord(try await options.shortId(of: session.sessionId, in: history))
            let kept = ShellWord(try await options.shortId(of: branch.sessionId, in: history, among: branches))
            try await printLines([
                "Undone: \(style.bold(message.text.oneLine.cut(to: 60)))",
                style.dim("To bring it back: recall restore \(from) --branch \(kept)"),
            ])
        }

        /// Returns the user's last message.
        private func lastUserMessage() async throws -> ConversationMessage? {
            var request = PageRequest<MessageCursor>(limit: 20, before: nil)
            while true {
                let page = try await history.messages(of: session, agentId: nil, page: request)
                if let stored = page.elements.last(where: { $0.message.role == .user }) { return stored.message }
                guard let next = page.next else { return nil }
                request = PageRequest(limit: 20, before: next)
            }
        }

        fileprivate func search(_ words: String) async throws {
            guard !words.isEmpty else { throw RecollectError(.invalidArgument, "/search requires words to search for") }
            let page = try await history.search(SearchQuery(userId: options.user, text: words, limit: 5))
            let found = try await FoundMessages(page.elements, context: 0, in: history)
            try await printLines(try await options.lines(of: found, in: history, style: style))
        }

        fileprivate func export(to name: String) async throws {
            let short = try await options.shortId(of: session.sessionId, in: history)
            let path = name.isEmpty ? "\(short.replacingOccurrences(of: "/", with: "_")).md" : name
            let missing = try await ExportFile(path: path).write(session, of: history)
            try await printLines(["Exported to \(path.visible)"] + missing.map { style.red($0.report) })
        }
    }
#endif
