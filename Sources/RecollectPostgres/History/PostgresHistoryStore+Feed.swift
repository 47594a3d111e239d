#if Postgres
    import RecollectCore

    /// The change feed.
    extension PostgresHistoryStore {
        /// Returns the current position of the change feed: see `HistoryStore`.
        public func latestChangeCursor() async throws -> ChangeCursor {
            try await readUpToDate(.max) {
                try await $0.read(
                    """
                    \(Self.bound)
                    SELECT greatest(
                      (SELECT coalesce(max(sequence), 0) FROM recollect.message
                       WHERE sequence < (SELECT through FROM bound)),
                      (SELECT coalesce(max(sequence), 0) FROM recollect.change
                       WHERE sequence < (SELECT through FROM bound))),
                      \(Self.isWaiting)
                    """)
            } read: { rows in
                ChangeCursor(sequence: rows.integer(0, 0))
            }
        }

        /// Returns changes after a cursor: see `HistoryStore`.
        ///
        /// A change is in the feed when all transactions that began before its own have ended, also those of other databases of the
        /// server. This method waits for them: see `PostgresConfiguration.feedTimeout`.
        public func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
            let limit = max(1, limit)
            return try await readUpToDate(limit) {
                try await $0.read(
                    """
                    \(Self.bound), added AS MATERIALIZED (
                      SELECT user_id, session, scope, sequence, message_id FROM recollect.message
                      WHERE sequence > $1 AND sequence < (SELECT through FROM bound) ORDER BY sequence LIMIT $2
                    ), named AS MATERIALIZED (
                      SELECT user_id, session, scope, session_id, agent_id
                      FROM (SELECT DISTINCT user_id, session, scope FROM added) AS scopes
                      JOIN recollect.session USING (user_id, session) JOIN recollect.scope USING (user_id, session, scope)
                    )
                    SELECT feed.*, \(Self.isWaiting) FROM (SELECT 1) AS one LEFT JOIN (
                      SELECT sequence, user_id, session_id, agent_id, message_id, sequence AS message_sequence, 'messageAdded' AS kind
                      FROM added JOIN named USING (user_id, session, scope)
                      UNION ALL
                      (SELECT sequence, user_id, session_id, agent_id, message_id, message_sequence, kind
                       FROM recollect.change WHERE sequence > $1 AND sequence < (SELECT through FROM bound)
                       ORDER BY sequence LIMIT $2)
                      ORDER BY sequence LIMIT $2
                    ) AS feed ON true ORDER BY sequence
                    """, .integer(cursor.sequence), .integer(Int64(limit)))
            } read: { rows in
                (0..<rows.count).filter { !rows.isNull($0, 0) }.map { row in
                    HistoryChange(
                        cursor: ChangeCursor(sequence: rows.integer(row, 0)),
                        kind: HistoryChange.Kind(rawValue: rows.text(row, 6)),
                        session: SessionKey(userId: rows.text(row, 1), sessionId: rows.text(row, 2)),
                        agentId: rows.optionalText(row, 3), messageId: rows.optionalText(row, 4),
                        additionCursor: rows.optionalInteger(row, 5).map(ChangeCursor.init(sequence:)))
                }
            }
        }

        /// Returns a stream of changes after a cursor: see `HistoryStore`. It checks for writes of other processes every 250 ms.
        ///
        /// A change is read on demand, so a slow reader costs no memory. The stream ends when the iterating task is canceled.
        public func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
            ChangeFeedReader.stream(after: cursor, signal) { [self] in try await changes(after: $0, limit: $1) }
        }

        /// The end of the feed, computed once instead of once for each partition.
        private static let bound = "WITH bound AS MATERIALIZED (SELECT recollect.feed_end() AS through)"

        /// Whether there are saved changes that are not yet in the feed.
        private static let isWaiting = """
            (EXISTS (SELECT FROM recollect.message WHERE sequence >= (SELECT through FROM bound))
             OR EXISTS (SELECT FROM recollect.change WHERE sequence >= (SELECT through FROM bound)))
            """

        /// Reads until a page has `limit` rows or all saved changes are in the feed, for at most `PostgresConfiguration.feedTimeout`. The
        /// last column is `isWaiting`.
        private func readUpToDate<Value: Sendable>(
            _ limit: Int, _ query: (PostgresDatabase) async throws -> PostgresResult, read: (PostgresResult) -> Value
        ) async throws -> Value {
            let deadline = ContinuousClock.now + configuration.feedTimeout
            var pause = Duration.milliseconds(1)
            while true {
                let rows = try await performing("changes", query)
                let isFull = rows.count >= limit && !rows.isNull(0, 0)
                guard !isFull, rows.boolean(0, rows.columnCount - 1), ContinuousClock.now < deadline else {
                    return read(rows)
                }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(50))
            }
        }
    }
#endif
