#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct SearchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Search the messages of all sessions, the best matches first.",
            discussion: """
                QUERY is a question or some words. Messages with all of its words come first, then those with some, or near \
                them. Other forms and prefixes of words and parts of identifiers also match. In short queries, misspelled words are \
                corrected. Case and accents are ignored. Chinese and Japanese text is matched by pairs of characters. Any text is a \
                valid query.

                A message must have a "phrase in quotation marks" and a word after +. It must not have a word or phrase after -; \
                write -- before a QUERY with it. The fields session:, agent:, role:, before: and after: are filters in QUERY, too. \
                A time ("yesterday", "in May", "3 days ago") counts as found in messages of that time.

                Of each message, the first megabyte is searched; of each text in the calls and results of tools, the first 64 KB; and of \
                letters without a space, as in base64 or long paths, the first 256 bytes. Of a word, the first 64 letters count. \
                The same limits apply to words and phrases after + and -. In a database, the index also has at most 1 MB of different \
                words of a message.

                JSON: a list of objects with the keys sessionId, agentId, messageId, role, timestamp, snippet (matches between « and »), \
                score (larger is better; in an order by date, the date), matchedWords and missingWords (the words of QUERY that the \
                message has and lacks), correctedWords (an object: the misspelled words of QUERY, each with the word found instead). \
                With --context, before and after are lists of objects with the keys agentId, messageId, role, timestamp, text.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "The words to search for.")
        var query: [String]

        @Option(name: .long, help: "Only this session: its ID or a prefix.")
        var session: String?

        @Option(name: .long, help: ArgumentHelp("Only this agent.", valueName: "id"))
        var agent: String?

        @Option(name: .long, help: "Only this role: user, assistant, system or tool. May be repeated.")
        var role: [String] = []

        @Option(
            name: [.long, .customLong("since")],
            help: ArgumentHelp(
                "Only messages on or after this date: a day (2026-02-03), a time (2026-02-03T09:30) or an age (12h, 7d, 2w).",
                valueName: "date"))
        var from: DateArgument?

        @Option(name: .long, help: ArgumentHelp("Only messages before this date.", valueName: "date"))
        var until: DateArgument?

        @Option(
            name: .long,
            help: "relevance, newest or oldest. By date, hits have all of the words, if any message has.")
        var sort = Sort.relevance

        @Option(
            name: .customLong("per-session"),
            help: ArgumentHelp("Group the hits by session, with at most this many of each.", valueName: "count"))
        var perSession: Int?

        @Option(
            name: .long,
            help: ArgumentHelp("Show this many messages before and after each hit.", valueName: "count"))
        var context = 0

        @Option(name: .shortAndLong, help: "The maximum number of hits.")
        var limit = 20

        @Option(name: .long, help: ArgumentHelp("The number of hits to skip.", valueName: "count"))
        var skip = 0

        func validate() throws {
            if limit < 1 || limit > 10_000 { throw ValidationError("--limit must be from 1 to 10000.") }
            if skip < 0 || skip > 1_000_000 { throw ValidationError("--skip must be from 0 to 1000000.") }
            if let perSession, perSession < 1 { throw ValidationError("--per-session must be at least 1.") }
            if context < 0 || context > 20 { throw ValidationError("--context must be from 0 to 20.") }
        }

        func run() async throws {
            try await options.withHistory { try await run(in: $0) }
        }

        private func run(in history: any HistoryStore) async throws {
            var wanted = SearchQuery(
                userId: options.user, text: query.joined(separator: " "), agentId: agent,
                roles: role.map(Role.init(rawValue:)), from: from?.date, until: until?.date, order: sort.order,
                maxHitsPerSession: perSession, limit: limit)
            if let session { wanted.sessionId = try await options.session(session, in: history).id.sessionId }
            if skip > 0 {
                var skipped = wanted
                skipped.limit = skip
                guard let next = try await history.search(skipped).next else {
                    return try await Output.open(paged: false) { output in
                        try await output.line(options.json ? "[]" : "There are no more hits.")
                    }
                }
                wanted.cursor = next
            }
            let page = try await history.search(wanted)
            let found = try await FoundMessages(page.elements, context: context, in: history)
            try await Output.open(paged: !options.json) { output in
                if options.json {
                    try await output.list(found.messages, isFirst: true) { Array($0.listed.jsonString.utf8) }
                    return try await output.line(page.elements.isEmpty ? "[]" : "\n]")
                }
                let lines = try await options.lines(
                    of: found, isGrouped: perSession != nil, isFirstPage: skip == 0, hasMore: page.next != nil,
                    in: history, style: output.style)
                for line in lines { try await output.line(line) }
                if page.next != nil {
                    try await output.line(output.style.dim("\nFor more: --skip \(skip + page.elements.count)"))
                }
            }
        }
    }

    extension SearchCommand {
        enum Sort: String, ExpressibleByArgument, CaseIterable {
            case relevance, newest, oldest

            var order: SearchOrder {
                switch self {
                case .relevance: .relevance
                case .newest: .newestFirst
                case .oldest: .oldestFirst
                }
            }
        }
    }
#endif
