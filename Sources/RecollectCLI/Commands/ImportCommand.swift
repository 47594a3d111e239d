#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectTranscripts

    struct ImportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Bring transcripts into the history.",
            discussion: """
                PATH is a Claude Code transcript (.jsonl), a folder of them such as ~/.claude/projects, or a file that \
                `recall export --format jsonl` wrote. Importing again adds only what is new.

                JSON keys: sessions, messages, added, unchanged, notConversation (lines by kind), unreadable (a list of \
                file, line, reason; at most 1,000), unreadableCount, unfinished (files whose last line is half written). \
                Exit code 2 says that some lines or files could not be read; the rest was imported.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: ArgumentHelp("Files and folders to import.", valueName: "path"))
        var paths: [String]

        func run() async throws {
            try await options.withHistory(makes: true) { try await run(in: $0) }
        }

        private func run(in history: any HistoryStore) async throws {
            let bar = ProgressBar()
            let report: ImportReport
            do {
                defer { bar.clear() }
                report = try await TranscriptImporter(history: history, userId: options.user).run(paths) { progress in
                    let done = Double(progress.bytesRead) / Double(max(1, progress.bytesTotal))
                    let bytes = "\(Format.bytes(progress.bytesRead)) of \(Format.bytes(progress.bytesTotal))"
                    bar.show(done, "\(bytes), \(Format.count(progress.messages, "message"))")
                }
            }
            try await Output.open { [report] output in
                try await output.line(options.json ? report.listed.jsonString : summary(of: report, output.style))
            }
            if !options.json { tellUnreadable(report) }
            if report.unreadableCount > 0 { throw ExitCode.partly }
        }

        private func summary(of report: ImportReport, _ style: Style) -> String {
            let added = "\(Format.count(report.added, "new message")) in \(Format.count(report.sessions, "session"))"
            let unchanged = "\(Format.grouped(report.unchanged)) \(report.unchanged == 1 ? "was" : "were") there before"
            var lines = ["\(style.bold("Imported")) \(added); \(unchanged)."]
            let others = report.notConversation.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            if !others.isEmpty {
                let kinds = others.prefix(6).map { "\($0.key.oneLine) \(Format.grouped($0.value))" }
                let more = others.count > 6 ? ", …" : ""
                lines.append("Left out, because not conversation: \(kinds.joined(separator: ", "))\(more).")
            }
            if report.unfinished > 0 {
                let files = Format.count(report.unfinished, "file")
                lines.append("\(files) ended in half a line, which comes with the next import.")
            }
            lines.append(style.dim("The history lies in \(options.directory.path)."))
            return lines.joined(separator: "\n")
        }

        private func tellUnreadable(_ report: ImportReport) {
            guard report.unreadableCount > 0 else { return }
            Output.tell(
                "recall: \(Format.count(report.unreadableCount, "line or file", "lines or files")) could not be read:")
            for entry in report.unreadable.prefix(20) {
                let place = entry.line > 0 ? "\(entry.file):\(entry.line)" : entry.file
                // What is said of a whole file may begin with its name.
                let reason =
                    entry.reason.hasPrefix(entry.file + " ")
                    ? String(entry.reason.dropFirst(entry.file.count + 1)) : entry.reason
                Output.tell("  \(place.oneLine): \(reason.oneLine)")
            }
            if report.unreadableCount > 20 { Output.tell("  … --json lists more of them") }
        }
    }

    extension ImportReport {
        /// The report as `--json` gives it.
        fileprivate var listed: JSONValue {
            [
                "sessions": .integer(Int64(sessions)), "messages": .integer(Int64(messages)),
                "added": .integer(Int64(added)), "unchanged": .integer(Int64(unchanged)),
                "notConversation": .object(notConversation.mapValues { .integer(Int64($0)) }),
                "unreadable": .array(
                    unreadable.map {
                        ["file": .string($0.file), "line": .integer(Int64($0.line)), "reason": .string($0.reason)]
                    }),
                "unreadableCount": .integer(Int64(unreadableCount)), "unfinished": .integer(Int64(unfinished)),
            ]
        }
    }
#endif
