#if Postgres
    import RecollectCore

    /// Moves messages between sessions of a user, in a transaction with locks on both. The caller recounts both sessions.
    struct MessageMoves {
        let userId: String
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(userId.bytes) }
        private var replies: ReplyIDs { ReplyIDs(userId: userId, transaction: transaction) }

        /// Returns the statements to move the messages of a session from a position on to another session, to scopes of the same
        /// agents. They keep their positions.
        ///
        /// Those scopes must contain neither their IDs nor their positions.
        func move(from source: Int64, startingAt position: Int64 = .min, to target: Int64) -> [PostgresStatement] {
            let values: [PostgresValue] = [user, .integer(source), .integer(target), .integer(position)]
            return [
                PostgresStatement(
                    """
                    INSERT INTO recollect.scope (user_id, session, scope, agent_id)
                    SELECT user_id, $3, row_number() OVER (ORDER BY first.position) + (
                        SELECT coalesce(max(known.scope), 0) FROM recollect.scope AS known
                        WHERE known.user_id = $1 AND known.session = $3), agent_id
                    FROM recollect.scope AS own CROSS JOIN LATERAL (
                      SELECT m.position FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = $2 AND m.scope = own.scope AND m.position >= $4
                      ORDER BY m.position LIMIT 1) AS first
                    WHERE user_id = $1 AND session = $2
                    ON CONFLICT (user_id, session, agent_id) DO NOTHING
                    """, parameters: values),
                // A compaction follows its last covered message.
                PostgresStatement(
                    """
                    UPDATE recollect.compaction SET session = $3, scope = into_.scope
                    FROM recollect.scope AS own JOIN recollect.scope AS into_
                      ON into_.user_id = $1 AND into_.session = $3 AND into_.agent_id = own.agent_id
                    JOIN recollect.message AS m ON m.user_id = $1 AND m.session = $2 AND m.scope = own.scope
                      AND m.position >= $4
                    WHERE own.user_id = $1 AND own.session = $2 AND compaction.user_id = $1 AND compaction.session = $2
                      AND compaction.scope = own.scope AND compaction.boundary = m.sequence
                    """, parameters: values),
                PostgresStatement(
                    """
                    UPDATE recollect.message SET session = $3, scope = into_.scope
                    FROM recollect.scope AS own JOIN recollect.scope AS into_
                      ON into_.user_id = $1 AND into_.session = $3 AND into_.agent_id = own.agent_id
                    WHERE own.user_id = $1 AND own.session = $2 AND message.user_id = $1 AND message.session = $2
                      AND message.scope = own.scope AND message.position >= $4
                    """, parameters: values),
                PostgresStatement(
                    """
                    UPDATE recollect.session SET last_position = greatest(session.last_position, source.last_position),
                      added = greatest(session.added, source.added)
                    FROM recollect.session AS source
                    WHERE source.user_id = $1 AND source.session = $2 AND session.user_id = $1 AND session.session = $3
                    """, parameters: Array(values.prefix(3))),
            ]
        }

        /// Returns the statement to remove the deletions of earlier messages with the IDs of present ones, before these leave
        /// their session: they were added again.
        func removingDeletions(in session: SessionKey, _ number: Int64, from position: Int64 = .min)
            -> PostgresStatement
        {
            PostgresStatement(
                """
                DELETE FROM recollect.change USING recollect.message AS m, recollect.scope AS s
                WHERE change.user_id = $1 AND change.session_id = $3 AND change.kind = $5
                  AND m.user_id = $1 AND m.session = $2 AND m.position >= $4 AND m.message_id = change.message_id
                  AND s.user_id = $1 AND s.session = $2 AND s.scope = m.scope
                  AND (change.agent_id = s.agent_id OR change.agent_id = '' OR s.agent_id = '')
                  AND coalesce(change.message_sequence, change.sequence) < m.sequence
                """, user, .integer(number), .bytes(session.sessionId.bytes), .integer(position),
                .text(HistoryChange.Kind.messageDeleted.rawValue))
        }

        /// Counts the messages of a session again, after moves: reads all of its rows. A session without messages behind its read
        /// mark is read.
        func recount(_ session: Int64) async throws {
            let results = try await transaction.run([
                PostgresStatement(
                    """
                    UPDATE recollect.session SET revision = $3, message_count = own.count,
                      last_activity = coalesce(own.latest, created_at), input_tokens = own.input, output_tokens = own.output,
                      cache_creation_tokens = own.cache_creation, cache_read_tokens = own.cache_read,
                      read_through = CASE WHEN own.last > read_through THEN read_through ELSE added END
                    FROM (
                      SELECT count(*) AS count, max(timestamp) AS latest, coalesce(max(number), 0) AS last,
                        coalesce(sum(input_tokens), 0)::bigint AS input, coalesce(sum(output_tokens), 0)::bigint AS output,
                        coalesce(sum(cache_creation_tokens), 0)::bigint AS cache_creation,
                        coalesce(sum(cache_read_tokens), 0)::bigint AS cache_read
                      FROM recollect.message AS m WHERE m.user_id = $1 AND m.session = $2
                    ) AS own
                    WHERE user_id = $1 AND session = $2
                    """, user, .integer(session), .integer(.random(in: 0 ... .max))),
                SessionPreview.query(of: session, userId),
            ])
            guard let preview = SessionPreview(results[1]) else { return }
            _ = try await transaction.run([preview.update(of: session, userId)])
        }

        /// Gives messages new positions after all others of both sessions, in the given order of their present positions.
        func putLast(_ order: [(session: Int64, position: Int64)], after last: Int64) -> [PostgresStatement] {
            let first = (last & ~(AppendPlan.step - 1)) + AppendPlan.step
            let places = order.indices.map { first + Int64($0) * AppendPlan.step }
            return [
                PostgresStatement(
                    """
                    UPDATE recollect.message SET position = new.place
                    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS new (session, position, place)
                    WHERE user_id = $1 AND message.session = new.session AND message.position = new.position
                    """, user, .integers(order.map(\.session)), .integers(order.map(\.position)), .integers(places)),
                PostgresStatement(
                    "UPDATE recollect.session SET last_position = $3 WHERE user_id = $1 AND session = ANY ($2)", user,
                    .integers(Array(Set(order.map(\.session)))), .integer(places.last ?? last)),
            ]
        }

        /// Returns the positions of a session's messages in order.
        func positions(of session: Int64, from position: Int64 = .min) async throws -> [Int64] {
            let rows = try await transaction.run(
                """
                SELECT position FROM recollect.message WHERE user_id = $1 AND session = $2 AND position >= $3
                ORDER BY position
                """, user, .integer(session), .integer(position))
            return (0..<rows.count).map { rows.integer($0, 0) }
        }

        /// Returns the position of an agent's message with an ID, or of the first one of any agent.
        func position(of messageId: String, in session: Int64, agentId: String?) async throws -> Int64? {
            let rows = try await transaction.run(
                """
                SELECT position FROM recollect.message JOIN recollect.scope USING (user_id, session, scope)
                WHERE user_id = $1 AND session = $2 AND message_id = $3 AND ($4::bytea IS NULL OR agent_id = $4)
                ORDER BY position LIMIT 1
                """, user, .integer(session), .bytes(messageId.bytes), .bytes(of: agentId))
            return rows.count > 0 ? rows.integer(0, 0) : nil
        }

        // MARK: - IDs used in both sessions

        /// Gives new IDs to messages of a session if another one has their IDs with other content of the same agent. Their streaming
        /// replies and the branches from them follow. Deletes those already in the other session with the same content.
        /// - Parameter id: The ID of the session, for the new IDs.
        /// - Returns: The position in the other session of each message with an ID of it, by its own position.
        func takeFreeIDs(of source: Int64, _ id: SessionKey, in target: Int64) async throws -> [Int64: Int64] {
            let rows = try await transaction.run(
                """
                SELECT m.message_id, m.scope, m.position, other.scope, other.position, own.agent_id FROM recollect.message AS m
                JOIN recollect.scope AS own USING (user_id, session, scope)
                JOIN recollect.scope AS into_
                  ON into_.user_id = $1 AND into_.session = $3 AND into_.agent_id = own.agent_id
                JOIN recollect.message AS other ON other.user_id = $1 AND other.session = $3
                  AND other.scope = into_.scope AND other.message_id = m.message_id
                WHERE m.user_id = $1 AND m.session = $2 ORDER BY m.position
                """, user, .integer(source), .integer(target))
            var known: [Int64: Int64] = [:]
            for row in 0..<rows.count {
                let message = Shared(
                    id: rows.text(row, 0), agentId: rows.text(row, 5), scope: rows.integer(row, 1),
                    position: rows.integer(row, 2), otherScope: rows.integer(row, 3))
                known[message.position] = rows.integer(row, 4)
                try await takeFreeID(message, of: source, id, in: target)
            }
            return known
        }

        /// A message with an ID used in the same agent's scope of the other session.
        private struct Shared {
            let id: String
            let agentId: String
            let scope: Int64
            let position: Int64
            let otherScope: Int64
        }

        private func takeFreeID(_ message: Shared, of source: Int64, _ id: SessionKey, in target: Int64) async throws {
            let place: [PostgresValue] = [user, .integer(source), .integer(message.scope), .integer(message.position)]
            var free = message.id
            while true {
                // Messages with the same content have the same columns.
                let others = try await transaction.run([
                    PostgresStatement(
                        """
                        SELECT (other.role, other.timestamp) = (m.role, m.timestamp)
                          AND other.metadata IS NOT DISTINCT FROM m.metadata
                          AND other.unknown_fields IS NOT DISTINCT FROM m.unknown_fields
                          AND other.text IS NOT DISTINCT FROM m.text AND other.parts IS NOT DISTINCT FROM m.parts
                        FROM recollect.message AS m JOIN recollect.message AS other ON other.user_id = $1
                          AND ((other.session = $5 AND other.scope = $6)
                            OR (other.session = $2 AND other.scope = $3 AND other.position <> $4))
                          AND other.message_id = $7
                        WHERE m.user_id = $1 AND m.session = $2 AND m.scope = $3 AND m.position = $4
                        """, parameters: place + [.integer(target), .integer(message.otherScope), .bytes(free.bytes)])
                ])[0]
                if others.count == 0 {
                    if try await !replies.hasReply(free, message.agentId, in: [source, target]) { break }
                    free = ConversationMessage.copyId(of: free, from: id.sessionId)
                    continue
                }
                if (0..<others.count).contains(where: { others.boolean($0, 0) }) {
                    var statements = [
                        // The other message uses the same attachments.
                        PostgresStatement(
                            """
                            DELETE FROM recollect.attachment_use AS use USING recollect.message AS m
                            WHERE use.user_id = $1 AND m.user_id = $1 AND m.session = $2 AND m.scope = $3
                              AND m.position = $4 AND use.sequence = m.sequence
                            """, parameters: place),
                        PostgresStatement(
                            """
                            UPDATE recollect.session SET first_message = NULL FROM recollect.message AS m
                            WHERE session.user_id = $1 AND session.session = $2 AND m.user_id = $1 AND m.session = $2
                              AND m.scope = $3 AND m.position = $4 AND m.role = 'user' AND m.text = session.first_message
                            """, parameters: place),
                        PostgresStatement(
                            """
                            DELETE FROM recollect.message
                            WHERE user_id = $1 AND session = $2 AND scope = $3 AND position = $4
                            """, parameters: place),
                    ]
                    if free != message.id { statements.append(renamingBranchPoints(message, to: free, in: source)) }
                    _ = try await transaction.run(statements)
                    return try await replies.follow(
                        message.id, to: free, of: message.agentId, in: source, id, to: target)
                }
                free = ConversationMessage.copyId(of: free, from: id.sessionId)
            }
            _ = try await transaction.run([
                renamingBranchPoints(message, to: free, in: source),
                PostgresStatement(
                    """
                    UPDATE recollect.message SET message_id = $5
                    WHERE user_id = $1 AND session = $2 AND scope = $3 AND position = $4
                    """, parameters: place + [.bytes(free.bytes)]),
            ])
            try await replies.follow(message.id, to: free, of: message.agentId, in: source, id, to: target)
        }

        /// Returns the statement to give the branches after a message the message's new ID.
        private func renamingBranchPoints(_ message: Shared, to new: String, in session: Int64) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.session SET branch_after = $5 FROM recollect.scope
                WHERE session.user_id = $1 AND scope.user_id = $1 AND scope.session = $2 AND scope.scope = $3
                  AND branch_after = $4 AND branch_of = $2 AND (
                    branch_agent = scope.agent_id OR (coalesce(branch_agent, '') = '' AND NOT EXISTS (
                      SELECT FROM recollect.scope AS own JOIN recollect.message AS m USING (user_id, session, scope)
                      WHERE own.user_id = $1 AND own.session = $2 AND own.agent_id = '' AND scope.agent_id <> ''
                        AND m.message_id = $4)))
                """, user, .integer(session), .integer(message.scope), .bytes(message.id.bytes), .bytes(new.bytes))
        }
    }
#endif
