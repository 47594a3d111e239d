#if CommandLine
    import Foundation
    import Recollect
    import RecollectClaudeCodeUI
    import RecollectTranscripts

    /// Runs an import, with a progress bar.
    struct ImportRun {
        let paths: [String]
        let options: StoreOptions
        /// Whether new messages are read back and compared.
        var verifies = false

        func run(in history: any HistoryStore) async throws -> ImportReport {
            let bar = ProgressBar()
            defer { bar.clear() }
            var importer = TranscriptImporter(
                history: history, userId: options.user,
                formats: [ClaudeCodeUIFormat(), AgentSquadFormat(userId: options.namedUser)])
            importer.verifies = verifies
            return try await importer.run(paths) { progress in
                let done = Double(progress.bytesRead) / Double(max(1, progress.bytesTotal))
                let bytes = "\(Format.bytes(progress.bytesRead)) of \(Format.bytes(progress.bytesTotal))"
                bar.show(done, "\(bytes), \(Format.count(progress.messages, "message"))")
            }
        }
    }

    extension ImportReport {
        /// Returns the summary for people.
        func summary(_ options: StoreOptions, in location: StoreLocation? = nil, _ style: Style) -> String {
            let added = "\(Format.count(addedCount, "new message")) in \(Format.count(sessionCount, "session"))"
            let unchanged = "\(Format.grouped(unchangedCount)) \(unchangedCount == 1 ? "was" : "were") already stored"
            var lines = ["\(style.bold("Imported")) \(added); \(unchanged)."]
            let left = skippedLines.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            if !left.isEmpty {
                let kinds = left.prefix(6).map { "\($0.key.oneLine) \(Format.grouped($0.value))" }
                let more = left.count > 6 ? ", …" : ""
                lines.append("Skipped lines that are not messages: \(kinds.joined(separator: ", "))\(more).")
            }
            if unfinishedCount > 0 {
                let files = Format.count(unfinishedCount, "file")
                lines.append("\(files) ended with an incomplete line; the next import adds it.")
            }
            let others = users.filter { !$0.hasSameBytes(as: options.user) }
            if !others.isEmpty {
                let names = others.prefix(6).map(\.visible).joined(separator: ", ") + (others.count > 6 ? ", …" : "")
                lines.append("Sessions of other users: \(names); to list them, use --user.")
            }
            lines.append(style.dim("The history is in \((location ?? options.location).name)."))
            return lines.joined(separator: "\n")
        }

        /// Prints the unreadable lines and files to standard error.
        func printUnreadable() {
            guard unreadableCount > 0 else { return }
            Output.printError(
                "recall: \(Format.count(unreadableCount, "line or file", "lines or files")) could not be read:")
            for entry in unreadable.prefix(20) {
                let location = entry.line > 0 ? "\(entry.file):\(entry.line)" : entry.file
                // The reason for a whole file may begin with its name.
                let reason =
                    entry.reason.hasPrefix(entry.file + " ")
                    ? String(entry.reason.dropFirst(entry.file.count + 1)) : entry.reason
                Output.printError("  \(location.oneLine): \(reason.oneLine)")
            }
            if unreadableCount > 20 { Output.printError("  … for more, use --json") }
        }

        /// The report as JSON.
        var listed: JSONValue {
            [
                "sessions": .integer(Int64(sessionCount)), "users": .array(users.map { .string($0) }),
                "messages": .integer(Int64(messageCount)),
                "added": .integer(Int64(addedCount)), "unchanged": .integer(Int64(unchangedCount)),
                "skippedLines": .object(skippedLines.mapValues { .integer(Int64($0)) }),
                "unreadable": .array(
                    unreadable.map {
                        ["file": .string($0.file), "line": .integer(Int64($0.line)), "reason": .string($0.reason)]
                    }),
                "unreadableCount": .integer(Int64(unreadableCount)), "unfinished": .integer(Int64(unfinishedCount)),
            ]
        }
    }
#endif
