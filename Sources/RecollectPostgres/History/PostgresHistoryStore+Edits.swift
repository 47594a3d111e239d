#if Postgres
    import RecollectCore

    /// Edits and permanent deletions.
    extension PostgresHistoryStore {
        /// Replaces the content of messages: see `HistoryStore`.
        @discardableResult
        public func edit(_ messages: [ConversationMessage], in session: SessionKey) async throws -> Int {
            try messages.checkSavable()
            let (messages, attachments) = messages.separatingAttachments()
            let ids = messages.map(\.id)
            return try await writing(session) { number, transaction in
                var operation = try await EditOperation(
                    ids, attachments: attachments, in: session, number, transaction)
                let count = messages.reduce(0) { $0 + operation.replace($1) }
                return (try await operation.statements(), count)
            } ?? 0
        }

        /// Replaces the content of messages, unless it was changed since it was read: see `HistoryStore`.
        @discardableResult
        public func edit(_ edits: [MessageEdit], in session: SessionKey) async throws -> [MessageEdit] {
            try edits.map(\.new).checkSavable()
            let (messages, attachments) = edits.map(\.new).separatingAttachments()
            let ids = messages.map(\.id)
            return try await writing(session) { number, transaction in
                var operation = try await EditOperation(
                    ids, attachments: attachments, in: session, number, transaction)
                let made = zip(edits, messages).filter { operation.replace($1, known: $0.old) > 0 }.map(\.0)
                return (try await operation.statements(), made)
            } ?? []
        }

        /// Deletes messages permanently: see `HistoryStore`.
        @discardableResult
        public func deleteMessages(_ ids: [String], in session: SessionKey) async throws -> Int {
            try await writing(session) { number, transaction in
                var operation = try await EditOperation(ids, in: session, number, transaction)
                let count = operation.removeAll()
                return (try await operation.statements(), count)
            } ?? 0
        }

        /// Deletes messages permanently, unless they were changed since they were read: see `HistoryStore`.
        @discardableResult
        public func delete(_ messages: [ConversationMessage], in session: SessionKey) async throws
            -> [ConversationMessage]
        {
            let ids = messages.map(\.id)
            return try await writing(session) { number, transaction in
                var operation = try await EditOperation(ids, in: session, number, transaction)
                let deleted = messages.filter { operation.remove($0) > 0 }
                return (try await operation.statements(), deleted)
            } ?? []
        }

        /// Deletes a session with its branches permanently: see `HistoryStore`.
        @discardableResult
        public func deleteSession(_ session: SessionKey) async throws -> Bool {
            try await delete(session, ifDiscardedBefore: nil)
        }

        /// Deletes a session with its branches permanently.
        /// - Parameter date: Deletes nothing unless the session is discarded since before this date, in milliseconds since 1970;
        ///   `nil` for no condition. With a date, it throws `busy` for a session locked by another transaction.
        /// - Returns: Whether it was deleted.
        func delete(_ session: SessionKey, ifDiscardedBefore date: Int64?) async throws -> Bool {
            let user = PostgresValue.bytes(session.userId.bytes)
            // In a transaction before that of the deletion: a write locks its lease before its session.
            _ = try await performing {
                try await $0.write(PostgresLease.removeExpired(of: session.userId, in: session.sessionId))
            }
            return try await writing(session, waitsForLocks: date == nil) { number, transaction in
                if let date {
                    let discarded = try await transaction.run(
                        "SELECT FROM recollect.session WHERE user_id = $1 AND session = $2 AND discarded_at < $3", user,
                        .integer(number), .integer(date))
                    if discarded.count == 0 { return ([], false) }
                }
                let gone = try await locked(
                    """
                    user_id = $1 AND session IN (
                      WITH RECURSIVE gone (session) AS (
                        SELECT $2::bigint UNION SELECT branch.session
                        FROM recollect.session AS branch JOIN gone ON branch.branch_of = gone.session
                        WHERE branch.user_id = $1
                      ) SELECT session FROM gone)
                    """, [user, .integer(number)], transaction)
                let deletions = try await deleting(gone, of: session.userId, transaction)
                // A last `sessionRearranged` stays: some missing messages were not deleted with the session.
                let earlier = PostgresStatement(
                    "DELETE FROM recollect.change WHERE user_id = $1 AND session_id = $2 AND kind <> $3", user,
                    .bytes(session.sessionId.bytes), .text(HistoryChange.Kind.sessionRearranged.rawValue))
                let change = ChangeColumns.record(.sessionDeleted, session, at: transaction.reserveFeedNumbers())
                return (deletions + [earlier] + change, true)
            } ?? false
        }

        /// Deletes all data of a user permanently: see `HistoryStore`.
        public func deleteUser(_ userId: String) async throws {
            let user = PostgresValue.bytes(userId.bytes)
            let rearranged = HistoryChange.Kind.sessionRearranged.rawValue
            try await performing { database in
                try await transaction(in: database) { transaction in
                    _ = try await transaction.run(PostgresLease.removeExpired(of: userId))
                    let found = try await transaction.run(
                        """
                        SELECT (SELECT true FROM recollect.session WHERE user_id = $1 ORDER BY session LIMIT 1) IS NOT NULL
                          OR (SELECT true FROM recollect.change WHERE user_id = $1 AND session_id <> ''
                              ORDER BY sequence LIMIT 1) IS NOT NULL
                        """, user)
                    guard found.boolean(0, 0) else { return ([], ()) }
                    let gone = try await locked("user_id = $1", [user], transaction)
                    let deletions = try await deleting(gone, of: userId, transaction)
                    let changes = [
                        PostgresStatement(
                            """
                            DELETE FROM recollect.change WHERE user_id = $1 AND sequence IS DISTINCT FROM (
                              SELECT max(sequence) FROM recollect.change WHERE user_id = $1 AND kind = $2)
                            """, user, .text(rearranged)),
                        PostgresStatement(
                            "UPDATE recollect.change SET session_id = '' WHERE user_id = $1 AND kind = $2", user,
                            .text(rearranged)),
                    ]
                    let deletion = ChangeColumns.record(
                        .userDeleted, SessionKey(userId: userId, sessionId: ""),
                        at: transaction.reserveFeedNumbers())
                    return (deletions + changes + deletion, ())
                }
            }
            knownStates.forget(user: userId)
            signal.signal()
        }

        /// Locks the sessions with a condition, until none has been added meanwhile, and returns them: no other transaction can write
        /// to them, and later ones create others.
        private func locked(
            _ condition: String, _ values: [PostgresValue], _ transaction: PostgresTransaction
        ) async throws -> PostgresValue {
            let statement = PostgresStatement(
                "SELECT session FROM recollect.session WHERE \(condition) ORDER BY session FOR UPDATE",
                parameters: values)
            var sessions: Set<Int64> = []
            while true {
                let rows = try await transaction.run([statement])[0]
                let found = Set((0..<rows.count).map { rows.integer($0, 0) })
                if found.isSubset(of: sessions) { return .integers(sessions.sorted()) }
                sessions.formUnion(found)
            }
        }

        /// Returns the statements to delete sessions, after the uses of attachments by their messages were removed.
        private func deleting(
            _ sessions: PostgresValue, of userId: String, _ transaction: PostgresTransaction
        ) async throws -> [PostgresStatement] {
            let attachments = AttachmentRows(userId: userId)
            // Its writer must not add a use after this.
            let lock = PostgresStatement(
                "SELECT FROM recollect.streaming_reply WHERE user_id = $1 AND session = ANY ($2) ORDER BY reply FOR UPDATE",
                .bytes(userId.bytes), sessions)
            let removed = try await transaction.run([lock, attachments.removeUses(inSessions: sessions)])[1]
            return ["message", "streaming_reply", "compaction", "scope", "tag", "session"].map {
                PostgresStatement(
                    "DELETE FROM recollect.\($0) WHERE user_id = $1 AND session = ANY ($2)", .bytes(userId.bytes),
                    sessions)
            } + attachments.deleteUnused(removed)
        }
    }
#endif
