#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct DiscardCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: "Remove sessions from lists and searches; `recall restore` restores them.",
            discussion: """
                New messages, including imported ones, restore a discarded session. `recall delete` deletes sessions \
                permanently.

                JSON: a list of the sessions with the keys of `recall sessions`.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "One or more session IDs, or unique prefixes.")
        var session: [String]

        func run() async throws {
            try await options.withHistory { history in
                let sessions = try await options.sessions(session, in: history)
                if let branch = sessions.first(where: { $0.branchPoint != nil }) {
                    throw RecollectError(
                        .invalidArgument,
                        "\(branch.id.sessionId.visible) is a branch, and branches cannot be discarded; `recall delete` deletes it permanently"
                    )
                }
                var names: [String] = []
                for session in sessions {
                    names.append(try await options.name(of: session, in: history))
                    try await history.discardSession(session.id)
                }
                if options.json { return try await options.write(sessions, in: history) }
                try await Output.open { [names] output in
                    for name in names { try await output.line("Discarded \(output.style.bold(name))") }
                    try await output.line(output.style.dim("To undo: recall restore SESSION"))
                }
            }
        }
    }
#endif
