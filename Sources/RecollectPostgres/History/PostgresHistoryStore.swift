#if Postgres
    import Foundation
    import Logging
    import RecollectCore

    /// A history in a PostgreSQL database, shared by many servers.
    ///
    /// Every call runs at the server: see `HistoryStore` for the promises. A save is durable when it returns, as far as the server's
    /// `synchronous_commit` makes it so.
    final class PostgresHistoryStore: HistoryStore {
        /// The events posted by the store.
        let events: StoreEvents
        let database: PostgresDatabase
        /// The longest time a read of the change feed waits for transactions that began before those of saved changes.
        let feedWaitingTime: Duration
        /// The time after which the reply of a server that renews nothing is saved as interrupted.
        let replyLease: Duration
        let knownStates = KnownStates()
        /// Signals writes of this process.
        let signal = Signal()
        /// Signals leases of turns released in this process.
        let leaseSignal = Signal()
        private let isChecked = Locked(false)

        /// Creates a store for a database. Nothing is read before the first use.
        /// - Parameters:
        ///   - address: The address of the database.
        ///   - feedWaitingTime: The longest time a read of the change feed waits for transactions that began before those of saved
        ///     changes. Later, it returns the changes before them.
        ///   - replyLease: The time after which the streaming reply of a server that has ended, or does not reach the database, is
        ///     saved as interrupted.
        ///   - logger: The logger of this store. Message bodies are never logged.
        init(
            _ address: PostgresAddress, feedWaitingTime: Duration = .seconds(1), replyLease: Duration = .seconds(30),
            logger: Logger = Logger(label: "recollect")
        ) {
            self.feedWaitingTime = feedWaitingTime
            self.replyLease = replyLease
            events = StoreEvents(logger: logger)
            database = PostgresDatabase(pool: PostgresPool(address))
        }

        /// Creates the tables of the history, or updates those of an earlier version. Returns the number of steps.
        /// - Throws: `newerSchema`, `permissionDenied`, `busy`: see `PostgresMigrator`.
        @discardableResult
        func migrate() async throws -> Int {
            try await PostgresMigrator(database: database).migrate()
        }

        /// Closes all connections.
        func close() {
            database.pool.close()
        }

        /// Checks the lengths of new IDs and tags: an entry of an index has at most 2,704 bytes.
        /// - Throws: `tooLarge`.
        func checkIDs(_ ids: [String]) throws {
            guard let long = ids.first(where: { $0.utf8.count > 500 }) else { return }
            throw RecollectError(
                .tooLarge,
                "an ID or a tag has \(long.utf8.count) bytes; PostgreSQL takes at most 500; nothing was saved: \(long.prefix(80))…"
            )
        }

        /// Runs an operation, after a check of the tables' version at the first use.
        func performing<Value: Sendable>(_ body: (PostgresDatabase) async throws -> Value) async throws -> Value {
            if !isChecked.withLock({ $0 }) {
                try await PostgresMigrator(database: database).checkVersion()
                isChecked.withLock { $0 = true }
            }
            return try await body(database)
        }

        /// Runs an operation on one session in a transaction with a lock on it. Returns `nil` without such a session.
        /// - Parameters:
        ///   - createdAt: The date for a missing session, in milliseconds since 1970; `nil` creates none.
        ///   - body: The operation, with the number of the session. Returns the last statements and the value.
        func writing<Value: Sendable>(
            _ session: SessionKey, creatingAt createdAt: Int64? = nil,
            _ body: (Int64, PostgresTransaction) async throws -> (statements: [PostgresStatement], value: Value)
        ) async throws -> Value? {
            let value: Value? = try await performing { database in
                try await transaction(in: database) { transaction in
                    let creation = createdAt.map { [SessionColumns.insertion(of: session, createdAt: $0)] } ?? []
                    let results = try await transaction.run(creation + [SessionColumns.lock(session)])
                    guard let locked = results.last, locked.count == 1 else {
                        // Another transaction has deleted or moved the session while this one waited for its row.
                        if createdAt != nil { throw PostgresFailure.changedMeanwhile }
                        return ([], nil)
                    }
                    let (statements, value) = try await body(locked.integer(0, 0), transaction)
                    return (statements, value)
                }
            }
            knownStates.forget(session)
            signal.signal()
            return value
        }
    }
#endif
