#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct SessionsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List the sessions, the latest activity first.",
            discussion: """
                JSON: a list of objects with the keys id, title, createdAt, lastActivityAt, messageCount, agents, \
                workingDirectory, branch, preview, metadata.
                """)

        @OptionGroup var options: StoreOptions

        @Option(name: .shortAndLong, help: "List at most so many sessions.")
        var limit: Int?

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit needs a number from 1.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                try await Output.open(paged: !options.json) { output in
                    if options.json { return try await writeJSON(history, output) }
                    var all: [Conversation] = []
                    try await forEachPage(of: history) { all += $0 }
                    var ids: [String] = []
                    for conversation in all {
                        ids.append(try await options.shortId(of: conversation.id.sessionId, in: history))
                    }
                    for line in lines(all, ids, output) { try await output.line(line) }
                }
            }
        }

        private func writeJSON(_ history: any HistoryStore, _ output: Output) async throws {
            var isFirst = true
            try await forEachPage(of: history) { page in
                try await output.list(page, isFirst: isFirst) { Array($0.listed.jsonString.utf8) }
                isFirst = false
            }
            try await output.line(isFirst ? "[]" : "\n]")
        }

        private func forEachPage(
            of history: any HistoryStore, _ body: ([Conversation]) async throws -> Void
        ) async throws {
            var left = limit ?? .max
            var request = PageRequest<ConversationCursor>(limit: min(left, 200))
            while true {
                let page = try await history.conversations(of: options.user, page: request)
                if !page.elements.isEmpty { try await body(page.elements) }
                left -= page.elements.count
                guard let next = page.next, left > 0 else { return }
                request = PageRequest(limit: min(left, 200), after: next)
            }
        }

        private func lines(_ conversations: [Conversation], _ ids: [String], _ output: Output) -> [String] {
            guard !conversations.isEmpty else {
                return ["No sessions of \(options.user.oneLine) yet. Bring some: recall import ~/.claude/projects"]
            }
            let (format, style) = (Format(), output.style)
            var table = Table(columns: [
                .init(heading: "SESSION", paint: style.cyan), .init(heading: "LAST ACTIVITY"),
                .init(heading: "MESSAGES", isRight: true, isOptional: true),
                .init(heading: "AGENTS", isRight: true, isOptional: true),
                .init(heading: "FOLDER", isOptional: true, paint: style.dim),
                .init(heading: "TITLE", paint: style.bold),
            ])
            table.rows = zip(conversations, ids).map { conversation, id in
                let folder = conversation.workingDirectory.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
                let title = conversation.title ?? conversation.preview
                return [
                    id.oneLine, format.short(conversation.lastActivityAt), Format.grouped(conversation.messageCount),
                    String(conversation.agents.count), (folder ?? "").oneLine.cut(to: 24), title.oneLine,
                ]
            }
            return table.lines(style: style, width: output.columns)
        }
    }
#endif
