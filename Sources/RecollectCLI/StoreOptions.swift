#if CommandLine
    import ArgumentParser
    import Foundation
    import Logging
    import Recollect
    import RecollectPostgres

    /// The options of every command on a history: its folder or database, the user, and the output format.
    struct StoreOptions: ParsableArguments {
        @Option(
            name: .long,
            help: ArgumentHelp("The folder of the history, or a PostgreSQL URL (postgres://…).", valueName: "dir"))
        var store: String?

        @Option(
            name: .customLong("user"),
            help: ArgumentHelp("The user of the sessions (default: local).", valueName: "id"))
        var namedUser: String?

        @Flag(name: .long, help: "Print JSON.")
        var json = false

        /// The user ID, `local` by default.
        var user: String { namedUser ?? "local" }

        /// The history: `--store`, else `RECOLLECT_STORE`, else the default folder.
        var location: StoreLocation {
            let named =
                store ?? ProcessInfo.processInfo.environment["RECOLLECT_STORE"].flatMap { $0.isEmpty ? nil : $0 }
            guard let named else { return StoreLocation(kind: .store, path: SQLiteHistoryStore.defaultDirectory.path) }
            return StoreLocation(kind: StoreLocation.isDatabase(named) ? .database : .store, path: named)
        }

        /// The folder for files beside the history: its own folder; for a history in a database, the default folder.
        var directory: URL {
            let location = location
            return location.kind == .database ? SQLiteHistoryStore.defaultDirectory : location.url
        }

        func validate() throws {
            if store == "" { throw ValidationError("--store must not be empty.") }
        }

        /// Opens the history, runs a command on it, prints the events of the history to standard error, and closes
        /// the history. Then throws the error of the command, if any.
        /// - Parameters:
        ///   - location: The history; `nil` for that of the options.
        ///   - makes: Whether to create a missing folder. Reading commands pass `false`, so a mistyped folder
        ///     does not become an empty history. Tables in a database are created only by `recall postgres init`.
        /// - Throws: `notFound` if the history is missing and not to be created; errors of the opening and of the
        ///   command.
        func withHistory(
            at location: StoreLocation? = nil, makes: Bool = false,
            _ body: (any HistoryStore & UserListing) async throws -> Void
        ) async throws {
            let location = location ?? self.location
            guard location.kind == .database else {
                return try await withHistory(in: location.url, makes: makes) { try await body($0) }
            }
            #if Postgres
                try await withDatabase(location) { try await body($0) }
            #else
                throw RecollectError(
                    .invalidArgument,
                    "this program was built without PostgreSQL; build it with: swift build -c release --traits CommandLine,Postgres"
                )
            #endif
        }

        /// As `withHistory(at:makes:_:)`, for a command that needs the files of the history.
        /// - Throws: `invalidArgument` for a history in a database.
        func withHistoryFiles(
            instead command: String, _ body: (SQLiteHistoryStore) async throws -> Void
        ) async throws {
            guard location.kind != .database else {
                throw RecollectError(
                    .invalidArgument, "a history in a database has no files; use \(command) instead")
            }
            try await withHistory(in: location.url, makes: false, body)
        }

        private func withHistory(
            in directory: URL, makes: Bool, _ body: (SQLiteHistoryStore) async throws -> Void
        ) async throws {
            guard makes || Self.mayHoldHistory(directory) else {
                throw RecollectError(
                    .notFound,
                    "no history found at \(directory.path): create one with `recall import PATH`, or specify another folder with --store"
                )
            }
            let configuration = HistoryConfiguration(logger: Logger(label: "recall") { _ in SwiftLogNoOpLogHandler() })
            let history = SQLiteHistoryStore(directory: directory, configuration: configuration)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(history.open()))
            } catch {
                result = .failure(error)
            }
            printEvents(of: history)
            await history.close()
            try result.get()
        }

        /// Whether a folder may contain a history. A folder without a file of one does not, and reading creates
        /// none in it. If it cannot be listed, the answer is yes, and opening the history throws the reason.
        private static func mayHoldHistory(_ directory: URL) -> Bool {
            guard FileManager.default.fileExists(atPath: directory.path) else { return false }
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else { return true }
            return names.contains { $0.hasPrefix("history.") }
        }

        /// Prints the unread events of a history to standard error.
        func printEvents(of history: any HistoryStore) {
            // An erasure is the end of a deletion, not news.
            for event in history.events.takeUndelivered() where event.kind != .erased {
                var facts: [String] = []
                if let count = event.recoveredMessages { facts.append("\(Format.count(count, "message")) recovered") }
                if let count = event.lostMessages { facts.append("\(Format.count(count, "message")) lost") }
                if let file = event.setAsideURL {
                    facts.append("the \(event.kind == .salvaged ? "damaged " : "")file is now \(file.path)")
                }
                let what =
                    switch event.kind {
                    case .salvaged: "the history was damaged and has been salvaged"
                    case .foreignFile: "a foreign file had the name of the history's log"
                    case .interruptedReply: "an interrupted reply was saved as far as it was received"
                    case .hiddenMessages:
                        "messages in the log are not shown; for the cause and the fix, run: recall doctor"
                    case .missingFile: "a file of the history was missing"
                    case .rebuiltIndex: "the search index was rebuilt"
                    default: "history event: \(event.kind.rawValue)"
                    }
                Output.printError("recall: " + ([what] + facts).joined(separator: "; "))
            }
        }
    }
#endif
