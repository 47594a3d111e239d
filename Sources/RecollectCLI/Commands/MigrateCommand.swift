#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectTranscripts

    struct MigrateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate",
            abstract: "Copy all sessions from one store to another, and verify them.",
            discussion: """
                LOCATION is a path, store:PATH for the folder of a Recollect history, files:PATH for a folder of chat files \
                of Agent Squad's FileChatStorage, or the URL of a PostgreSQL database. The format of a plain path is detected; if the target does not exist, a \
                Recollect history is created. --from also accepts the formats of `recall import`. The default of --from and \
                --to is the history of --store.

                The source is not changed. Every message is read back and compared. Other data in the target is kept, and \
                messages that are already there are skipped, so an interrupted migration can be repeated. Copies all users, or \
                only the one in --user. Chat files cannot store titles, tags and other details.

                JSON keys: from, to, users, sessions, messages, added, unchanged, and for files of other programs those of \
                `recall import`. Exit code 1 can also mean that a message in the target has the same ID but different content: \
                such sessions are not changed, and all others are copied.
                """)

        @OptionGroup var options: StoreOptions

        @Option(name: .long, help: ArgumentHelp("The source.", valueName: "location"))
        var from: StoreLocation?

        @Option(name: .long, help: ArgumentHelp("The target.", valueName: "location"))
        var to: StoreLocation?

        func validate() throws {
            if from == nil, to == nil { throw ValidationError("Specify --from, --to, or both.") }
        }

        func run() async throws {
            let here = options.location
            let (from, to) = (try (from ?? here).detected(isSource: true), try (to ?? here).detected(isSource: false))
            guard from.resolved != to.resolved else {
                throw RecollectError(
                    .invalidArgument, "\(from.name) cannot be migrated to itself: specify another location")
            }
            switch (from.isHistory, to.isHistory) {
            case (true, true):
                try await options.withHistory(at: from) { source in
                    try await options.withHistory(at: to, makes: true) { target in
                        try await move(source, from, to) {
                            try await source.migrate(user: $0, to: target, progress: $1)
                        }
                    }
                }
            case (true, false):
                let target = FileChatStorage(baseURL: to.url, sameRole: .keep)
                try await options.withHistory(at: from) { source in
                    try await move(source, from, to) {
                        try await source.migrate(user: $0, to: target, progress: $1)
                    }
                }
            case (false, true):
                try await options.withHistory(at: to, makes: true) { try await importAll(into: $0, from, to) }
            case (false, false):
                throw RecollectError(
                    .invalidArgument,
                    "only a Recollect history can be migrated to chat files: import \(from.path) into a history first, then migrate the history"
                )
            }
        }

        private typealias Move =
            (String, @escaping @Sendable (MigrationProgress) -> Void) async throws -> MigrationReport

        /// Moves the users of a history one after the other.
        private func move(
            _ source: any UserListing, _ from: StoreLocation, _ to: StoreLocation, _ move: Move
        ) async throws {
            let users = if let user = options.namedUser { [user] } else { try await source.users() }
            var report = MigrationReport()
            var conflict: RecollectError?
            let bar = ProgressBar()
            do {
                defer { bar.clear() }
                for user in users {
                    do {
                        report =
                            try await report
                            + move(user) { progress in
                                let sessions = Format.count(progress.sessionsTotal, "session")
                                let messages = Format.count(progress.messages, "message")
                                bar.show(
                                    progress.fraction,
                                    "\(Format.grouped(progress.sessions)) of \(sessions), \(messages)")
                            }
                    } catch let error as RecollectError where error.code == .conflict {
                        // A conflict of one user does not stop the moves of the others.
                        conflict = conflict ?? error
                    }
                }
            }
            if let conflict { throw conflict }
            try await Output.open { [report] output in
                guard options.json else { return try await output.line(summary(of: report, to, output.style)) }
                let unchanged = report.messageCount - report.addedMessageCount
                let listed: JSONValue = [
                    "users": .array(users.map { .string($0) }), "sessions": .integer(Int64(report.sessionCount)),
                    "messages": .integer(Int64(report.messageCount)),
                    "added": .integer(Int64(report.addedMessageCount)),
                    "unchanged": .integer(Int64(unchanged)),
                ]
                try await output.line(listed.naming(from, to).jsonString)
            }
        }

        private func summary(of report: MigrationReport, _ to: StoreLocation, _ style: Style) -> String {
            let unchanged = report.messageCount - report.addedMessageCount
            return """
                \(style.bold("Copied")) \(Format.count(report.addedMessageCount, "new message")) in \
                \(Format.count(report.movedSessionCount, "session")); \(Format.grouped(unchanged)) \
                \(unchanged == 1 ? "was" : "were") already stored. Verified \(Format.count(report.sessionCount, "session")).
                \(style.dim("The sessions are in \(to.name).".oneLine))
                """
        }

        private func importAll(
            into target: any HistoryStore, _ from: StoreLocation, _ to: StoreLocation
        ) async throws {
            let report = try await ImportRun(paths: [from.path], options: options, verifies: true).run(in: target)
            try await Output.open { output in
                let text =
                    options.json
                    ? report.listed.naming(from, to).jsonString : report.summary(options, in: to, output.style)
                try await output.line(text)
            }
            if !options.json { report.printUnreadable() }
            if report.unreadableCount > 0 { throw ExitCode.partly }
        }
    }

    extension JSONValue {
        fileprivate func naming(_ from: StoreLocation, _ to: StoreLocation) -> JSONValue {
            var members = objectValue ?? [:]
            members["from"] = .string(from.name)
            members["to"] = .string(to.name)
            return .object(members)
        }
    }
#endif
