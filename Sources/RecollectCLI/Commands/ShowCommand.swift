#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the messages of a session.",
            discussion: """
                Long tool calls, results and thinking are shortened to a few lines; --full prints them completely. Streaming \
                replies are printed last. A line follows the last message summarized for its agent by a compaction (`recall compactions`).

                JSON: a list of objects with the keys id, role, agentId, timestamp, text, parts, metadata; messages are never \
                shortened. In metadata, streamingReply marks a streaming reply, and interrupted marks an interrupted one.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session ID, or a unique prefix of one.")
        var session: String

        @Option(name: .long, help: ArgumentHelp("Only the messages of this agent.", valueName: "id"))
        var agent: String?

        @Option(name: .long, help: ArgumentHelp("Only this many messages, from the end.", valueName: "count"))
        var last: Int?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Print this branch instead (`recall branches`).", valueName: "id"))
        var branch: String?

        @Flag(name: .long, help: "Do not shorten messages.")
        var full = false

        @Flag(name: .long, help: "Print the IDs of messages.")
        var ids = false

        func validate() throws {
            if let last, last < 1 { throw ValidationError("--last must be at least 1.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                var session = try await options.session(session, in: history)
                if let branch { session = try await options.branch(branch, of: session, in: history) }
                if let agent, !session.agentIds.contains(where: agent.hasSameBytes) {
                    let agents = session.agentIds.map { "'\($0.visible)'" }.joined(separator: ", ")
                    throw RecollectError(
                        .notFound, "the session has no messages from agent '\(agent.visible)'; its agents: \(agents)")
                }
                try await Output.open(paged: !options.json) { [session] output in
                    if options.json {
                        try await writeJSON(session, history, output)
                    } else {
                        try await writeText(session, history, output)
                    }
                }
            }
        }

        private func writeJSON(_ session: Session, _ history: any HistoryStore, _ output: Output) async throws {
            var isFirst = true
            try await forEachPage(of: session, history) { page in
                try await output.list(page, isFirst: isFirst) { stored in
                    var writer = JSONWriter()
                    stored.writeListed(to: &writer)
                    return writer.bytes
                }
                isFirst = false
            }
            try await output.line(isFirst ? "[]" : "\n]")
        }

        private func writeText(_ session: Session, _ history: any HistoryStore, _ output: Output) async throws {
            let view = MessageView(
                of: session, style: output.style, columns: output.columns ?? 100, isWhole: full, showsIds: ids)
            for line in view.head(of: session) { try await output.line(line) }
            let compactions = try await history.compactions(of: session)
            try await forEachPage(of: session, history) { page in
                for stored in page {
                    var lines = [""] + view.lines(of: stored)
                    // The last one of the agent is in effect.
                    if let inEffect = compactions.last(where: { $0.agentId.hasSameBytes(as: stored.agentId) }),
                        inEffect.compaction.lastMessageId.hasSameBytes(as: stored.message.id)
                    {
                        lines += ["", view.line(of: inEffect.compaction)]
                    }
                    try await output.line(lines.joined(separator: "\n"))
                }
            }
        }

        /// Passes the requested messages and then the streaming replies to `body`.
        private func forEachPage(
            of session: Session, _ history: any HistoryStore, _ body: ([StoredMessage]) async throws -> Void
        ) async throws {
            // Read first: a reply ending meanwhile is among the messages, and left out here.
            let replies = try await history.streamingReplies(in: session.id)
            if let last {
                let page = try await history.messages(
                    of: session.id, agentId: agent, page: PageRequest(limit: last, before: nil))
                if !page.elements.isEmpty { try await body(page.elements) }
            } else {
                try await history.forEachPage(of: session.id, agentId: agent, body)
            }
            for reply in replies where agent.map(reply.agentId.hasSameBytes) ?? true {
                let saved = try await history.message(reply.message.id, in: session.id, agentId: reply.agentId)
                guard saved == nil else { continue }
                try await body([
                    StoredMessage(
                        agentId: reply.agentId, cursor: MessageCursor(position: .max), message: reply.message)
                ])
            }
        }
    }
#endif
