#if Postgres
    import Foundation
    import RecollectCore

    /// Retention by age, for all users. A program calls this, such as a job of each night: servers delete nothing by themselves.
    extension PostgresHistoryStore {
        /// Permanently deletes messages of all users with a timestamp before a date. Returns their number.
        ///
        /// It reads all messages once, and then deletes those of one session after the other, at most 1,000 in a transaction. The
        /// change feed has one change for all of a transaction, `sessionRearranged`, without IDs of messages. Sessions without
        /// messages stay. A session locked by another transaction for two seconds is left out; after ten of them, it ends. Runs of
        /// several servers at once do not harm each other. A canceled task has deleted some of the messages.
        /// - Throws: `invalidArgument` for a date of NaN seconds; `busy`, after the other deletions, if sessions were left out;
        ///   errors of the server.
        @discardableResult
        public func deleteMessages(olderThan date: Date) async throws -> Int {
            try await expire("messages", before: date) { partition in
                """
                SELECT s.user_id, s.session_id FROM (
                  SELECT DISTINCT user_id, session FROM recollect.message_\(partition) WHERE timestamp < $1
                ) AS old JOIN recollect.session_\(partition) AS s USING (user_id, session) ORDER BY s.user_id, s.session_id
                """
            } deleting: {
                try await deleteMessages(olderThan: $1, in: $0)
            }
        }

        /// Permanently deletes sessions of all users discarded before a date. Returns their number.
        ///
        /// The sessions are deleted one by one, each with its branches. A session restored meanwhile stays. One locked by another
        /// transaction for two seconds is left out; after ten of them, it ends. A canceled task has deleted some of them.
        /// - Throws: As `deleteMessages(olderThan:)`.
        @discardableResult
        public func deleteSessions(discardedBefore date: Date) async throws -> Int {
            try await expire("sessions", before: date) { partition in
                """
                SELECT user_id, session_id FROM recollect.session_\(partition) WHERE discarded_at < $1
                ORDER BY user_id, session_id
                """
            } deleting: {
                try await delete($0, ifDiscardedBefore: $1) ? 1 : 0
            }
        }

        /// Deletes from one session after the other. Returns the number of deletions.
        /// - Parameters:
        ///   - kind: The name of the deleted elements.
        ///   - statement: Returns the statement that finds the sessions of a partition.
        ///   - body: Deletes from a session, before a date in milliseconds since 1970, and returns the number of deletions.
        private func expire(
            _ kind: String, before date: Date, finding statement: (_ partition: Int) -> String,
            deleting body: (SessionKey, Int64) async throws -> Int
        ) async throws -> Int {
            guard !date.timeIntervalSince1970.isNaN else {
                throw RecollectError(.invalidArgument, "the date is not a number; nothing was deleted")
            }
            let milliseconds = date.millisecondsSince1970
            var count = 0
            var locked: [SessionKey] = []
            partitions: for partition in 0..<PostgresSchema.partitionCount {
                for session in try await sessions(statement(partition), milliseconds) {
                    do {
                        count += try await body(session, milliseconds)
                    } catch let error as RecollectError where error.code == .busy {
                        locked.append(session)
                        // The whole table may be locked.
                        if locked.count == 10 { break partitions }
                    }
                }
            }
            guard let first = locked.first else { return count }
            throw RecollectError(
                .busy,
                "\(description): could not lock \(locked.count) sessions within two seconds, among them session \(first.sessionId) of user \(first.userId); at least \(count) \(kind) were deleted from others; run it again"
            )
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
                    try await writing(session, waitsForLocks: false) { number, transaction in
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
