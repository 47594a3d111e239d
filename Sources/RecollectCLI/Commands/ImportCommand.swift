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
                PATH is a Claude Code transcript (.jsonl) or a folder of them such as ~/.claude/projects; a file that \
                `recall export --format jsonl` wrote; a ClaudeCodeUI database (claude_code_sessions.sqlite) or its folder; \
                or the folder of an Agent Squad file storage, whose users stay who they are (--user takes only that one). \
                Which of these it is, is seen from what is there. Importing again adds only what is new; what is imported \
                is never changed.

                JSON keys: sessions, users, messages, added, unchanged, notMessages (lines by kind), unreadable (a list of \
                file, line, reason; at most 1,000), unreadableCount, unfinished (files whose last line is half written). \
                Exit code 2 says that some lines or files could not be read; the rest was imported.
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
