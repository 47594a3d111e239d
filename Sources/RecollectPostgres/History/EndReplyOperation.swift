#if Postgres
    import Foundation
    import RecollectCore

    /// Turns a streaming reply into a message, in a transaction with a lock on its session. Every end of a streaming reply uses it,
    /// by its writer or after the end of its lease.
    struct EndReplyOperation {
        /// The last saved state of the reply; `nil` if another server has saved it as interrupted.
        let row: StreamingReplyRow?
        let scope: Scope
        /// The final message, with attachments stored by hash.
        let message: ConversationMessage
        /// The bytes of new attachments by hash.
        let attachments: [String: Data]
        /// Whether the message has the content appended by its writer, and was not given at the end.
        let isAppended: Bool
        /// The budget for trimming the window at the end. `nil` trims no messages.
        let maxMessages: Int?
        /// The number of the session.
        let session: Int64
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(scope.userId.bytes) }

        struct Result: Sendable {
            /// The ID of the saved message, or `nil` if a saved message had the content of the reply already.
            var savedID: String?
            /// The append of the message; `nil` if it was an edit.
            var append: AppendOperation.Result?
        }

        /// Saves the message and removes the reply. Returns the last statements of the transaction, and `nil` without a reply.
        func run() async throws -> (statements: [PostgresStatement], value: Result?) {
            let begun: ConversationMessage
            if let row {
                begun = row.message
            } else if let saved = try await stored(message.id, scope.agentId), saved.isInterrupted {
                begun = saved
            } else {
                return ([], nil)
            }
            if let row {
                _ = try await transaction.run([
                    AttachmentRows(userId: scope.userId).lock(usedBy: [-row.reply], and: message.storedAttachments)
                ])
            }
            var ending = FinalReply(message, of: begun, isAppended: isAppended)
            var isKnown = false
            switch ending.resolution(beside: message.isInterrupted ? try await heldMessage(begun.id) : nil) {
            case .save: break
            case .keepStored(let stored):
                // The reply's agent adopts a message without an agent.
                ending = stored
                isKnown = true
            case .useNewID: ending.use(id: try await freeID(from: begun.id))
            }
            let saved = try await save(ending)
            let result = Result(savedID: isKnown ? nil : saved.id, append: saved.append)
            guard let row else { return ([], result) }
            let rows = AttachmentRows(userId: scope.userId)
            let removed = try await transaction.run([
                PostgresStatement(
                    "DELETE FROM recollect.streaming_reply WHERE user_id = $1 AND reply = $2", user,
                    .integer(row.reply)),
                rows.removeUses(by: [-row.reply]),
            ])[1]
            return (rows.deleteUnused(removed), result)
        }

        /// Appends the message, or edits a known one with its ID. A known message of another role is no reply: then the message is
        /// saved beside it under an ID derived from its own.
        /// - Returns: The ID of the message, and its append if it was one.
        private func save(_ ending: FinalReply) async throws -> (id: String, append: AppendOperation.Result?) {
            let appending = AppendOperation(
                messages: [ending.message], attachments: attachments, scope: scope,
                options: AppendOptions(maxMessages: maxMessages, claimsUnassigned: true), transaction: transaction)
            let appended = try await appending.run()
            _ = try await transaction.run(appended.statements)
            guard let plan = appended.plan, plan.outcome.alreadyStored > 0 else {
                return (ending.message.id, appended)
            }
            let known = try await stored(ending.message.id, scope.agentId)
            if let known, known.role != ending.message.role {
                var copy = ending
                copy.use(id: ending.message.copyId(from: scope.agentId))
                return try await save(copy)
            }
            let (message, whole) = ending.edit(of: known)
            var edit = try await EditOperation(
                [whole.id], agentId: scope.agentId, attachments: attachments, in: scope.session, session, transaction)
            _ = edit.replace(whole)
            _ = try await transaction.run(try await edit.statements())
            return (message.id, nil)
        }

        private func heldMessage(_ id: String) async throws -> ConversationMessage? {
            if let own = try await stored(id, scope.agentId) { return own }
            return try await stored(id, "")
        }

        private func stored(_ id: String, _ agentId: String) async throws -> ConversationMessage? {
            try await ReplyIDs(userId: scope.userId, transaction: transaction).message(id, of: agentId, in: session)
        }

        private func freeID(from id: String) async throws -> String {
            try await ReplyIDs(userId: scope.userId, transaction: transaction)
                .freeID(from: id, scope.agentId, scope.session, in: [session])
        }
    }
#endif
