#if Postgres
    import RecollectCore

    /// Copies a session up to a message into a new session, in a transaction with a lock on the session.
    struct ForkOperation {
        let source: SessionKey
        let number: Int64
        let target: SessionKey
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(source.userId.bytes) }

        /// Copies the session. Returns the last statements, and whether it has the message.
        /// - Throws: `invalidArgument` if the new session already has messages.
        func run(at messageId: String, agentId: String?) async throws -> (statements: [PostgresStatement], value: Bool)
        {
            let moves = MessageMoves(userId: source.userId, transaction: transaction)
            guard let end = try await moves.position(of: messageId, in: number, agentId: agentId) else {
                return ([], false)
            }
            let results = try await transaction.run([
                // A date of 0 marks a new session until it gets that of the source.
                SessionColumns.insertion(of: target, createdAt: 0), SessionColumns.lock(target),
                PostgresStatement(
                    "SELECT message_count FROM recollect.session WHERE user_id = $1 AND session_id = $2", user,
                    .bytes(target.sessionId.bytes)),
            ])
            guard results[1].count == 1 else { throw PostgresFailure.changedMeanwhile }
            let copy = results[1].integer(0, 0)
            guard results[2].integer(0, 0) == 0 else {
                throw RecollectError(
                    .invalidArgument,
                    "session \(target.sessionId) already has messages; use a new session for the fork")
            }
            try await copyDetails(to: copy, messageId: messageId)
            try await ReplyIDs(userId: source.userId, transaction: transaction)
                .separate(copy, target, fromCopiesOf: number)
            let values: [PostgresValue] = [user, .integer(number), .integer(copy), .integer(end)]
            let copied = try await transaction.run(copyMessages(values))
            _ = transaction.reserveFeedNumbers(copied[1].affectedCount)
            try await moves.recount(copy)
            // The copied messages count as read.
            let read = PostgresStatement(
                "UPDATE recollect.session SET read_through = added WHERE user_id = $1 AND session = $2", user,
                .integer(copy))
            return (
                [read] + ChangeColumns.record(.sessionUpdated, target, at: transaction.reserveFeedNumbers()), true
            )
        }

        private func copyMessages(_ values: [PostgresValue]) -> [PostgresStatement] {
            [
                PostgresStatement(
                    """
                    INSERT INTO recollect.scope (user_id, session, scope, agent_id)
                    SELECT user_id, $3, row_number() OVER (ORDER BY scope) + (
                        SELECT coalesce(max(known.scope), 0) FROM recollect.scope AS known
                        WHERE known.user_id = $1 AND known.session = $3), agent_id
                    FROM recollect.scope AS own WHERE user_id = $1 AND session = $2 AND EXISTS (
                      SELECT FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = $2 AND m.scope = own.scope AND m.position <= $4)
                    ON CONFLICT (user_id, session, agent_id) DO NOTHING
                    """, parameters: values),
                PostgresStatement(
                    """
                    INSERT INTO recollect.message (
                      user_id, session, scope, position, sequence, number, timestamp, placed_at, message_id, role, metadata,
                      unknown_fields, text, parts, copied_from, input_tokens, output_tokens, cache_creation_tokens,
                      cache_read_tokens, terms)
                    SELECT $1, $3, copy.scope, (target.last_position / \(AppendPlan.step) + rank) * \(AppendPlan.step),
                      feed.number + rank - 1, target.added + rank, timestamp, placed_at, message_id, role, m.metadata,
                      unknown_fields, text, parts, coalesce(copied_from, sequence), m.input_tokens, m.output_tokens,
                      m.cache_creation_tokens, m.cache_read_tokens, m.terms
                    FROM (SELECT *, row_number() OVER (ORDER BY position) AS rank FROM recollect.message
                          WHERE user_id = $1 AND session = $2 AND position <= $4) AS m
                    JOIN recollect.scope AS own ON own.user_id = $1 AND own.session = $2 AND own.scope = m.scope
                    JOIN recollect.scope AS copy ON copy.user_id = $1 AND copy.session = $3 AND copy.agent_id = own.agent_id
                    JOIN recollect.session AS target ON target.user_id = $1 AND target.session = $3
                    CROSS JOIN (SELECT recollect.feed_number() AS number) AS feed
                    """, parameters: values),
                PostgresStatement(
                    """
                    UPDATE recollect.session SET added = own.last, last_position = own.position,
                      last_access = greatest(last_access, least(own.latest, \(SessionColumns.lastAccess)))
                    FROM (
                      SELECT max(number) AS last, max(position) AS position, max(timestamp) AS latest
                      FROM recollect.message
                      WHERE user_id = $1 AND session = $2) AS own
                    WHERE user_id = $1 AND session = $2
                    """, values[0], values[2]),
                PostgresStatement(
                    """
                    INSERT INTO recollect.attachment_use (user_id, sha256, sequence)
                    SELECT $1, use.sha256, copied.sequence
                    FROM recollect.message AS m
                    JOIN recollect.attachment_use AS use ON use.user_id = $1 AND use.sequence = m.sequence
                    JOIN recollect.scope AS own ON own.user_id = $1 AND own.session = $2 AND own.scope = m.scope
                    JOIN recollect.scope AS copy ON copy.user_id = $1 AND copy.session = $3
                      AND copy.agent_id = own.agent_id
                    JOIN recollect.message AS copied ON copied.user_id = $1 AND copied.session = $3
                      AND copied.scope = copy.scope AND copied.message_id = m.message_id
                    WHERE m.user_id = $1 AND m.session = $2 AND m.position <= $4
                    ON CONFLICT (user_id, sha256, sequence) DO NOTHING
                    """, parameters: values),
                // A compaction with messages inserted since before its boundary is not copied: in the fork, they would be covered.
                PostgresStatement(
                    """
                    INSERT INTO recollect.compaction (
                      user_id, session, scope, compaction, boundary, covers_through, made_at, message_count, compaction_id,
                      message_id, author, summary, previous_id)
                    SELECT $1, $3, copy.scope, compaction, copied.sequence, copied.number, made_at, message_count,
                      compaction_id, boundary.message_id, author, summary, previous_id
                    FROM recollect.scope AS own
                    JOIN recollect.compaction ON compaction.user_id = $1 AND compaction.session = $2
                      AND compaction.scope = own.scope
                    JOIN recollect.message AS boundary ON boundary.user_id = $1 AND boundary.session = $2
                      AND boundary.scope = own.scope AND boundary.sequence = compaction.boundary
                    JOIN recollect.scope AS copy ON copy.user_id = $1 AND copy.session = $3
                      AND copy.agent_id = own.agent_id
                    JOIN recollect.message AS copied ON copied.user_id = $1 AND copied.session = $3
                      AND copied.scope = copy.scope AND copied.message_id = boundary.message_id
                    WHERE own.user_id = $1 AND own.session = $2 AND NOT EXISTS (
                      SELECT FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = $2 AND m.scope = own.scope
                        AND m.position <= boundary.position AND m.number > compaction.covers_through)
                    """, parameters: Array(values.prefix(3))),
                // Messages trimmed from an agent's window before the fork stay out of it.
                PostgresStatement(
                    """
                    UPDATE recollect.scope SET window_start = coalesce((
                      SELECT max(copied.position) + 1 FROM recollect.scope AS own
                      JOIN recollect.message AS m ON m.user_id = $1 AND m.session = $2 AND m.scope = own.scope
                        AND m.position < own.window_start
                      JOIN recollect.message AS copied ON copied.user_id = $1 AND copied.session = $3
                        AND copied.scope = scope.scope AND copied.message_id = m.message_id
                      WHERE own.user_id = $1 AND own.session = $2 AND own.agent_id = scope.agent_id), 0)
                    WHERE user_id = $1 AND session = $3
                    """, parameters: Array(values.prefix(3))),
            ]
        }

        /// Copies details to the fork. Details of an existing target stay.
        private func copyDetails(to copy: Int64, messageId: String) async throws {
            let values: [PostgresValue] = [user, .integer(number), .integer(copy)]
            let results = try await transaction.run([
                SessionColumns.metadataQuery(of: number, source.userId),
                SessionColumns.metadataQuery(of: copy, source.userId),
                PostgresStatement(
                    """
                    UPDATE recollect.session SET
                      created_at = CASE WHEN session.created_at = 0 THEN source.created_at ELSE session.created_at END,
                      last_activity = CASE WHEN session.created_at = 0 THEN source.created_at
                        ELSE session.last_activity END,
                      title = coalesce(session.title, source.title),
                      working_directory = coalesce(session.working_directory, source.working_directory),
                      branch_name = coalesce(session.branch_name, source.branch_name),
                      first_message = coalesce(session.first_message, source.first_message), discarded_at = NULL
                    FROM recollect.session AS source WHERE source.user_id = $1 AND source.session = $2
                      AND session.user_id = $1 AND session.session = $3
                    """, parameters: values),
                PostgresStatement(
                    """
                    INSERT INTO recollect.tag (user_id, session, tag)
                    SELECT user_id, $3, tag FROM recollect.tag WHERE user_id = $1 AND session = $2
                    ON CONFLICT (user_id, session, tag) DO NOTHING
                    """, parameters: values),
            ])
            var metadata = try SessionColumns.metadata(results[0], of: source).filter { $0.key != "forkedFrom" }
            metadata.merge(try SessionColumns.metadata(results[1], of: target)) { _, own in own }
            metadata["forkedFrom"] = ["sessionId": .string(source.sessionId), "messageId": .string(messageId)]
            _ = try await transaction.run([SessionColumns.settingMetadata(metadata, of: copy, source.userId)])
        }
    }
#endif
