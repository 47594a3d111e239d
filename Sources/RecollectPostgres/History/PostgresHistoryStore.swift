#if Postgres
    import Foundation
    import Logging
    import RecollectCore

    /// A history in a PostgreSQL database, shared by many servers.
    ///
    /// ```swift
    /// let history = try PostgresHistoryStore(url: "postgres://app@db.example.com/chats?sslrootcert=/etc/ssl/ca.pem")
    /// try await history.migrate()
    /// let chat = PostgresChatStorage(history: history, userId: "ana")
    /// ```
    ///
    /// Every call runs at the server, in one transaction: see `HistoryStore` for the promises. A save is durable when it returns,
    /// as far as the server's `synchronous_commit` makes it so. After a lost connection, a call runs again, and saves nothing
    /// twice. A canceled call saves all or nothing.
    ///
    /// Any server may write to any session at any time. The turns of one session run one after the other (`TurnLease`).
    public final class PostgresHistoryStore: HistoryStore, CustomStringConvertible {
        /// The events posted by the store.
        public let events: StoreEvents
        /// The hosts, ports and name of the database, for messages: no user, and no password.
        public var description: String { database.pool.address.description }
        let database: PostgresDatabase
        let configuration: PostgresConfiguration
        let knownStates = KnownStates()
        let appends: AppendQueue
        /// Signals writes of this process.
        let signal = Signal()
        /// Signals leases of turns released in this process.
        let leaseSignal = Signal()
        private let isChecked = Locked(false)

        /// Creates a store for a database. Nothing is read before the first call. The tables must exist: see `migrate()`.
        /// - Parameters:
        ///   - url: The URL of the database, or a string of keywords and values, as libpq reads them ("Connection Strings" in
        ///     PostgreSQL's documentation). There may be several hosts: the store writes to the primary. Certificates are verified
        ///     unless the host is this machine.
        ///   - configuration: The limits.
        /// - Throws: `invalidArgument` for a URL that libpq refuses.
        public convenience init(url: String, configuration: PostgresConfiguration = PostgresConfiguration()) throws {
            self.init(try PostgresAddress(url), configuration)
        }

        init(_ address: PostgresAddress, _ configuration: PostgresConfiguration) {
            self.configuration = configuration
            events = StoreEvents(logger: configuration.logger)
            var limits = PostgresPool.Limits()
            limits.maxConnections = max(1, configuration.maxConnections)
            limits.waitingTime = configuration.connectionTimeout
            let metrics = PostgresMetrics(
                configuration.metrics, tracer: configuration.tracer, server: address.description)
            database = PostgresDatabase(pool: PostgresPool(address, limits: limits, metrics: metrics))
            appends = AppendQueue(database, knownStates)
        }

        /// Creates the tables of the history, or updates those of an earlier version. Returns the number of steps.
        ///
        /// Each step is one transaction. Several servers may call this at once. A failed step changes nothing, and the next call
        /// continues with it.
        /// - Throws: `newerSchema` for tables of a newer version; `cannotOpen` for a database with another encoding than UTF-8;
        ///   `permissionDenied` without the right to create a schema; `busy` if other transactions use the tables for 10
        ///   seconds.
        @discardableResult
        public func migrate() async throws -> Int {
            try await PostgresMigrator(database: database).migrate()
        }

        /// Closes all connections. Later calls throw `unavailable`.
        public func close() {
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
        /// - Parameter operation: Its name in metrics.
        func performing<Value: Sendable>(
            _ operation: String = #function, _ body: (PostgresDatabase) async throws -> Value
        ) async throws -> Value {
            try await database.pool.metrics.measure(operation) {
                if !isChecked.withLock({ $0 }) {
                    try await PostgresMigrator(database: database).checkVersion()
                    isChecked.withLock { $0 = true }
                }
                return try await body(database)
            }
        }

        /// Runs an operation on one session in a transaction with a lock on it. Returns `nil` without such a session.
        /// - Parameters:
        ///   - createdAt: The date for a missing session, in milliseconds since 1970; `nil` creates none.
        ///   - waitsForLocks: Whether it waits for other transactions without a limit of its own. Otherwise, it throws `busy` after
        ///     two seconds.
        ///   - operation: Its name in metrics.
        ///   - body: The operation, with the number of the session. Returns the last statements and the value.
        func writing<Value: Sendable>(
            _ session: SessionKey, creatingAt createdAt: Int64? = nil, waitsForLocks: Bool = true,
            _ operation: String = #function,
            _ body: (Int64, PostgresTransaction) async throws -> (statements: [PostgresStatement], value: Value)
        ) async throws -> Value? {
            let value: Value? = try await performing(operation) { database in
                try await transaction(in: database) { transaction in
                    let limit = waitsForLocks ? [] : [PostgresTransaction.limitingLocks]
                    let creation = createdAt.map { [SessionColumns.insertion(of: session, createdAt: $0)] } ?? []
                    let results = try await transaction.run(limit + creation + [SessionColumns.lock(session)])
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
