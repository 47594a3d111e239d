#if CommandLine
    import ArgumentParser
    import Recollect

    struct RestoreCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Restore discarded sessions, or a branch of a session.",
            discussion: """
                With --branch, the messages replaced by the branch become a branch themselves, which can be restored in the \
                same way.

                JSON: a list of the sessions with the keys of `recall sessions`.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(
            help: "Discarded sessions (`recall sessions --discarded`): IDs, or unique prefixes.")
        var session: [String]

        @Option(
            name: .long,
            help: ArgumentHelp("The branch to restore (`recall branches`).", valueName: "id"))
        var branch: String?

        func validate() throws {
            if branch != nil, session.count > 1 { throw ValidationError("--branch applies to one session only.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                var restored: [Session] = []
                if let branch {
                    let session = try await options.session(session[0], in: history)
                    let found = try await options.branch(branch, of: session, in: history)
                    try await history.restoreBranch(found.id, in: session.id)
                    restored = [session]
                } else {
                    // All of them are looked up first: if one is missing, none is restored.
                    for prefix in session { restored.append(try await options.discardedSession(prefix, in: history)) }
                    for session in restored { try await history.restoreSession(session.id) }
                }
                try await options.write(restored, in: history)
            }
        }
    }
#endif
