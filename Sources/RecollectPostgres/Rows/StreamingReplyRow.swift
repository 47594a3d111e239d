#if Postgres
    import Foundation
    import RecollectCore

    /// A streaming reply as a row of `streaming_reply`.
    ///
    /// Its content is that of a message, and the growing text at its end is `text`. An attachment in it is used by the negative number
    /// of the reply.
    struct StreamingReplyRow: Sendable {
        let reply: Int64
        let session: Int64
        let scope: Scope
        let message: ConversationMessage
        /// Whether its writer has not renewed its lease in time.
        let isAbandoned: Bool

        /// Returns the statement to read streaming replies, the oldest first.
        /// - Parameters:
        ///   - condition: A condition for `$2` and later values; `$1` is the user.
        ///   - locks: Whether to lock them until the end of the transaction: an increment must not be saved between the read and
        ///     the end of a reply.
        static func query(
            _ condition: String, _ userId: String, _ values: PostgresValue..., locks: Bool = false
        ) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT \(MessageColumns.selected), reply, message.session, session_id, agent_id,
                  leased_until < clock_timestamp()
                FROM recollect.streaming_reply AS message JOIN recollect.session USING (user_id, session)
                WHERE user_id = $1 AND \(condition) ORDER BY begun, reply \(locks ? "FOR UPDATE OF message" : "")
                """, parameters: [.bytes(userId.bytes)] + values)
        }

        /// Returns the statement to read the streaming replies with an ID that may be saved to messages of an agent: its own and
        /// those without an agent. A message without an agent may become one of any agent, so for the empty agent ID, it reads
        /// those of all agents.
        static func query(
            withID id: String, of agentId: String, in sessions: [Int64], _ userId: String, locks: Bool = false
        ) -> PostgresStatement {
            query(
                "message.session = ANY ($2) AND message_id = $3 AND (agent_id IN ($4, '') OR $4 = '')", userId,
                .integers(sessions), .bytes(id.bytes), .bytes(agentId.bytes), locks: locks)
        }

        /// Returns the rows of `query`.
        static func read(_ rows: PostgresResult, userId: String) -> [StreamingReplyRow] {
            (0..<rows.count).map { row in
                var message = MessageColumns.read(rows, row)
                if !rows.isNull(row, 6), let text = rows.optionalText(row, 5) { message.parts.append(.text(text)) }
                let first = MessageColumns.count
                return StreamingReplyRow(
                    reply: rows.integer(row, first), session: rows.integer(row, first + 1),
                    scope: Scope(
                        userId: userId, sessionId: rows.text(row, first + 2), agentId: rows.text(row, first + 3)),
                    message: message, isAbandoned: rows.boolean(row, first + 4))
            }
        }

        /// Returns the statements to save the first state of a streaming reply.
        /// - Parameters:
        ///   - attachments: The bytes of its attachments by hash.
        ///   - turn: The lease of the turn that has begun it.
        static func begin(
            _ reply: Int64, _ message: ConversationMessage, _ attachments: [String: Data], in scope: Scope,
            session: Int64, lease: Duration, turn: TurnLease?
        ) -> [PostgresStatement] {
            var head = message
            let text = head.takeLastText()
            let isProse = head.parts.isEmpty && text != nil
            let uses = AttachmentRows.uses(by: message, sequence: -reply)
            return [
                PostgresStatement(
                    """
                    INSERT INTO recollect.streaming_reply (
                      user_id, reply, session, agent_id, message_id, role, timestamp, metadata, unknown_fields, parts, text,
                      begun, leased_until, turn_token)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, recollect.feed_number(),
                      clock_timestamp() + $12 * interval '1 millisecond', $13)
                    """,
                    parameters: [
                        .bytes(scope.userId.bytes), .integer(reply), .integer(session), .bytes(scope.agentId.bytes),
                        .bytes(message.id.bytes), .bytes(message.role.rawValue.bytes),
                        .integer(message.timestamp.millisecondsSince1970),
                        .optional(MessageColumns.bytes(of: message.metadata)),
                        .optional(MessageColumns.bytes(of: message.unknownFields)),
                        isProse ? .null : .bytes(ContentPart.write(list: head.parts).bytes), .bytes(of: text),
                        .integer(lease.milliseconds), .optional(turn?.token),
                    ])
            ] + AttachmentRows(userId: scope.userId).save(attachments, for: uses, isRelative: false)
        }

        /// Returns the statement to save the growing text, unless a UI has saved a longer one, and to renew the lease.
        /// - Parameter text: The text; `nil` if the last part is not text.
        static func save(_ text: String?, of reply: Int64, _ userId: String, lease: Duration) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.streaming_reply SET leased_until = clock_timestamp() + $4 * interval '1 millisecond',
                  text = CASE WHEN $3::bytea IS NULL OR substring(text FROM 1 FOR length($3)) IS DISTINCT FROM $3
                    THEN $3 ELSE text END
                WHERE user_id = $1 AND reply = $2
                """, .bytes(userId.bytes), .integer(reply), .bytes(of: text), .integer(lease.milliseconds))
        }

        /// Returns the statement to renew the lease of a reply's writer.
        static func renew(_ reply: Int64, _ userId: String, lease: Duration) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.streaming_reply SET leased_until = clock_timestamp() + $3 * interval '1 millisecond'
                WHERE user_id = $1 AND reply = $2
                """, .bytes(userId.bytes), .integer(reply), .integer(lease.milliseconds))
        }

        /// Returns the statements to save all parts, those before a growing text and this text, and to renew the lease.
        /// - Parameter attachments: The bytes of attachments by hash.
        func save(
            _ text: String?, behind parts: [ContentPart], _ attachments: [String: Data], lease: Duration
        ) -> [PostgresStatement] {
            var whole = (parts + [text].compactMap { $0.map(ContentPart.text) }).keepingLongerText(of: message.parts)
            let end = text == nil ? nil : whole.removeLast().text
            let uses = AttachmentRows.uses(
                by: ConversationMessage(role: message.role, parts: whole), sequence: -reply)
            return [
                PostgresStatement(
                    """
                    UPDATE recollect.streaming_reply SET leased_until = clock_timestamp() + $5 * interval '1 millisecond',
                      text = $3, parts = $4
                    WHERE user_id = $1 AND reply = $2
                    """, .bytes(scope.userId.bytes), .integer(reply), .bytes(of: end),
                    .bytes(ContentPart.write(list: whole).bytes), .integer(lease.milliseconds))
            ] + AttachmentRows(userId: scope.userId).save(attachments, for: uses, isRelative: false)
        }
    }
#endif
