#if Postgres
    import RecollectCore

    /// An open transaction of several round trips. One task uses it.
    final class PostgresTransaction: Sendable {
        private struct State {
            var hasBegun = false
            var feedOffset: Int64 = 0
        }

        private let connection: PostgresConnection
        private let state = Locked(State())

        init(_ connection: PostgresConnection) {
            self.connection = connection
        }

        /// Runs statements in one round trip. Returns their results.
        func run(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
            let isFirst = state.withLock { state in
                defer { state.hasBegun = true }
                return !state.hasBegun
            }
            guard isFirst else { return try await connection.run(statements) }
            return Array(try await connection.run([PostgresStatement("BEGIN")] + statements).dropFirst())
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
