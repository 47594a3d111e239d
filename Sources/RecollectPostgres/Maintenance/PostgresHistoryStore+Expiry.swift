#if Postgres
    import Foundation
    import RecollectCore

    /// Retention by age, for all users. A program calls this, such as a job of each night: servers delete nothing by themselves.
    extension PostgresHistoryStore {
        /// Permanently deletes messages of all users with a timestamp before a date. Returns their number.
        ///
        /// It reads all messages once, and then deletes those of one session after the other, at most 1,000 in a transaction. The
        /// change feed has one change for all of a transaction, `sessionRearranged`, without IDs of messages. Sessions without
        /// messages stay. Runs of several servers at once do not harm each other. A canceled task has deleted some of the messages.
        /// - Throws: `invalidArgument` for a date of NaN seconds; errors of the server.
        @discardableResult
        public func deleteMessages(olderThan date: Date) async throws -> Int {
            let milliseconds = try Self.milliseconds(of: date)
            var count = 0
            for partition in 0..<PostgresSchema.partitionCount {
                let sessions = try await sessions(
                    """
                    SELECT s.user_id, s.session_id FROM (
                      SELECT DISTINCT user_id, session FROM recollect.message_\(partition) WHERE timestamp < $1
                    ) AS old JOIN recollect.session_\(partition) AS s USING (user_id, session) ORDER BY s.user_id, s.session_id
                    """, milliseconds)
                for session in sessions { count += try await deleteMessages(olderThan: milliseconds, in: session) }
            }
            return count
        }

        /// Permanently deletes sessions of all users discarded before a date. Returns their number.
        ///
        /// The sessions are deleted one by one, each with its branches. A session restored meanwhile stays. A canceled task has
        /// deleted some of them.
        /// - Throws: `invalidArgument` for a date of NaN seconds; errors of the server.
        @discardableResult
        public func deleteSessions(discardedBefore date: Date) async throws -> Int {
            let milliseconds = try Self.milliseconds(of: date)
            var count = 0
            for partition in 0..<PostgresSchema.partitionCount {
                let sessions = try await sessions(
                    """
                    SELECT user_id, session_id FROM recollect.session_\(partition) WHERE discarded_at < $1
                    ORDER BY user_id, session_id
                    """, milliseconds)
                for session in sessions where try await delete(session, ifDiscardedBefore: milliseconds) { count += 1 }
            }
            return count
        }

        private static func milliseconds(of date: Date) throws -> Int64 {
            guard !date.timeIntervalSince1970.isNaN else {
                throw RecollectError(.invalidArgument, "the date is not a number; nothing was deleted")
            }
            return date.millisecondsSince1970
        }

        /// Returns the sessions found by a statement that reads a whole partition.
        private func sessions(_ statement: String, _ date: Int64) async throws -> [SessionKey] {
            try await performing("expiry") { database in
                let rows = try await database.reading(timeLimit: .seconds(86_400)) {
                    try await $0.run(statement, .integer(date))
                }
                return (0..<rows.count).map { SessionKey(userId: rows.text($0, 0), sessionId: rows.text($0, 1)) }
            }
        }

        private func deleteMessages(olderThan date: Int64, in session: SessionKey) async throws -> Int {
            let limit = 1_000
            var (total, count) = (0, limit)
            while count == limit {
                count =
                    try await writing(session) { number, transaction in
                        var operation = try await EditOperation(
                            olderThan: date, limit: limit, in: session, number, transaction)
                        let count = operation.removeAll()
                        return (try await operation.statements(recordsMessages: false), count)
                    } ?? 0
                total += count
            }
            return total
        }
    }
#endif
