#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectTranscripts

    struct ExportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write a session as json, jsonl or markdown.",
            discussion: """
                jsonl holds everything and can be imported again, here or elsewhere; json is one object with the keys \
                session and messages; markdown is for reading. Attachments go along in json and jsonl.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session's id, or a beginning of it that no other has.")
        var session: String

        @Option(name: .shortAndLong, help: "json, jsonl or markdown.")
        var format: ConversationExporter.Format?

        func validate() throws {
            if options.json, let format, format != .json {
                throw ValidationError("--json and --format \(format.rawValue) exclude each other.")
            }
        }

        func run() async throws {
            try await options.withHistory { history in
                let conversation = try await options.session(session, in: history)
                let format = format ?? (options.json ? .json : .jsonl)
                try await Output.open { output in
                    try await ConversationExporter(history: history).export(conversation.id, as: format) {
                        try await output.write($0)
                    }
                }
            }
        }
    }

    extension ConversationExporter.Format: ExpressibleByArgument {}
#endif
