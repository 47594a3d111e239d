#if Postgres
    import RecollectCore

    /// The change feed.
    extension PostgresHistoryStore {
        /// Returns the current position of the change feed: see `HistoryStore`.
        public func latestChangeCursor() async throws -> ChangeCursor {
            try await readUpToDate {
                try await $0.read(
                    """
                    SELECT greatest(
                      (SELECT coalesce(max(sequence), 0) FROM recollect.message WHERE sequence < recollect.feed_end()),
                      (SELECT coalesce(max(sequence), 0) FROM recollect.change WHERE sequence < recollect.feed_end())),
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
            let limit = PostgresValue.integer(Int64(max(1, limit)))
            return try await readUpToDate {
                try await $0.read(
                    """
                    SELECT feed.*, \(Self.isWaiting) FROM (SELECT 1) AS one LEFT JOIN (
                      (SELECT sequence, user_id, session_id, agent_id, message_id, sequence AS message_sequence, 'messageAdded' AS kind
                       FROM recollect.message
                       JOIN recollect.session USING (user_id, session) JOIN recollect.scope USING (user_id, session, scope)
                       WHERE sequence > $1 AND sequence < recollect.feed_end() ORDER BY sequence LIMIT $2)
                      UNION ALL
                      (SELECT sequence, user_id, session_id, agent_id, message_id, message_sequence, kind
                       FROM recollect.change WHERE sequence > $1 AND sequence < recollect.feed_end()
                       ORDER BY sequence LIMIT $2)
                      ORDER BY sequence LIMIT $2
                    ) AS feed ON true ORDER BY sequence
                    """, .integer(cursor.sequence), limit)
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

        /// Whether there are saved changes that are not yet in the feed.
        private static let isWaiting = """
            (EXISTS (SELECT FROM recollect.message WHERE sequence >= recollect.feed_end())
             OR EXISTS (SELECT FROM recollect.change WHERE sequence >= recollect.feed_end()))
            """

        /// Reads until all saved changes are in the feed, for at most `PostgresConfiguration.feedTimeout`. The last column is `isWaiting`.
        private func readUpToDate<Value: Sendable>(
            _ query: (PostgresDatabase) async throws -> PostgresResult, read: (PostgresResult) -> Value
        ) async throws -> Value {
            let deadline = ContinuousClock.now + configuration.feedTimeout
            var pause = Duration.milliseconds(1)
            while true {
                let rows = try await performing(query)
                guard rows.boolean(0, rows.columnCount - 1), ContinuousClock.now < deadline else { return read(rows) }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(50))
            }
        }
    }
#endif
