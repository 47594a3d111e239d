#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct SetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Set the title, tags, pin, archive mark or read mark of sessions.",
            discussion: """
                Other details are not changed. An empty --title removes the title; lists then show the first message. An \
                import never replaces a title set here.

                JSON: a list of the sessions with the keys of `recall sessions`.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "One or more session IDs, or unique prefixes.")
        var session: [String]

        @Option(name: .long, help: "The new title.")
        var title: String?

        @Option(name: .long, help: "Add this tag. May be repeated.")
        var tag: [String] = []

        @Option(name: .long, help: "Remove this tag. May be repeated.")
        var untag: [String] = []

        @Flag(inversion: .prefixedNo, help: "Pin or unpin.")
        var pin: Bool?

        @Flag(inversion: .prefixedNo, help: "Archive or unarchive.")
        var archive: Bool?

        @Flag(help: "Mark all messages as read.")
        var read = false

        @Flag(help: "Mark as unread.")
        var unread = false

        func validate() throws {
            if details == SessionDetails() {
                throw ValidationError(
                    "Specify what to set: --title, --tag, --untag, --pin, --archive, --read or --unread.")
            }
            if title != nil, session.count > 1 { throw ValidationError("--title applies to one session only.") }
            if (tag + untag).contains("") { throw ValidationError("A tag must not be empty.") }
            if let both = tag.first(where: { tag in untag.contains(where: tag.hasSameBytes) }) {
                throw ValidationError("--tag \(both) and --untag \(both) cannot be used together.")
            }
            if read, unread { throw ValidationError("--read and --unread cannot be used together.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                let sessions = try await options.sessions(session, in: history)
                for session in sessions { try await history.update(session.id, with: details, createIfMissing: false) }
                try await options.write(sessions, in: history)
            }
        }

        private var details: SessionDetails {
            SessionDetails(
                title: title, isPinned: pin, isArchived: archive, isRead: read ? true : unread ? false : nil,
                addedTags: tag, removedTags: untag)
        }
    }
#endif
