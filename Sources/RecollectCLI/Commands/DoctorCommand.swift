#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct DoctorCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the history; --repair fixes problems.",
            discussion: """
                Reads the whole history. Without --repair, nothing is changed, except that a damaged database is salvaged and \
                set aside, as by every command. --repair corrects counts, rebuilds the search index and removes unused \
                attachments. Unreadable data is kept in a set-aside file.

                JSON keys: version, directory, sqliteVersion, migrations, userCount, sessionCount, messageCount, \
                messagesToIndex, databaseBytes, logBytes, attachmentCount, attachmentBytes, setAside, losses (a list of setAside, date, \
                recoveredMessages, lostMessages, sessions), problems (a list of kind, message), erasure (remaining work: \
                sessionCount, attachmentCount, fileCount, isIndexPending, isLogPending). Exit code 2: there are problems. Lost messages \
                count as a problem until the set-aside file is deleted.

                --find-traces WORD searches for a word in all data of the history: messages, the search index, the bytes of \
                the database and its log, attachments, and set-aside or leftover files. It prints only positions, never the \
                surrounding text. Exit code 0: not found; 2: found. JSON: a list of objects with the keys kind, file, count, \
                isLive (whether it is in data that was not deleted), and, if known, offset, page, userId, sessionId, \
                messageId.

                For a history in a database, use `recall postgres check`.
                """)

        @OptionGroup var options: StoreOptions

        @Flag(name: .long, help: "Fix problems.")
        var repair = false

        @Option(
            name: .long, help: ArgumentHelp("Search for a word in all files of the history instead.", valueName: "word")
        )
        var findTraces: String?

        func validate() throws {
            if repair, findTraces != nil {
                throw ValidationError("--find-traces and --repair cannot be used together.")
            }
        }

        func run() async throws {
            try await options.withHistoryFiles(instead: "`recall postgres check`") { history in
                if let findTraces { return try await print(try await history.traces(of: findTraces)) }
                if repair { try await history.repair() }
                let report = try await history.check()
                try await Output.open { output in
                    let text = try options.json ? [json(of: report).jsonString] : lines(of: report, output.style)
                    try await output.line(text.joined(separator: "\n"))
                }
                if !report.problems.isEmpty { throw ExitCode.partly }
            }
        }

        private func print(_ traces: [WordTrace]) async throws {
            try await Output.open { output in
                if options.json {
                    let text = String(decoding: try JSONEncoder().encode(traces), as: UTF8.self)
                    return try await output.line(JSONValue(parsing: text).jsonString)
                }
                for trace in traces { try await output.line(line(of: trace)) }
                let live = traces.count { $0.isLive }
                try await output.line(
                    traces.isEmpty
                        ? "The word was not found."
                        : "Found in \(Format.count(traces.count, "place")): \(live) in use, \(traces.count - live) in deleted content."
                )
            }
            if !traces.isEmpty { throw ExitCode.partly }
        }

        private func line(of trace: WordTrace) -> String {
            // Aligned columns for the fields of every trace.
            var words = [(trace.isLive ? "in use" : "remains").padded(to: 7), trace.kind.rawValue, trace.file.oneLine]
            if let page = trace.page { words.append("page \(page)") }
            if let offset = trace.offset { words.append("offset \(offset)") }
            if let session = trace.sessionId { words.append("session \(session.oneLine)") }
            if let message = trace.messageId { words.append("message \(message.oneLine)") }
            if trace.count > 1 { words.append("\(trace.count) times") }
            return words.joined(separator: "  ")
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
                ? "up to date"
                : "\(Format.count(report.messagesToIndex, "message")) not indexed yet; the next search indexes them"
            let log = report.logBytes > 0 ? ", and a log of \(Format.bytes(Int64(report.logBytes)))" : ""
            let facts = [
                ("History", (report.directory ?? "").oneLine),
                ("Versions", "recall \(Recall.version), SQLite \(report.sqliteVersion)"),
                ("Schema", report.migrations.joined(separator: ", ")),
                (
                    "Contents",
                    "\(Format.count(report.messageCount, "message")) in \(Format.count(report.sessionCount, "session")) of "
                        + Format.count(report.userCount, "user")
                ),
                ("Database", Format.bytes(Int64(report.databaseBytes)) + log),
                (
                    "Attachments",
                    "\(Format.grouped(report.attachmentCount)), \(Format.bytes(Int64(report.attachmentBytes)))"
                ),
                ("Search index", index),
            ]
            // Of an unreadable database only the files are known.
            let unknown = report.migrations.isEmpty ? ["Schema", "Contents", "Search index"] : []
            var lines = facts.filter { !unknown.contains($0.0) }.map { "\(style.dim($0.padded(to: 14)))\($1)" }
            if !report.erasure.isComplete {
                lines.append(
                    style.dim("To erase".padded(to: 14))
                        + "some deleted content; the next program that uses the history continues"
                )
            }
            lines += report.setAside.map { style.dim("Set aside".padded(to: 14)) + $0.oneLine }
            guard !report.problems.isEmpty else { return lines + ["", style.green("No problems found.")] }
            lines += ["", style.bold(style.red(Format.count(report.problems.count, "problem")))]
            lines += report.problems.map { "  \($0.kind): \($0.message.oneLine)" }
            return lines + (repair ? [] : ["", "To fix what can be fixed: recall doctor --repair"])
        }
    }
#endif
