#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct DoctorCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the history, and mend it with --repair.",
            discussion: """
                Reads everything and changes nothing. --repair salvages what a damaged database still holds, sets counts right, \
                makes the search index anew and removes attachments that nothing uses; what cannot be read stays in a file \
                that is set aside.

                JSON keys: version, directory, sqliteVersion, migrations, users, conversations, messages, messagesToIndex, \
                databaseBytes, logBytes, attachments, attachmentBytes, setAside, losses (a list of \
                setAside, date, recoveredMessages, lostMessages, sessions), problems (a list of kind, message). Exit code 2 \
                says that there are problems; messages that were lost are one until the file set aside is removed.
                """)

        @OptionGroup var options: StoreOptions

        @Flag(name: .long, help: "Mend what is found.")
        var repair = false

        func run() async throws {
            try await options.withHistory { history in
                if repair { try await history.repair() }
                let report = try await history.check()
                try await Output.open { output in
                    let text = try options.json ? [json(of: report).jsonString] : lines(of: report, output.style)
                    try await output.line(text.joined(separator: "\n"))
                }
                if !report.problems.isEmpty { throw ExitCode.partly }
            }
        }

        private func json(of report: HistoryReport) throws -> JSONValue {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            let text = String(decoding: try encoder.encode(report), as: UTF8.self)
            var members = try JSONValue(parsing: text).objectValue ?? [:]
            members["version"] = .string(Recall.version)
            return .object(members)
        }

        private func lines(of report: HistoryReport, _ style: Style) -> [String] {
            let index =
                report.messagesToIndex == 0
                ? "up to date" : "\(Format.count(report.messagesToIndex, "message")) behind; the next search catches up"
            let log = report.logBytes > 0 ? " and \(Format.bytes(Int64(report.logBytes))) of log" : ""
            let facts = [
                ("History", (report.directory ?? "").oneLine),
                ("Versions", "recall \(Recall.version), SQLite \(report.sqliteVersion)"),
                ("Schema", report.migrations.joined(separator: ", ")),
                (
                    "Holds",
                    "\(Format.count(report.messages, "message")) in \(Format.count(report.conversations, "session")) of "
                        + Format.count(report.users, "user")
                ),
                ("Database", Format.bytes(Int64(report.databaseBytes)) + log),
                (
                    "Attachments",
                    "\(Format.grouped(report.attachments)), \(Format.bytes(Int64(report.attachmentBytes)))"
                ),
                ("Search index", index),
            ]
            // Of a database that cannot be read nothing is known but its files.
            let unknown = report.migrations.isEmpty ? ["Schema", "Holds", "Search index"] : []
            var lines = facts.filter { !unknown.contains($0.0) }.map { "\(style.dim($0.padded(to: 14)))\($1)" }
            lines += report.setAside.map { style.dim("Set aside".padded(to: 14)) + $0.oneLine }
            guard !report.problems.isEmpty else { return lines + ["", style.green("Everything is in order.")] }
            lines += ["", style.bold(style.red(Format.count(report.problems.count, "problem")))]
            lines += report.problems.map { "  \($0.kind): \($0.message.oneLine)" }
            return lines + (repair ? [] : ["", "Mend what can be mended with: recall doctor --repair"])
        }
    }
#endif
