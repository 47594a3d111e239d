#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct BranchesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "branches",
            abstract: "List the branches of a session: messages replaced by an edit or a retry.",
            discussion: """
                A branch contains the messages that followed its last message in common with the session. Print one with \
                `recall show SESSION --branch ID`; restore it with `recall restore SESSION --branch ID`.

                JSON: a list of objects with the keys of `recall sessions`; branchPoint contains the sessionId, and the messageId \
                of the last message in common.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session ID, or a unique prefix of one.")
        var session: String

        func run() async throws {
            try await options.withHistory { history in
                let session = try await options.session(session, in: history)
                let branches = try await history.branches(of: session.id)
                try await Output.open(paged: !options.json) { output in
                    if options.json {
                        try await output.list(branches, isFirst: true) { Array($0.listed.jsonString.utf8) }
                        return try await output.line(branches.isEmpty ? "[]" : "\n]")
                    }
                    guard !branches.isEmpty else { return try await output.line("The session has no branches.") }
                    for line in try await lines(branches, history, output) { try await output.line(line) }
                }
            }
        }

        private func lines(
            _ branches: [Session], _ history: any HistoryStore, _ output: Output
        ) async throws -> [String] {
            let (format, style) = (Format(), output.style)
            var table = Table(columns: [
                .init(heading: "BRANCH", paint: style.cyan), .init(heading: "LAST ACTIVITY"),
                .init(heading: "MESSAGES", isRight: true), .init(heading: "AFTER MESSAGE", isOptional: true),
                .init(heading: "FIRST MESSAGE", paint: style.bold),
            ])
            let ids = branches.map(\.id.sessionId)
            for branch in branches {
                let first = try await history.messages(of: branch.id, agentId: nil, page: PageRequest(limit: 1))
                table.rows.append([
                    try await options.shortId(of: branch.id.sessionId, in: history, among: ids).oneLine,
                    format.short(branch.lastActivityAt), Format.grouped(branch.messageCount),
                    (branch.branchPoint?.messageId ?? "").oneLine.cut(to: 36),
                    (first.elements.first?.message.text ?? "").oneLine.cut(to: 200),
                ])
            }
            return table.lines(style: style, width: output.columns)
        }
    }
#endif
