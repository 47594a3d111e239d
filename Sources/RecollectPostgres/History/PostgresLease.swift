#if Postgres
    import Foundation
    import RecollectCore

    /// The leases of turns as rows of `turn_lease`, in the order of the numbers. They expire by the clock of the database.
    ///
    /// A write locks the rows of its turn's leases until its commit. So a lease is removed either before the write, which then saves
    /// nothing, or after it.
    struct PostgresLease: LeaseStorage {
        let store: PostgresHistoryStore

        var origin: String { store.leaseOrigin }
        var signal: Signal { store.leaseSignal }

        private func values(_ session: SessionKey, _ others: PostgresValue...) -> [PostgresValue] {
            [.bytes(session.userId.bytes), .bytes(session.sessionId.bytes)] + others
        }

        func enqueue(in session: SessionKey, for duration: Duration) async throws -> (token: Int64, isFirst: Bool) {
            try store.checkIDs([session.userId, session.sessionId])
            // Another number than those of all earlier transactions, and in the order of their commits: the row of the queue is locked.
            let statement = PostgresStatement(
                """
                WITH queue AS (
                  INSERT INTO recollect.turn_queue AS queue (user_id, session_id, last_token)
                  VALUES ($1, $2, recollect.feed_number())
                  ON CONFLICT (user_id, session_id)
                    DO UPDATE SET last_token = greatest(queue.last_token + 1, EXCLUDED.last_token)
                  RETURNING last_token
                )
                INSERT INTO recollect.turn_lease (user_id, session_id, token, expires_at)
                SELECT $1, $2, last_token, clock_timestamp() + $3 * interval '1 millisecond' FROM queue RETURNING token
                """, parameters: values(session, .integer(duration.milliseconds)))
            // A statement of its own: it sees the numbers committed while the first one waited for the queue.
            let others = PostgresStatement(
                "SELECT FROM recollect.turn_lease WHERE user_id = $1 AND session_id = $2 LIMIT 2",
                parameters: values(session))
            return try await store.performing("lease") { database in
                try await database.transaction { transaction in
                    let results = try await transaction.run([statement, others])
                    return ([], (results[0].integer(0, 0), results[1].count == 1))
                }
            }
        }

        func take(_ token: Int64, of session: SessionKey, for duration: Duration) async throws -> Bool? {
            let query = PostgresStatement(
                """
                SELECT token, expires_at <= clock_timestamp(),
                  expires_at <= clock_timestamp() + $4 * interval '1 millisecond'
                FROM recollect.turn_lease WHERE user_id = $1 AND session_id = $2 AND token <= $3 ORDER BY token
                """, parameters: values(session, .integer(token), .integer((duration / 2).milliseconds)))
            let rows = try await store.performing("lease") { try await $0.run(query) }
            guard rows.count > 0, rows.integer(rows.count - 1, 0) == token else { return nil }
            guard (0..<rows.count - 1).allSatisfy({ rows.boolean($0, 1) }) else {
                // Half of the time is left, or less.
                guard rows.boolean(rows.count - 1, 2) else { return false }
                return try await renew(token, of: session, for: duration) ? false : nil
            }
            let (isFirst, saved) = try await store.performing("lease") { database in
                try await database.transaction {
                    transaction -> ([PostgresStatement], (Bool?, [PostgresHistoryStore.SavedReply])) in
                    let removed = try await transaction.run([
                        PostgresStatement(
                            """
                            DELETE FROM recollect.turn_lease WHERE user_id = $1 AND session_id = $2 AND token < $3
                              AND expires_at <= clock_timestamp() RETURNING token
                            """, parameters: values(session, .integer(token)))
                    ])[0]
                    let tokens = (0..<removed.count).map { removed.integer($0, 0) }
                    let results = try await transaction.run([
                        renewal(token, of: session, for: duration),
                        PostgresStatement(
                            "SELECT FROM recollect.turn_lease WHERE user_id = $1 AND session_id = $2 AND token < $3",
                            parameters: values(session, .integer(token))),
                    ])
                    guard results[0].affectedCount > 0 else { return ([], (nil, [])) }
                    let saved = try await endReplies(begunWith: tokens, in: session, transaction)
                    return ([], (results[1].count == 0, saved))
                }
            }
            store.note(saved, in: session)
            return isFirst
        }

        /// Saves the streaming replies of turns that have lost their leases, and can end no reply anymore.
        private func endReplies(
            begunWith tokens: [Int64], in session: SessionKey, _ transaction: PostgresTransaction
        ) async throws -> [PostgresHistoryStore.SavedReply] {
            guard !tokens.isEmpty else { return [] }
            let query = StreamingReplyRow.query(
                "session_id = $2 AND turn_token = ANY ($3)", session.userId, .bytes(session.sessionId.bytes),
                .integers(tokens), locks: true)
            let rows = try await transaction.run([SessionColumns.lock(session), query])[1]
            return try await store.end(StreamingReplyRow.read(rows, userId: session.userId), transaction)
        }

        func renew(_ token: Int64, of session: SessionKey, for duration: Duration) async throws -> Bool {
            let statement = renewal(token, of: session, for: duration)
            return try await store.performing("renewLease") { try await $0.run(statement) }.affectedCount > 0
        }

        private func renewal(_ token: Int64, of session: SessionKey, for duration: Duration) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.turn_lease SET expires_at = clock_timestamp() + $4 * interval '1 millisecond'
                WHERE user_id = $1 AND session_id = $2 AND token = $3
                """, parameters: values(session, .integer(token), .integer(duration.milliseconds)))
        }

        func remove(_ token: Int64, of session: SessionKey) async throws {
            let statement = PostgresStatement(
                "DELETE FROM recollect.turn_lease WHERE user_id = $1 AND session_id = $2 AND token = $3",
                parameters: values(session, .integer(token)))
            _ = try await store.performing("releaseLease") { try await $0.run(statement) }
            signal.signal()
        }

        /// Returns the statements to remove the expired leases of a user's sessions, or of one, with their queues.
        static func removeExpired(of userId: String, in sessionId: String? = nil) -> [PostgresStatement] {
            let (user, session) = (PostgresValue.bytes(userId.bytes), PostgresValue.bytes(of: sessionId))
            let condition = "user_id = $1 AND ($2::bytea IS NULL OR session_id = $2)"
            return [
                // No number is given meanwhile.
                PostgresStatement(
                    "SELECT FROM recollect.turn_queue WHERE \(condition) ORDER BY session_id FOR UPDATE", user, session),
                PostgresStatement(
                    "DELETE FROM recollect.turn_lease WHERE \(condition) AND expires_at <= clock_timestamp()", user,
                    session),
                PostgresStatement(
                    """
                    DELETE FROM recollect.turn_queue WHERE \(condition) AND NOT EXISTS (
                      SELECT FROM recollect.turn_lease AS lease
                      WHERE lease.user_id = $1 AND lease.session_id = turn_queue.session_id)
                    """, user, session),
            ]
        }

        /// Returns the query for the rows of leases, locked until the end of the transaction.
        /// - Parameter first: The number of the first parameter.
        static func query(parametersFrom first: Int) -> String {
            """
            SELECT lease.token FROM recollect.turn_lease AS lease
            JOIN unnest($\(first)::bytea[], $\(first + 1)::bytea[], $\(first + 2)::bigint[])
              AS held (user_id, session_id, token) USING (user_id, session_id, token)
            FOR KEY SHARE OF lease
            """
        }

        /// Returns the parameters of `query`.
        static func values(_ leases: [TurnLease]) -> [PostgresValue] {
            [
                .byteArrays(leases.map(\.session.userId.bytes)), .byteArrays(leases.map(\.session.sessionId.bytes)),
                .integers(leases.map(\.token)),
            ]
        }
    }

#endif
