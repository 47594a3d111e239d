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
                write -- before a QUERY with it. The fields session:, agent:, role:, before: and after: are filters in QUERY, too.

                JSON: a list of objects with the keys sessionId, agentId, messageId, role, timestamp, snippet (matches between « and »), \
                score (larger is better), missingWords (the words of QUERY that the message lacks), correctedWords (an object: the \
                misspelled words of QUERY, each with the word found instead).
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

        @Option(name: .shortAndLong, help: "The maximum number of hits.")
        var limit = 20

        @Option(name: .long, help: ArgumentHelp("The number of hits to skip.", valueName: "count"))
        var skip = 0

        func validate() throws {
            if limit < 1 || limit > 10_000 { throw ValidationError("--limit must be from 1 to 10000.") }
            if skip < 0 { throw ValidationError("--skip must not be negative.") }
        }

        func run() async throws {
            try await options.withHistory { try await run(in: $0) }
        }

        private func run(in history: any HistoryStore) async throws {
            var wanted = SearchQuery(
                userId: options.user, text: query.joined(separator: " "), agentId: agent,
                roles: role.map(Role.init(rawValue:)), from: from?.date, until: until?.date, limit: limit,
                cursor: skip > 0 ? SearchCursor(offset: skip) : nil)
            if let session { wanted.sessionId = try await options.session(session, in: history).id.sessionId }
            let page = try await history.search(wanted)
            try await Output.open(paged: !options.json) { output in
                if options.json {
                    try await output.list(page.elements, isFirst: true) { Array($0.listed.jsonString.utf8) }
                    return try await output.line(page.elements.isEmpty ? "[]" : "\n]")
                }
                for line in try await options.lines(of: page, in: history, style: output.style) {
                    try await output.line(line)
                }
                if let next = page.next { try await output.line(output.style.dim("For more: --skip \(next.offset)")) }
            }
        }
    }

    extension SearchHit {
        /// The hit as JSON.
        fileprivate var listed: JSONValue {
            [
                "sessionId": .string(session.sessionId), "agentId": .string(agentId),
                "messageId": .string(messageId), "role": .string(role.rawValue),
                "timestamp": .integer(timestamp.millisecondsSince1970), "snippet": .string(snippet.marked()),
                "score": .number(score), "missingWords": .array(missingWords.map(JSONValue.string)),
                "correctedWords": .object(correctedWords.mapValues(JSONValue.string)),
            ]
        }
    }
#endif
