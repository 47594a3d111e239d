#if Postgres
    import Foundation
    import RecollectCore

    /// Saves the increments of one streaming reply, and renews its lease until the end of the reply.
    ///
    /// A server that ends or loses its connection renews nothing: then the next reader of the session saves the reply as
    /// interrupted. Times are those of the database's clock.
    final class PostgresReplyWriter: ReplyWriter {
        private let store: PostgresHistoryStore
        private let reply: Int64
        private let scope: Scope
        /// The budget for trimming the scope's window at the end of the reply.
        private let maxMessages: Int?
        /// The hashes of attachments already saved: parts are saved again with each increment of reasoning.
        private let saved = Locked<Set<String>>([])
        private let renewing: Task<Void, Never>

        init(store: PostgresHistoryStore, reply: Int64, scope: Scope, maxMessages: Int?) {
            self.store = store
            self.reply = reply
            self.scope = scope
            self.maxMessages = maxMessages
            renewing = Task { [database = store.database, lease = store.configuration.replyLeaseDuration] in
                let renewal = StreamingReplyRow.renew(reply, scope.userId, lease: lease)
                // Ends with the cancellation of its sleep.
                while (try? await Task.sleep(for: lease / 3)) != nil {
                    // A failed renewal is tried again. In the end, another server saves the reply.
                    _ = try? await database.run(renewal)
                }
            }
        }

        deinit {
            renewing.cancel()
        }

        func save(_ text: String?, behind parts: [ContentPart]?) async throws {
            guard let parts else {
                let statement = StreamingReplyRow.save(
                    text, of: reply, scope.userId, lease: store.configuration.replyLeaseDuration)
                return try await store.performing("saveReply") { _ = try await $0.run(statement) }
            }
            try parts.checkSavable()
            let (separated, all) = [ConversationMessage(role: .assistant, parts: parts)].separatingAttachments()
            let known = saved.withLock { $0 }
            let attachments = all.filter { !known.contains($0.key) }
            try await store.performing("saveReply") { database in
                try await database.transaction { transaction in
                    let lock = PostgresStatement(
                        "SELECT FROM recollect.streaming_reply WHERE user_id = $1 AND reply = $2 FOR UPDATE",
                        .bytes(scope.userId.bytes), .integer(reply))
                    let query = StreamingReplyRow.query("reply = $2", scope.userId, .integer(reply))
                    let rows = try await transaction.run([lock, query])[1]
                    // A deleted reply stays deleted.
                    guard let row = StreamingReplyRow.read(rows, userId: scope.userId).first else { return ([], ()) }
                    return (
                        row.save(
                            text, behind: separated[0].parts, attachments, lease: store.configuration.replyLeaseDuration
                        ),
                        ()
                    )
                }
            }
            saved.withLock { $0.formUnion(all.keys) }
        }

        func finish(_ message: ConversationMessage, isAppended: Bool) async throws {
            try await store.endReply(
                reply, begunIn: scope, as: message, isAppended: isAppended, maxMessages: maxMessages)
            renewing.cancel()
        }
    }
#endif
