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

        @Option(name: .long, help: "Only sessions with this text in the title or messages.")
        var search: String?

        @Option(name: .long, help: "Only sessions with this tag. Repeat to require several tags.")
        var tag: [String] = []

        @Option(name: .long, help: ArgumentHelp("Only sessions with messages of this agent.", valueName: "id"))
        var agent: String?

        @Option(
            name: [.long, .customLong("from")],
            help: ArgumentHelp(
                "Only sessions active since this date: a day (2026-02-03), a time (2026-02-03T09:30) or an age (12h, 7d, 2w).",
                valueName: "date"))
        var since: DateArgument?

        @Option(
            name: .long,
            help: ArgumentHelp("Only sessions with their last activity before this date.", valueName: "date"))
        var until: DateArgument?

        @Flag(name: .long, help: "Only pinned sessions.")
        var pinned = false

        @Flag(name: .long, help: "Only unread sessions.")
        var unread = false

        @Flag(name: .long, help: "Only archived sessions.")
        var archived = false

        @Flag(name: .long, help: "Include archived sessions.")
        var all = false

        @Flag(name: .long, help: "Only discarded sessions; `recall restore` restores them.")
        var discarded = false

        @Option(
            name: .long,
            help:
                "Sort by latest activity, latest access, latest creation, title from A to Z, or most messages."
        )
        var sort = Order.activity

        @Flag(name: .long, help: "Reverse the order.")
        var reverse = false

        func validate() throws {
            if all, archived { throw ValidationError("--all and --archived cannot be used together.") }
            if tag.contains("") { throw ValidationError("--tag must not be empty.") }
            if let since, let until, since.date >= until.date {
                throw ValidationError("--since must be before --until.")
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
