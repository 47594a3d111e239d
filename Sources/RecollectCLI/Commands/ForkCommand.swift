#if CommandLine
    import ArgumentParser
    import Recollect

    struct ForkCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fork",
            abstract: "Copy a session up to a message into a new session.",
            discussion: """
                Search results show messages in both sessions only once. The two sessions are independent from then on.

                JSON: a list with the new session, with the keys of `recall sessions`.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session ID, or a unique prefix of one.")
        var session: String

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The last message to copy: its ID or a prefix (`recall show --ids`). Default: all messages.",
                valueName: "message"))
        var at: String?

        @Option(name: .long, help: ArgumentHelp("The ID of the new session. Default: a random ID.", valueName: "id"))
        var into: String?

        func validate() throws {
            if into == "" { throw ValidationError("--into must not be empty.") }
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
