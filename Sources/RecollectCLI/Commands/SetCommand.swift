#if CommandLine
    import ArgumentParser
    import Recollect
    import RecollectTranscripts

    struct SetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Title, tag, pin, archive sessions, or mark them as read.",
            discussion: """
                What is not named stays as it is. An empty --title takes the title away; the list then shows what was \
                said first. An import never replaces a title that was set here.

                JSON: a list of the sessions as `recall sessions` gives them.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "Sessions: their ids, or beginnings of them that no other has.")
        var session: [String]

        @Option(name: .long, help: "Give it this title.")
        var title: String?

        @Option(name: .long, help: "Add this tag. May be repeated.")
        var tag: [String] = []

        @Option(name: .long, help: "Take this tag away. May be repeated.")
        var untag: [String] = []

        @Flag(inversion: .prefixedNo, help: "Pin it, or no longer.")
        var pin: Bool?

        @Flag(inversion: .prefixedNo, help: "Put it away, or back.")
        var archive: Bool?

        @Flag(help: "Mark all that was said as read.")
        var read = false

        @Flag(help: "Mark it as unread.")
        var unread = false

        func validate() throws {
            if details == SessionDetails() {
                throw ValidationError("Say what to set: --title, --tag, --untag, --pin, --archive, --read or --unread.")
            }
            if title != nil, session.count > 1 { throw ValidationError("--title is for one session.") }
            if (tag + untag).contains("") { throw ValidationError("A tag is not empty.") }
            if let both = tag.first(where: { tag in untag.contains(where: tag.hasSameBytes) }) {
                throw ValidationError("--tag \(both) and --untag \(both) exclude each other.")
            }
            if read, unread { throw ValidationError("--read and --unread exclude each other.") }
        }

        func run() async throws {
            try await options.withHistory { history in
                let sessions = try await options.sessions(session, in: history)
                for session in sessions { try await history.update(session.id, with: details, makesNew: false) }
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
