#if Postgres
    import RecollectCore

    /// The IDs of streaming replies, kept free of conflicts when sessions are merged, in a transaction with locks on both.
    struct ReplyIDs {
        let userId: String
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(userId.bytes) }

        /// Returns the streaming replies of a session, the oldest first.
        func replies(of session: Int64) async throws -> [StreamingReplyRow] {
            let query = StreamingReplyRow.query("message.session = $2", userId, .integer(session))
            return StreamingReplyRow.read(try await transaction.run([query])[0], userId: userId)
        }

        /// Returns the statement to move the streaming replies of a session to another one. Their writers end them there.
        /// - Parameter ofItsAgents: Limits the move to agents with messages in the other session.
        func move(from session: Int64, to target: Int64, ofItsAgents: Bool = false) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.streaming_reply SET session = $3 WHERE user_id = $1 AND session = $2
                  AND (NOT $4 OR agent_id IN (
                    SELECT scope.agent_id FROM recollect.scope WHERE scope.user_id = $1 AND scope.session = $3))
                """, user, .integer(session), .integer(target), .boolean(ofItsAgents))
        }

        /// Resolves ID conflicts before a merge of two sessions: a streaming reply gets a new ID if the other session has a message
        /// or a streaming reply with its ID.
        ///
        /// A streaming reply already saved as a message of its own session follows that message: see `follow`. A message without an
        /// agent is that of an agent's reply, unless the other session has a message of the agent with the ID.
        /// - Parameter id: The ID of the source. New IDs are derived from its session ID.
        func separate(_ source: Int64, _ id: SessionKey, from target: Int64) async throws {
            for (own, other) in [(source, target), (target, source)] {
                for row in try await replies(of: own) {
                    let (agentId, known) = (row.scope.agentId, row.message.id)
                    var isSaved = try await isMessage(known, of: [agentId], in: own)
                    if !isSaved, try await isMessage(known, of: [""], in: own) {
                        isSaved = try await !isMessage(known, of: [agentId], in: other)
                    }
                    if !isSaved, try await isUsed(known, agentId, in: [other]) {
                        try await takeFreeID(row, id, in: [own, other])
                    }
                }
            }
        }

        /// Gives new IDs to the streaming replies of a session if messages with their IDs are copied into it.
        /// - Parameters:
        ///   - source: The session of these messages.
        ///   - id: The ID of the session without messages. New IDs are derived from it.
        func separate(_ session: Int64, _ id: SessionKey, fromCopiesOf source: Int64) async throws {
            for row in try await replies(of: session)
            where try await isMessage(row.message.id, of: [row.scope.agentId, ""], in: source) {
                try await takeFreeID(row, id, in: [session, source])
            }
        }

        /// Gives the streaming replies for an agent's message the ID of that message in the target of a merge, or a free ID if the
        /// target has a streaming reply with it.
        ///
        /// A message without an agent is that of an agent's reply, unless the agent has its own message with the ID.
        /// - Parameter id: The ID of the source. New IDs are derived from its session ID.
        func follow(
            _ messageId: String, to new: String, of agentId: String, in source: Int64, _ id: SessionKey,
            to target: Int64
        ) async throws {
            for row in try await replies(of: source) where row.message.id.hasSameBytes(as: messageId) {
                if !row.scope.agentId.hasSameBytes(as: agentId) {
                    guard agentId.isEmpty, try await !isMessage(messageId, of: [row.scope.agentId], in: source) else {
                        continue
                    }
                }
                if try await hasReply(new, row.scope.agentId, in: [target]) {
                    try await takeFreeID(row, id, in: [source, target])
                } else {
                    try await setID(new, of: row)
                }
            }
        }

        /// Returns the first ID derived from another one and used for no message or streaming reply of an agent in the sessions.
        /// - Parameter session: The ID of the session from which new IDs are derived.
        func freeID(
            from id: String, _ agentId: String, _ session: SessionKey, in sessions: [Int64]
        ) async throws -> String {
            var free = id
            repeat {
                free = ConversationMessage.copyId(of: free, from: session.sessionId)
            } while try await isUsed(free, agentId, in: sessions)
            return free
        }

        /// Whether the sessions have a streaming reply with an ID that may be saved to a message of the agent.
        func hasReply(_ id: String, _ agentId: String, in sessions: [Int64]) async throws -> Bool {
            try await transaction.run([
                StreamingReplyRow.query(withID: id, of: agentId, in: sessions, userId)
            ])[0].count > 0
        }

        /// Returns an agent's message with an ID.
        func message(_ id: String, of agentId: String, in session: Int64) async throws -> ConversationMessage? {
            let rows = try await messages(id, of: [agentId], in: session)
            return rows.count > 0 ? MessageColumns.read(rows, 0) : nil
        }

        private func isUsed(_ id: String, _ agentId: String, in sessions: [Int64]) async throws -> Bool {
            if try await hasReply(id, agentId, in: sessions) { return true }
            for session in sessions where try await isMessage(id, of: [agentId, ""], in: session) { return true }
            return false
        }

        private func isMessage(_ id: String, of agentIds: [String], in session: Int64) async throws -> Bool {
            try await messages(id, of: agentIds, in: session).count > 0
        }

        private func messages(_ id: String, of agentIds: [String], in session: Int64) async throws -> PostgresResult {
            try await transaction.run(
                """
                SELECT \(MessageColumns.selected)
                FROM recollect.message JOIN recollect.scope USING (user_id, session, scope)
                WHERE user_id = $1 AND session = $2 AND message_id = $3 AND agent_id = ANY ($4)
                """, user, .integer(session), .bytes(id.bytes), .byteArrays(agentIds.map(\.bytes)))
        }

        private func takeFreeID(_ row: StreamingReplyRow, _ id: SessionKey, in sessions: [Int64]) async throws {
            let free = try await freeID(from: row.message.id, row.scope.agentId, id, in: sessions)
            try await setID(free, of: row)
        }

        private func setID(_ id: String, of row: StreamingReplyRow) async throws {
            _ = try await transaction.run(
                "UPDATE recollect.streaming_reply SET message_id = $3 WHERE user_id = $1 AND reply = $2", user,
                .integer(row.reply), .bytes(id.bytes))
        }
    }
#endif
