#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceJournalCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "journal",
            abstract: "Add a journal entry, or print the entries of a day.",
            discussion: """
                With TEXT, adds an entry with the current time; - reads the text from standard input. Without TEXT, prints the \
                entries of a day, except those struck out. Days are in your time zone. Each day is a file of the workspace: \
                Journal/user/2026-02-03.md. Text that looks like a password or key is rejected.

                JSON: a list of id, date, text, oldest first; with TEXT, only the new entry.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Option(name: .long, help: ArgumentHelp("Use the journal of this agent instead of yours.", valueName: "id"))
        var agent: String?

        @Option(
            name: .long,
            help: ArgumentHelp("The day to print: 2026-02-03, or 1d for yesterday. Default: today.", valueName: "day"))
        var day: DateArgument?

        @Argument(help: "The text of the entry; - for standard input.")
        var text: String?

        func validate() throws {
            if day != nil, text != nil { throw ValidationError("--day cannot be used with TEXT.") }
            if agent == "" { throw ValidationError("--agent must not be empty.") }
        }

        func run() async throws {
            let author = agent.map { WorkspaceAuthor.agent($0) } ?? .user
            try await options.withWorkspace { workspace in
                if let text = try wanted() {
                    let entry = try await workspace.journal.write(text, by: author)
                    return try await Output.open { output in
                        let lines = options.json ? [json(of: entry).jsonString] : lines(of: entry, output.style)
                        for line in lines { try await output.line(line) }
                    }
                }
                try await read(workspace.journal, by: author)
            }
        }

        /// Returns the text of the new entry; `nil` to read the journal.
        private func wanted() throws -> String? {
            guard let text else { return nil }
            let bytes = try text == "-" ? [UInt8](FileHandle.standardInput.readToEnd() ?? Data()) : Array(text.utf8)
            let said = try String(typed: bytes).trimmingCharacters(in: .newlines)
            guard said.contains(where: { !$0.isWhitespace }) else {
                throw RecollectError(.invalidArgument, "the text is empty")
            }
            return said
        }

        private func read(_ journal: WorkspaceJournal, by author: WorkspaceAuthor) async throws {
            let date = day?.date ?? Date()
            let entries = try await journal.entries(by: author, on: date)
            try await Output.open(paged: true) { output in
                if options.json {
                    try await output.list(entries, isFirst: true) { Array(json(of: $0).jsonString.utf8) }
                    return try await output.line(entries.isEmpty ? "[]" : "\n]")
                }
                for line in entries.flatMap({ lines(of: $0, output.style) }) { try await output.line(line) }
                if entries.isEmpty {
                    try await output.line("No entries on \(JournalDay(of: date, in: .current).name).")
                }
            }
        }

        /// Returns the time, with the text beside it.
        private func lines(of entry: JournalEntry, _ style: Style) -> [String] {
            let time = style.dim(JournalDay(of: entry.date, in: .current).time(of: entry.date))
            let text = entry.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return text.enumerated().map { index, line in
                line.isEmpty && index > 0 ? "" : (index == 0 ? time : "     ") + "  " + String(line).oneLine
            }
        }

        private func json(of entry: JournalEntry) -> JSONValue {
            [
                "id": .string(entry.id), "text": .string(entry.text),
                "date": .integer(Int64((entry.date.timeIntervalSince1970 * 1000).rounded())),
            ]
        }
    }
#endif
