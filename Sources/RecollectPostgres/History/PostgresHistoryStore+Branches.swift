#if Postgres
    import Foundation
    import RecollectCore

    /// Branches, forks and moves of sessions.
    extension PostgresHistoryStore {
        /// Moves the messages from one message on into a branch: see `HistoryStore`.
        public func branch(_ session: SessionKey, from messageId: String, agentId: String?) async throws -> SessionKey {
            let branch = try await writing(session) { number, transaction -> ([PostgresStatement], SessionKey?) in
                let operation = BranchOperation(session: session, number: number, transaction: transaction)
                guard
                    let position = try await operation.moves.position(of: messageId, in: number, agentId: agentId)
                else { return ([], nil) }
                let branch = try await operation.cut(from: position)
                return (
                    ChangeColumns.record(.sessionRearranged, session, at: transaction.reserveFeedNumbers()), branch
                )
            }
            guard let branch = branch ?? nil else {
                throw RecollectError(
                    .notFound, "there is no message \(messageId) in session \(session.sessionId) to branch at")
            }
            return branch
        }

        /// Restores a branch: see `HistoryStore`.
        public func restoreBranch(_ branch: SessionKey, in session: SessionKey) async throws {
            let isRestored = try await writing(session) { number, transaction in
                try await BranchOperation(session: session, number: number, transaction: transaction).restore(branch)
            }
            knownStates.forget(branch)
            guard isRestored ?? false else {
                throw RecollectError(
                    .notFound, "session \(session.sessionId) has no branch \(branch.sessionId)")
            }
        }

        /// Copies a session up to a message: see `HistoryStore`.
        public func fork(
            _ session: SessionKey, at messageId: String, agentId: String?, into newSessionId: String
        ) async throws {
            try checkIDs([newSessionId])
            let target = SessionKey(userId: session.userId, sessionId: newSessionId)
            let isCopied = try await writing(session) { number, transaction in
                try await ForkOperation(source: session, number: number, target: target, transaction: transaction)
                    .run(at: messageId, agentId: agentId)
            }
            knownStates.forget(target)
            guard isCopied ?? false else {
                throw RecollectError(
                    .notFound, "there is no message \(messageId) in session \(session.sessionId) to fork at")
            }
        }

        /// Moves a session to another session ID: see `HistoryStore`.
        @discardableResult
        public func moveSession(_ session: SessionKey, to newSessionId: String) async throws -> Bool {
            let target = SessionKey(userId: session.userId, sessionId: newSessionId)
            guard session != target else { return false }
            try checkIDs([newSessionId])
            let isMoved = try await writing(session) { number, transaction in
                try await MoveOperation(source: session, number: number, target: target, transaction: transaction)
                    .run()
            }
            knownStates.forget(target)
            return isMoved ?? false
        }
    }

    /// Cuts and restores branches of a session, in a transaction with a lock on it.
    struct BranchOperation {
        let session: SessionKey
        let number: Int64
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(session.userId.bytes) }
        var moves: MessageMoves { MessageMoves(userId: session.userId, transaction: transaction) }
        private var replies: ReplyIDs { ReplyIDs(userId: session.userId, transaction: transaction) }

        /// Moves the messages from a position on into a new branch. Returns its key.
        func cut(from position: Int64) async throws -> SessionKey {
            let branch = SessionKey(userId: session.userId, sessionId: UUID.random().uuidString)
            let branchNumber = Int64.random(in: 1 ... .max)
            _ = try await transaction.run(
                [
                    PostgresStatement(
                        """
                        INSERT INTO recollect.session (
                          user_id, session, session_id, revision, created_at, last_activity, last_access, title_key, branch_of,
                          branch_after, branch_agent, branch_number, read_through, added, last_position)
                        SELECT $1, $3, $4, $5, $6, $6, least($6, \(SessionColumns.lastAccess)), $7, session, last.message_id,
                          last.agent_id, recollect.feed_number(), read_through, added, last_position
                        FROM recollect.session LEFT JOIN LATERAL (
                          SELECT m.message_id, s.agent_id
                          FROM recollect.message AS m JOIN recollect.scope AS s USING (user_id, session, scope)
                          WHERE m.user_id = $1 AND m.session = $2 AND m.position < $8 ORDER BY m.position DESC LIMIT 1
                        ) AS last ON true
                        WHERE user_id = $1 AND session = $2
                        """, user, .integer(number), .integer(branchNumber), .bytes(branch.sessionId.bytes),
                        .integer(.random(in: 0 ... .max)), .integer(Date().millisecondsSince1970),
                        .bytes(SessionColumns.titleKey(branch.sessionId)), .integer(position)),
                    moves.removingDeletions(in: session, number, from: position),
                ] + moves.move(from: number, startingAt: position, to: branchNumber)
                    // Streaming replies follow all messages. Another agent's replies answer earlier questions.
                    + [replies.move(from: number, to: branchNumber, ofItsAgents: true)])
            try await moves.recount(branchNumber)
            try await moves.recount(number)
            return branch
        }

        /// Restores a branch. The messages saved in the session since the branch was created become a branch themselves.
        /// - Returns: The last statements, and whether there is such a branch.
        func restore(_ branch: SessionKey) async throws -> (statements: [PostgresStatement], value: Bool) {
            let found = try await transaction.run(
                """
                SELECT session, branch_after, branch_agent FROM recollect.session
                WHERE user_id = $1 AND session_id = $2 AND branch_of = $3 FOR UPDATE
                """, user, .bytes(branch.sessionId.bytes), .integer(number))
            guard found.count == 1, branch.userId.hasSameBytes(as: session.userId) else { return ([], false) }
            let source = found.integer(0, 0)
            let position = try await position(
                of: source, after: found.optionalText(0, 1), agentId: found.optionalText(0, 2))
            if try await !moves.positions(of: number, from: position).isEmpty { _ = try await cut(from: position) }
            // An unread branch makes its session unread.
            _ = try await transaction.run(
                """
                UPDATE recollect.session SET read_through = least(session.read_through, source.read_through)
                FROM recollect.session AS source
                WHERE session.user_id = $1 AND session.session = $2 AND source.user_id = $1 AND source.session = $3
                  AND source.added > source.read_through
                """, user, .integer(number), .integer(source))
            try await replies.separate(source, branch, from: number)
            _ = try await moves.takeFreeIDs(of: source, branch, in: number)
            let messages = try await moves.positions(of: source)
            var statements: [PostgresStatement] = []
            if let first = messages.first, first < position {
                let last = try await transaction.run(
                    "SELECT max(last_position) FROM recollect.session WHERE user_id = $1 AND session IN ($2, $3)", user,
                    .integer(number), .integer(source)
                ).integer(0, 0)
                statements += moves.putLast(messages.map { (source, $0) }, after: last)
            }
            statements += moves.move(from: source, to: number) + [replies.move(from: source, to: number)]
            statements.append(
                PostgresStatement(
                    "UPDATE recollect.session SET branch_of = $2 WHERE user_id = $1 AND branch_of = $3", user,
                    .integer(number), .integer(source)))
            statements += ["compaction", "scope", "tag", "session"].map {
                PostgresStatement(
                    "DELETE FROM recollect.\($0) WHERE user_id = $1 AND session = $2", user, .integer(source))
            }
            _ = try await transaction.run(statements)
            try await moves.recount(number)
            return (ChangeColumns.record(.sessionRearranged, session, at: transaction.reserveFeedNumbers()), true)
        }

        /// Returns the position from which the session differs from a branch.
        /// - Throws: `notFound` if the message before this position is now in another branch.
        private func position(of branch: Int64, after messageId: String?, agentId: String?) async throws -> Int64 {
            guard let messageId else { return .min }
            if let position = try await position(of: messageId, agentId, in: number) { return position + 1 }
            let others = try await transaction.run(
                "SELECT session FROM recollect.session WHERE user_id = $1 AND branch_of = $2 AND session <> $3", user,
                .integer(number), .integer(branch))
            for row in 0..<others.count
            where try await position(of: messageId, agentId, in: others.integer(row, 0)) != nil {
                throw RecollectError(
                    .notFound,
                    "session \(session.sessionId) no longer contains message \(messageId), where the branch begins; "
                        + "restore the branch that contains that message first")
            }
            // The message was deleted. Messages saved since the branch was created come after the branch's first message, unless
            // they are earlier ones of other agents.
            return try await moves.positions(of: branch).first ?? .max
        }

        /// Returns the position of the message before a branch, looked up under its agent. Without a known agent, or for a message
        /// without an agent and possibly adopted since, the message of any agent counts.
        private func position(of messageId: String, _ agentId: String?, in session: Int64) async throws -> Int64? {
            if let position = try await moves.position(of: messageId, in: session, agentId: agentId) { return position }
            return agentId == "" ? try await moves.position(of: messageId, in: session, agentId: nil) : nil
        }
    }
#endif
