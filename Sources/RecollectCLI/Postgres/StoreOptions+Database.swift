#if CommandLine && Postgres
    import Logging
    import Recollect
    import RecollectPostgres

    extension StoreOptions {
        /// Runs a command on a history in a database, and closes its connections.
        /// - Parameter location: The database; `nil` for that of the options.
        /// - Throws: `invalidArgument` if the history is a folder; errors of the command.
        func withDatabase(
            _ location: StoreLocation? = nil, _ body: (PostgresHistoryStore) async throws -> Void
        ) async throws {
            let location = location ?? self.location
            guard location.kind == .database else {
                throw RecollectError(
                    .invalidArgument,
                    "\(location.path) is not a database; name one with --store postgres://user@host/database")
            }
            let configuration = PostgresConfiguration(
                maxConnections: 4, logger: Logger(label: "recall") { _ in SwiftLogNoOpLogHandler() })
            let history = try PostgresHistoryStore(url: location.path, configuration: configuration)
            defer { history.close() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(history))
            } catch {
                result = .failure(error)
            }
            printEvents(of: history)
            try result.get()
        }
    }
#endif
