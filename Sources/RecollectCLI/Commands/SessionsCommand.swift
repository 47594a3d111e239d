#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct SessionsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List sessions.",
            discussion: """
                Archived sessions are listed only with --all or --archived. A column without a heading marks pinned (P), \
                unread (U) and archived (A) sessions. TOKENS shows the tokens sent and generated, without cached ones. Empty \
                columns are omitted, as are columns for which the terminal is too narrow.

                JSON: a list of objects with the keys id, title (if set), displayTitle, createdAt, lastActivityAt, lastAccessedAt, \
                messageCount, agents, workingDirectory, gitBranch, preview, tags, isPinned, isArchived, isUnread, usage (input, output, \
                cacheCreation, cacheRead), discardedAt, branchPoint, metadata.

                Exit code 2: messages were lost because a file was damaged. The set-aside file is reported on standard error \
                until it is deleted.
                """)

        @OptionGroup var options: StoreOptions
        @OptionGroup var filter: SessionFilter

        @Option(name: .shortAndLong, help: "The maximum number of sessions.")
        var limit: Int?

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                try await Output.open(paged: !options.json) { output in
                    if options.json { return try await writeJSON(history, output) }
                    for line in try await lines(history, output) { try await output.line(line) }
                }
                if let files = history as? SQLiteHistoryStore { try await printLosses(of: files) }
            }
        }

        /// Prints the losses to standard error, as long as their damaged files exist.
        /// - Throws: `ExitCode.partly` if there are losses.
        private func printLosses(of history: SQLiteHistoryStore) async throws {
            let losses = try await history.losses()
            for loss in losses {
                let count =
                    loss.lostMessages.map { Format.count($0, "message") + " could" }
                    ?? "an unknown number of messages could"
                Output.printError(
                    "recall: \(count) not be read from a damaged database; `recall doctor` lists the sessions; the damaged file is "
                        + "\(options.directory.appendingPathComponent(loss.setAside).path); to dismiss this notice, delete that file"
                )
            }
            if !losses.isEmpty { throw ExitCode.partly }
        }

        private var query: SessionQuery { filter.query(of: options.user) }

        private func writeJSON(_ history: any HistoryStore, _ output: Output) async throws {
            var isFirst = true
            try await history.forEachPage(of: query, limit: limit ?? .max) { page in
                try await output.list(page, isFirst: isFirst) { Array($0.listed.jsonString.utf8) }
                isFirst = false
            }
            try await output.line(isFirst ? "[]" : "\n]")
        }

        private func lines(_ history: any HistoryStore, _ output: Output) async throws -> [String] {
            var found: [Session] = []
            try await history.forEachPage(of: query, limit: limit ?? .max) { found += $0 }
            guard !found.isEmpty else { return [try await reason(history)] }
            let discarded = filter.discarded ? found.map(\.id.sessionId) : []
            var sessions: [(Session, String)] = []
            for session in found {
                let id = session.id.sessionId
                sessions.append((session, try await options.shortId(of: id, in: history, among: discarded)))
            }
            return SessionTable(style: output.style, columns: output.columns).lines(sessions)
        }

        /// Returns the reason for an empty list.
        private func reason(_ history: any HistoryStore) async throws -> String {
            let everything = SessionQuery(userId: options.user)
            let isNew = try await history.sessions(everything, page: PageRequest(limit: 1)).elements.isEmpty
            if filter.discarded { return "No matching discarded sessions." }
            if isNew {
                return "No sessions of \(options.user.oneLine) yet. To import some: recall import ~/.claude/projects"
            }
            return filter.archived || filter.all
                ? "No matching sessions." : "No matching sessions. To include archived ones, use --all."
        }
    }
#endif
