#if CommandLine && Postgres
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectPostgres

    struct PostgresCheckCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a history in a database.",
            discussion: """
                Reads all rows on one state of the database, and changes nothing: the numbers of messages, rows without a \
                session, unreadable content, the words in the search index, the bytes of attachments, and the settings of the \
                server for durability.

                JSON keys: server, serverVersion, schemaVersion, userCount, sessionCount, messageCount, streamingReplyCount, \
                attachmentCount, attachmentBytes, databaseBytes, problems (a list of kind, message; at most 100 of a kind). \
                Exit code 2: there are problems.
                """)

        @OptionGroup var options: StoreOptions

        func run() async throws {
            try await options.withDatabase { history in
                let report = try await history.check()
                try await Output.open { output in
                    let text =
                        options.json
                        ? [String(decoding: try JSONEncoder().encode(report), as: UTF8.self)]
                        : lines(of: report, output.style)
                    for line in text { try await output.line(line) }
                }
                if !report.problems.isEmpty { throw ExitCode.partly }
            }
        }

        private func lines(of report: PostgresReport, _ style: Style) -> [String] {
            let facts = [
                ("Database", report.server.oneLine),
                ("Versions", "recall \(Recall.version), PostgreSQL \(report.serverVersion)"),
                ("Schema", String(report.schemaVersion)),
                (
                    "Contents",
                    "\(Format.count(report.messageCount, "message")) in \(Format.count(report.sessionCount, "session")) of "
                        + Format.count(report.userCount, "user")
                ),
                ("Streaming", Format.count(report.streamingReplyCount, "reply", "replies")),
                (
                    "Attachments",
                    "\(Format.grouped(report.attachmentCount)), \(Format.bytes(Int64(report.attachmentBytes)))"
                ),
                ("Size", Format.bytes(Int64(report.databaseBytes))),
            ]
            let lines = facts.map { "\(style.dim($0.padded(to: 14)))\($1)" }
            guard !report.problems.isEmpty else { return lines + ["", style.green("No problems found.")] }
            return lines + ["", style.bold(style.red(Format.count(report.problems.count, "problem")))]
                + report.problems.map { "  \($0.kind): \($0.message.oneLine)" }
        }
    }
#endif
