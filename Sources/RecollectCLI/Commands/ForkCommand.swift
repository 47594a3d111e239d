#if CommandLine
    import ArgumentParser
    import Recollect

    struct ForkCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fork",
            abstract: "Copy a session up to a message into a new session.",
            discussion: """
                A search shows what both hold once. The new session goes on by itself.

                JSON: a list with the new session as `recall sessions` gives it.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session's id, or a beginning of it that no other has.")
        var session: String

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The last message to copy: its id or a beginning of it (`recall show --ids`); all unless given.",
                valueName: "message"))
        var at: String?

        @Option(name: .long, help: ArgumentHelp("The new session's id; a new one unless given.", valueName: "id"))
        var into: String?

        func validate() throws {
            if into == "" { throw ValidationError("--into needs an id.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                let session = try await options.session(session, in: history)
                var message: String?
                if let at { message = try await options.message(at, of: session, in: history) }
                let made = try await history.forkSession(session.id, at: message, into: into)
                try await options.write([made], in: history)
            }
        }
    }
#endif
