#if Postgres
    import RecollectCore

    /// The row by which the attempts of one call know whether one of them was committed.
    ///
    /// The number of a transaction does not do: a server that crashes before it has written a commit gives the number again. All
    /// attempts insert the same key, so at most one of them is committed, also if an earlier one reaches the server late.
    struct TransactionOutcome: Sendable {
        private let key = Int64.random(in: 1 ... .max)

        /// The statement of an attempt, before its commit. It waits for an earlier attempt that has not ended, and fails after one that
        /// was committed.
        ///
        /// One of 64 calls also removes rows older than ten minutes: a call runs again for less than that.
        func insertion(_ attempt: Int64) -> PostgresStatement {
            let insertion = "INSERT INTO recollect.outcome (key, attempt) VALUES ($1, $2)"
            let values: [PostgresValue] = [.integer(key), .integer(attempt)]
            guard key.isMultiple(of: 64) else { return PostgresStatement(insertion, parameters: values) }
            return PostgresStatement(
                """
                WITH removed AS (
                  DELETE FROM recollect.outcome WHERE key IN (
                    SELECT key FROM recollect.outcome WHERE saved_at < now() - interval '10 minutes'
                    ORDER BY saved_at LIMIT 1000 FOR UPDATE SKIP LOCKED)
                )
                \(insertion)
                """, parameters: values)
        }

        /// Returns the attempt that was committed; `nil` if none was.
        ///
        /// If its connection ended while it waited for a synchronous standby, it is committed on the primary alone. So this is a
        /// write: its commit waits until the standby has all before it.
        func committedAttempt(_ connection: PostgresConnection) async throws -> Int64? {
            let rows = try await connection.run(
                "UPDATE recollect.outcome SET attempt = attempt WHERE key = $1 RETURNING attempt", .integer(key))
            return rows.count == 1 ? rows.integer(0, 0) : nil
        }
    }
#endif
