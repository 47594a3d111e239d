#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectTranscripts

    struct ExportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export a session as json, jsonl or markdown.",
            discussion: """
                jsonl is complete and can be imported again; json is one object with the keys session and messages; markdown \
                is for reading. json and jsonl include attachments. Missing or damaged attachments are reported on standard \
                error, with exit code 2.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "A session ID, or a unique prefix of one.")
        var session: String

        @Option(name: .shortAndLong, help: "json, jsonl or markdown.")
        var format: SessionExporter.Format?

        func validate() throws {
            if options.json, let format, format != .json {
                throw ValidationError("--json and --format \(format.rawValue) cannot be used together.")
            }
        }

        func run() async throws {
            try await options.withHistory { history in
                let session = try await options.session(session, in: history)
                let format = format ?? (options.json ? .json : .jsonl)
                var missing: [SessionExporter.MissingAttachment] = []
                try await Output.open { output in
                    missing = try await SessionExporter(history: history).export(session.id, as: format) {
                        try await output.write($0)
                    }
                }
                for attachment in missing { Output.printError("recall: \(attachment.report)") }
                if !missing.isEmpty { throw ExitCode.partly }
            }
        }
    }

    extension SessionExporter.Format: ExpressibleByArgument {}
#endif
