#if CommandLine
    import ArgumentParser
    import Recollect

    struct RestoreCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Bring discarded sessions back, or a branch of a session.",
            discussion: """
                With --branch what the session has said since that branch left it becomes a branch in its turn, so \
                nothing is lost and the same command brings it back.

                JSON: a list of the sessions as `recall sessions` gives them.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(
            help: "Discarded sessions (`recall sessions --discarded`): ids, or beginnings of them that no other has.")
        var session: [String]

        @Option(
            name: .long,
            help: ArgumentHelp("Bring this branch of the session back (`recall branches`).", valueName: "id"))
        var branch: String?

        func validate() throws {
            if branch != nil, session.count > 1 { throw ValidationError("--branch is for one session.") }
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
