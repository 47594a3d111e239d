#if CommandLine
    import ArgumentParser
    import Recollect

    /// The filter and the order of a list of sessions.
    struct SessionFilter: ParsableArguments {
        /// The order of a list.
        enum Order: String, CaseIterable, ExpressibleByArgument {
            case activity, access, created, title, messages

            var order: SessionQuery.Order {
                switch self {
                case .activity: .lastActivity
                case .access: .lastAccess
                case .created: .creation
                case .title: .title
                case .messages: .messageCount
                }
            }
        }

        @Option(name: .long, help: "Only those whose title or messages hold this text.")
        var search: String?

        @Option(name: .long, help: "Only those with this tag. May be repeated: then with all of them.")
        var tag: [String] = []

        @Option(name: .long, help: ArgumentHelp("Only those in which this agent speaks.", valueName: "id"))
        var agent: String?

        @Option(
            name: [.long, .customLong("from")],
            help: ArgumentHelp(
                "Only those active since then: a day (2026-02-03), a time (2026-02-03T09:30) or how long ago (12h, 7d, 2w).",
                valueName: "moment"))
        var since: DateArgument?

        @Option(name: .long, help: ArgumentHelp("Only those whose last activity was before then.", valueName: "moment"))
        var until: DateArgument?

        @Flag(name: .long, help: "Only pinned ones.")
        var pinned = false

        @Flag(name: .long, help: "Only those with something new.")
        var unread = false

        @Flag(name: .long, help: "Only archived ones.")
        var archived = false

        @Flag(name: .long, help: "Archived ones too.")
        var all = false

        @Flag(name: .long, help: "Discarded ones instead: `recall restore` brings them back.")
        var discarded = false

        @Option(
            name: .long,
            help:
                "What comes first: the latest activity or access, the last created, titles from A to Z, the most messages."
        )
        var sort = Order.activity

        @Flag(name: .long, help: "Turn the order round.")
        var reverse = false

        func validate() throws {
            if all, archived { throw ValidationError("--all and --archived exclude each other.") }
            if tag.contains("") { throw ValidationError("--tag needs a tag.") }
            if let since, let until, since.date >= until.date {
                throw ValidationError("--since is not before --until, so nothing could be listed.")
            }
        }

        /// Returns the query for a user.
        func query(of userId: String) -> SessionQuery {
            SessionQuery(
                userId: userId, order: sort.order, isReversed: reverse, text: search ?? "", tags: tag, agentId: agent,
                from: since?.date, until: until?.date, isPinned: pinned ? true : nil,
                // Discarded sessions are listed with and without an archive mark.
                isArchived: archived ? true : all || discarded ? nil : false, isUnread: unread ? true : nil,
                isDiscarded: discarded)
        }
    }
#endif
