#if Postgres
    import RecollectCore

    /// An open transaction of several round trips. One task uses it. One that only reads sees one state of the database.
    final class PostgresTransaction: Sendable {
        private struct State {
            var hasBegun = false
            var feedOffset: Int64 = 0
            var number: Int64?
        }

        /// Statements see what other transactions have committed before them, also where the default of the database differs.
        static let begin = PostgresStatement("BEGIN ISOLATION LEVEL READ COMMITTED")

        /// Statements see one state of the database.
        static let beginReading = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

        /// Reads the number of the transaction, and limits the time between two statements: the locks of a server that was stopped
        /// must not last.
        private static let number = PostgresStatement("SELECT \(timeout), pg_current_xact_id()::text::bigint")
        private static let timeout = "set_config('idle_in_transaction_session_timeout', '10s', true)"

        private let connection: PostgresConnection
        private let state = Locked(State())

        private let isReadOnly: Bool

        init(_ connection: PostgresConnection, isReadOnly: Bool = false) {
            (self.connection, self.isReadOnly) = (connection, isReadOnly)
        }

        /// The number of the transaction, after its beginning. One that only reads has none.
        var number: Int64? { state.withLock(\.number) }

        /// Runs statements in one round trip. Returns their results.
        func run(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
            let isFirst = state.withLock { state in
                defer { state.hasBegun = true }
                return !state.hasBegun
            }
            guard isFirst else { return try await connection.run(statements) }
            let beginning =
                isReadOnly
                ? [Self.beginReading, PostgresStatement("SELECT \(Self.timeout)")]
                : [Self.begin, Self.number]
            let results = try await connection.run(beginning + statements)
            if !isReadOnly {
                let number = results[1].integer(0, 1)
                state.withLock { $0.number = number }
            }
            return Array(results.dropFirst(beginning.count))
        }

        /// Runs a statement. Returns its result.
        func run(_ sql: String, _ parameters: PostgresValue...) async throws -> PostgresResult {
            try await run([PostgresStatement(sql, parameters: parameters)])[0]
        }

        /// Reserves numbers of the change feed, relative to `recollect.feed_number()`. Returns the first one.
        func reserveFeedNumbers(_ count: Int = 1) -> Int64 {
            state.withLock { state in
                defer { state.feedOffset += Int64(count) }
                return state.feedOffset
            }
        }

        /// Ends the transaction without any change. A failed statement has already ended it.
        func rollBack() async {
            guard state.withLock(\.hasBegun), connection.currentCondition.isInTransaction else { return }
            // If this fails, the pool closes the connection, and the server rolls back.
            _ = try? await connection.run("ROLLBACK")
        }
    }
#endif
