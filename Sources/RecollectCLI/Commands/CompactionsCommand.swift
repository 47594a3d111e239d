#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct CompactionsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compactions",
            abstract: "List the compactions of a session: summaries for agents in place of old messages.",
            discussion: """
                The messages stay in the session. The last compaction of an agent is in effect; --remove removes one permanently, \
                and the one before is in effect again.

                JSON: a list of objects with the keys id, agentId, author, createdAt, messageCount, lastMessageId, previousId and \
                summary.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session ID, or a unique prefix of one.")
        var session: String

        @Option(
            name: .long,
            help: ArgumentHelp("Remove this compaction: its ID or a unique prefix of one.", valueName: "id"))
        var remove: String?

        func validate() throws {
            if remove == "" { throw ValidationError("--remove must not be empty.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                let session = try await options.session(session, in: history)
                if let remove {
                    let (agentId, compaction) = try await one(remove, of: session, in: history)
                    try await history.removeCompaction(compaction.id, of: session.id.scope(agentId: agentId))
                }
                let all = try await history.compactions(of: session)
                try await Output.open(paged: !options.json) { output in
                    if options.json {
                        try await output.list(all, isFirst: true) { agentId, compaction in
                            Array(compaction.listed(agentId: agentId).jsonString.utf8)
                        }
                        return try await output.line(all.isEmpty ? "[]" : "\n]")
                    }
                    guard !all.isEmpty else { return try await output.line("The session has no compactions.") }
                    for line in lines(all, output) { try await output.line(line) }
                }
            }
        }

        private func one(
            _ id: String, of session: Session, in history: any HistoryStore
        ) async throws -> (agentId: String, compaction: Compaction) {
            let found = try await history.compactions(of: session).filter {
                $0.compaction.id.lowercased().hasPrefix(id.lowercased())
            }
            guard found.count == 1, let one = found.first else {
                throw RecollectError(
                    .notFound,
                    found.isEmpty
                        ? "the session has no compaction '\(id.visible)'; `recall compactions` lists them"
                        : "'\(id.visible)' is the beginning of several compactions; give more of the ID")
            }
            return one
        }

        private func lines(_ all: [(agentId: String, compaction: Compaction)], _ output: Output) -> [String] {
            let (format, style) = (Format(), output.style)
            var table = Table(columns: [
                .init(heading: "COMPACTION", paint: style.cyan), .init(heading: "MADE"),
                .init(heading: "MESSAGES", isRight: true), .init(heading: "AGENT", isOptional: true),
                .init(heading: "AUTHOR", isOptional: true), .init(heading: "SUMMARY", paint: style.bold),
            ])
            for (agentId, compaction) in all {
                table.rows.append([
                    compaction.id.prefix(8).lowercased(), format.short(compaction.createdAt),
                    Format.grouped(compaction.messageCount), agentId.oneLine.cut(to: 36),
                    compaction.author.oneLine.cut(to: 36), compaction.summary.oneLine.cut(to: 200),
                ])
            }
            return table.lines(style: style, width: output.columns)
        }
    }

    extension HistoryStore {
        /// Returns the compactions of all agents of a session, each agent's oldest first.
        func compactions(of session: Session) async throws -> [(agentId: String, compaction: Compaction)] {
            var all: [(agentId: String, compaction: Compaction)] = []
            for agentId in session.agentIds {
                let compactions = try await compactions(of: session.id.scope(agentId: agentId))
                all += compactions.map { (agentId, $0) }
            }
            return all
        }
    }

    extension Compaction {
        fileprivate func listed(agentId: String) -> JSONValue {
            var listed = fields
            listed["agentId"] = .string(agentId)
            listed["createdAt"] = .integer(createdAt.millisecondsSince1970)
            listed["previousId"] = JSONValue(previousId)
            listed["summary"] = .string(summary)
            return .object(listed)
        }
    }
#endif
