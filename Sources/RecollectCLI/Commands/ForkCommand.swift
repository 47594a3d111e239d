#if CommandLine
    import ArgumentParser
    import Foundation
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
                let conversation = try await options.session(session, in: history)
                let message =
                    if let at {
                        try await options.message(at, of: conversation, in: history)
                    } else {
                        try await lastMessage(of: conversation, history)
                    }
                let fork = ConversationID(userId: options.user, sessionId: into ?? UUID().uuidString.lowercased())
                try await history.fork(conversation.id, at: message, into: fork.sessionId)
                guard let made = try await history.conversation(fork) else {
                    throw RecollectError(
                        .notFound, "session \(fork.sessionId.visible) was deleted as soon as it was made")
                }
                try await options.write([made], in: history)
            }
        }

        private func lastMessage(of conversation: Conversation, _ history: any HistoryStore) async throws -> String {
            let last = try await history.messages(
                of: conversation.id, agentId: nil, page: PageRequest(limit: 1, before: nil))
            guard let message = last.elements.last else {
                throw RecollectError(.notFound, "that session has no message to copy")
            }
            return message.message.id
        }
    }
#endif
