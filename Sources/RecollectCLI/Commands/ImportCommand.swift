#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectTranscripts

    struct ImportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import transcripts from other programs.",
            discussion: """
                PATH is a Claude Code transcript (.jsonl) or a folder of them such as ~/.claude/projects; a file from `recall \
                export --format jsonl`; a ClaudeCodeUI database (claude_code_sessions.sqlite) or its folder; or the folder of \
                an Agent Squad file storage, with all its users (--user imports only one). The format is detected. Importing \
                again adds only new messages. Messages deleted or undone since are new again. Imported files are never changed.

                JSON keys: sessions, users, messages, added, unchanged, skippedLines (lines by kind), unreadable (a list of \
                file, line, reason; at most 1,000), unreadableCount, unfinished (files with an incomplete last line). Exit \
                code 2: some lines or files are unreadable or skipped (links in a folder, names that are not UTF-8, Agent \
                Squad chats beside transcripts); the rest is imported.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: ArgumentHelp("Files and folders to import.", valueName: "path"))
        var paths: [String]

        func run() async throws {
            try await options.withHistory(makes: true) { history in
                let report = try await ImportRun(paths: paths, options: options).run(in: history)
                try await Output.open { output in
                    let text = options.json ? report.listed.jsonString : report.summary(options, output.style)
                    try await output.line(text)
                }
                if !options.json { report.printUnreadable() }
                if report.unreadableCount > 0 { throw ExitCode.partly }
            }
        }
    }
#endif
