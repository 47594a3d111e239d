#if Postgres
    import Foundation
    import RecollectCore

    /// An open transaction of several round trips. One task uses it. One that only reads sees one state of the database.
    final class PostgresTransaction: Sendable {
        private struct State {
            var hasBegun = false
            var feedOffset: Int64 = 0
        }

        /// Statements see what other transactions have committed before them, also where the default of the database differs.
        static let begin = PostgresStatement("BEGIN ISOLATION LEVEL READ COMMITTED")

        /// Statements see one state of the database.
        static let beginReading = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

        /// Keeps the planner from sorting all messages of a session to return the last ones. By old statistics, it expects few messages, and
        /// prefers a bitmap scan with a sort. Without bitmaps, it reads the index with the order.
        static let readingInOrder = PostgresStatement("SELECT set_config('enable_bitmapscan', 'off', true)")

        /// Limits the wait for each lock. A statement fails after it, and the transaction with it.
        static let limitingLocks = PostgresStatement("SELECT set_config('lock_timeout', '2s', true)")

        /// Limits the time between two statements: the locks of a stopped server must not last. See also `readingInOrder`.
        private static let settings = PostgresStatement(
            """
            SELECT set_config('idle_in_transaction_session_timeout', '10s', true),
              set_config('enable_bitmapscan', 'off', true)
            """)

        private let connection: PostgresConnection
        private let state = Locked(State())

        private let isReadOnly: Bool
        private let timeLimit: DispatchTimeInterval

        /// Creates a transaction of a connection.
        /// - Parameter timeLimit: The time for the statements of each round trip.
        init(
            _ connection: PostgresConnection, isReadOnly: Bool = false,
            timeLimit: DispatchTimeInterval = PostgresConnection.timeLimit
        ) {
            (self.connection, self.isReadOnly, self.timeLimit) = (connection, isReadOnly, timeLimit)
        }

        /// Runs statements in one round trip. Returns their results.
        func run(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
            let isFirst = state.withLock { state in
                defer { state.hasBegun = true }
                return !state.hasBegun
            }
            guard isFirst else { return try await connection.run(statements, timeLimit: timeLimit) }
            // One that only reads has no locks, and may work for long between two statements.
            let beginning = isReadOnly ? [Self.beginReading] : [Self.begin, Self.settings]
            return Array(
                try await connection.run(beginning + statements, timeLimit: timeLimit).dropFirst(beginning.count))
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
