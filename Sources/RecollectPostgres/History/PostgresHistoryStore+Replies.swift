#if Postgres
    import Foundation
    import RecollectCore

    /// Streaming replies.
    extension PostgresHistoryStore {
        /// Begins a streaming reply: see `HistoryStore`.
        ///
        /// This server renews a lease of the reply until its end. After the end of the lease, the reply is saved as interrupted by
        /// the next call of `streamingReplies(in:)` for its session, or of this method with its ID.
        public func beginReply(
            _ message: ConversationMessage, in scope: Scope, maxMessages: Int?
        ) async throws -> StreamingReply {
            try message.checkSavable()
            try checkIDs([scope.userId, scope.sessionId, scope.agentId, message.id])
            var begun = message
            begun.isStreaming = false
            let (separated, attachments) = [begun].separatingAttachments()
            let first = separated[0]
            let reply = Int64.random(in: 1 ... .max)
            let saved = try await performing { database in
                try await transaction(in: database) { transaction in
                    let results = try await transaction.run([
                        SessionColumns.insertion(
                            of: scope.session, createdAt: first.timestamp.millisecondsSince1970),
                        SessionColumns.lock(scope.session), AppendState.insertion(of: scope),
                    ])
                    guard results[1].count == 1 else { throw PostgresFailure.changedMeanwhile }
                    let session = results[1].integer(0, 0)
                    let restored = try await transaction.run(
                        """
                        UPDATE recollect.session SET discarded_at = NULL, revision = $3
                        WHERE user_id = $1 AND session = $2 AND discarded_at IS NOT NULL
                        """, .bytes(scope.userId.bytes), .integer(session), .integer(.random(in: 0 ... .max))
                    ).affectedCount
                    let saved = try await prepareToBegin(for: first, in: scope, session, transaction)
                    var statements = StreamingReplyRow.begin(
                        reply, first, attachments, in: scope, session: session, lease: configuration.replyLeaseDuration,
                        turn: heldLeases.last { $0.session == scope.session })
                    if results[0].affectedCount == 1 || restored == 1 {
                        statements += ChangeColumns.record(
                            .sessionUpdated, scope.session, at: transaction.reserveFeedNumbers())
                    }
                    return (statements, saved)
                }
            }
            note(saved, in: scope.session)
            let writer = PostgresReplyWriter(store: self, reply: reply, scope: scope, maxMessages: maxMessages)
            return StreamingReply(begun, scope: scope, writer: writer)
        }

        /// Saves abandoned replies with the message's ID, and checks that no other message or reply has it.
        private func prepareToBegin(
            for message: ConversationMessage, in scope: Scope, _ session: Int64, _ transaction: PostgresTransaction
        ) async throws -> [SavedReply] {
            let query = StreamingReplyRow.query(
                withID: message.id, of: scope.agentId, in: [session], scope.userId, locks: true)
            let rows = StreamingReplyRow.read(try await transaction.run([query])[0], userId: scope.userId)
            guard rows.allSatisfy(\.isAbandoned) else { throw StreamingReply.alreadyStreaming }
            let saved = try await end(rows, transaction)
            let ids = ReplyIDs(userId: scope.userId, transaction: transaction)
            var known = try await ids.message(message.id, of: scope.agentId, in: session)
            if known == nil { known = try await ids.message(message.id, of: "", in: session) }
            try known.map { try message.checkBeginsReply(beside: $0, in: scope) }
            return saved
        }

        /// A reply saved as an interrupted message.
        struct SavedReply: Sendable {
            let scope: Scope
            let messageId: String
        }

        /// Saves streaming replies as interrupted messages, in a transaction with a lock on their session.
        func end(
            _ rows: [StreamingReplyRow], _ transaction: PostgresTransaction
        ) async throws -> [SavedReply] {
            var saved: [SavedReply] = []
            for row in rows {
                let ending = EndReplyOperation(
                    row: row, scope: row.scope, message: row.message.asInterrupted, attachments: [:], isAppended: true,
                    maxMessages: nil, session: row.session, transaction: transaction)
                let (statements, result) = try await ending.run()
                _ = try await transaction.run(statements)
                if let id = result?.savedID { saved.append(SavedReply(scope: row.scope, messageId: id)) }
            }
            return saved
        }

        /// Notes saved replies after the commit.
        func note(_ saved: [SavedReply], in session: SessionKey) {
            guard !saved.isEmpty else { return }
            knownStates.forget(session)
            signal.signal()
            for reply in saved {
                events.post(StoreEvent(kind: .interruptedReply, scope: reply.scope, messageId: reply.messageId))
            }
        }

        /// Returns the streaming replies of a session: see `HistoryStore`. Abandoned replies are saved as messages first.
        public func streamingReplies(in session: SessionKey) async throws -> [AgentMessage] {
            var rows = try await replies(of: session)
            if rows.contains(where: \.isAbandoned) {
                do {
                    try await saveAbandoned(in: session)
                    rows = try await replies(of: session)
                } catch let error as RecollectError
                    where [.diskFull, .readOnly, .permissionDenied, .leaseLost].contains(error.code)
                {
                    // They are returned as they are, and saved later.
                }
            }
            return rows.map { row in
                var message = row.message
                message.isStreaming = true
                return AgentMessage(agentId: row.scope.agentId, message: message)
            }
        }

        private func saveAbandoned(in session: SessionKey) async throws {
            let saved = try await writing(session) { _, transaction in
                let query = StreamingReplyRow.query(
                    "session_id = $2", session.userId, .bytes(session.sessionId.bytes), locks: true)
                let rows = StreamingReplyRow.read(try await transaction.run([query])[0], userId: session.userId)
                return ([], try await end(rows.filter(\.isAbandoned), transaction))
            }
            note(saved ?? [], in: session)
        }

        private func replies(of session: SessionKey) async throws -> [StreamingReplyRow] {
            let query = StreamingReplyRow.query("session_id = $2", session.userId, .bytes(session.sessionId.bytes))
            return StreamingReplyRow.read(
                try await performing("streamingReplies") { try await $0.run(query) }, userId: session.userId)
        }

        /// Turns a streaming reply into a message and trims its scope.
        func endReply(
            _ reply: Int64, begunIn scope: Scope, as message: ConversationMessage, isAppended: Bool, maxMessages: Int?
        ) async throws {
            try message.checkSavable()
            let (separated, attachments) = [message].separatingAttachments()
            let query = StreamingReplyRow.query("reply = $2", scope.userId, .integer(reply))
            let lockingQuery = StreamingReplyRow.query("reply = $2", scope.userId, .integer(reply), locks: true)
            let ended = try await performing { database in
                try await transaction(in: database) {
                    transaction -> ([PostgresStatement], (Scope, AppendOperation.Result?)?) in
                    // The session may have another ID since, or may have been merged.
                    func row(_ query: PostgresStatement) async throws -> StreamingReplyRow? {
                        StreamingReplyRow.read(try await transaction.run([query])[0], userId: scope.userId).first
                    }
                    let found = try await row(query)?.scope ?? scope
                    let locked = try await transaction.run([SessionColumns.lock(found.session)])[0]
                    let current = try await row(lockingQuery)
                    guard locked.count == 1 else {
                        if current != nil { throw PostgresFailure.changedMeanwhile }
                        return ([], nil)
                    }
                    let session = locked.integer(0, 0)
                    if let current, current.session != session { throw PostgresFailure.changedMeanwhile }
                    let ending = EndReplyOperation(
                        row: current, scope: current?.scope ?? scope, message: separated[0], attachments: attachments,
                        isAppended: isAppended, maxMessages: maxMessages, session: session, transaction: transaction)
                    let (statements, result) = try await ending.run()
                    return (statements, result.map { (ending.scope, $0.append) })
                }
            }
            guard let (endedScope, append) = ended else {
                throw RecollectError(
                    .notFound, "the session of this reply was deleted while the reply was streaming; it was not saved")
            }
            knownStates.note(append?.state, of: endedScope, after: append?.earlierRevision)
            signal.signal()
        }
    }
#endif
