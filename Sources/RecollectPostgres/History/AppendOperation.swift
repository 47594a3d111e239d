#if Postgres
    import Foundation
    import RecollectCore

    /// Appends a batch to a scope in a transaction. Reads the scope's state first. Creates the session and the scope if they are
    /// missing.
    struct AppendOperation {
        let messages: [ConversationMessage]
        /// The bytes of the messages' attachments by hash.
        let attachments: [String: Data]
        let scope: Scope
        let options: AppendOptions
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(scope.userId.bytes) }

        /// The result of an append, before its last statements.
        struct Result: Sendable {
            /// The last statements of the transaction.
            var statements: [PostgresStatement] = []
            /// The plan; `nil` if there was nothing to trim.
            var plan: AppendPlan?
            /// The state after the append; `nil` if nothing was saved.
            var state: AppendState?
            /// The revision before an append that has only added messages at the end of the session.
            var earlierRevision: Int64?
        }

        func run() async throws -> Result {
            guard let (state, known) = try await read() else { return Result() }
            let plan = try await plan(state, known)
            return try await save(plan, from: state)
        }

        // MARK: - Reading

        /// Locks the session, and returns the state of the scope and the IDs of the batch already in it; `nil` for an empty batch of
        /// an unknown scope.
        private func read() async throws -> (AppendState, Set<ByteString>)? {
            var statements: [PostgresStatement] = []
            if let first = messages.first {
                statements += [
                    SessionColumns.insertion(of: scope.session, createdAt: first.timestamp.millisecondsSince1970),
                    SessionColumns.lock(scope.session), AppendState.insertion(of: scope),
                ]
            } else {
                statements.append(SessionColumns.lock(scope.session))
            }
            statements += [AppendState.statement(scope), knownIDs]
            let results = try await transaction.run(statements)
            let known = results[results.count - 1]
            guard let state = AppendState(results[results.count - 2], of: scope) else {
                // Another transaction has deleted or moved the session while this one waited for its row.
                if !messages.isEmpty { throw PostgresFailure.changedMeanwhile }
                return nil
            }
            return (state, Set((0..<known.count).map { ByteString(known.text($0, 0)) }))
        }

        private var knownIDs: PostgresStatement {
            PostgresStatement(
                """
                SELECT message_id FROM recollect.message JOIN recollect.scope USING (user_id, session, scope)
                JOIN recollect.session USING (user_id, session)
                WHERE user_id = $1 AND session_id = $2 AND agent_id = $3 AND message_id = ANY ($4)
                """, user, .bytes(scope.sessionId.bytes), .bytes(scope.agentId.bytes),
                .byteArrays(messages.map(\.id.bytes)))
        }

        /// Returns the messages without an agent to adopt, by ID.
        private func unassignedMessages(
            _ state: AppendState, _ known: Set<ByteString>
        ) async throws -> [ByteString: UnassignedMessage] {
            guard options.claimsUnassigned, let unassigned = state.unassigned else { return [:] }
            let rows = try await transaction.run(
                """
                SELECT \(MessageColumns.selected), sequence, position FROM recollect.message
                WHERE user_id = $1 AND session = $2 AND scope = $3 AND message_id = ANY ($4)
                """, user, .integer(state.session), .integer(unassigned),
                .byteArrays(messages.map(\.id).filter { !known.contains(ByteString($0)) }.map(\.bytes)))
            return Dictionary(
                (0..<rows.count).map { row in
                    let message = MessageColumns.read(rows, row)
                    return (
                        ByteString(message.id),
                        UnassignedMessage(
                            sequence: rows.integer(row, MessageColumns.count),
                            position: rows.integer(row, MessageColumns.count + 1), message: message)
                    )
                }, uniquingKeysWith: { first, _ in first })
        }

        /// Computes the plan, with the order of the other agents' messages if it is needed.
        private func plan(_ state: AppendState, _ known: Set<ByteString>) async throws -> AppendPlan {
            var state = state
            var unassigned = try await unassignedMessages(state, known)
            var order: [AppendState.Place]?
            if !unassigned.isEmpty { order = try await readOrder(state) }
            var hasMadeRoom = false
            while true {
                do {
                    return try AppendPlan(
                        messages, agentId: scope.agentId, sameRole: options.sameRole, state: state, known: known,
                        unassigned: unassigned, order: order)
                } catch AppendPlan.Obstacle.needsOrder where order == nil {
                    order = try await readOrder(state)
                } catch AppendPlan.Obstacle.noRoom where !hasMadeRoom {
                    hasMadeRoom = true
                    state = try await makeRoom(state)
                    unassigned = try await unassignedMessages(state, known)
                    order = try await readOrder(state)
                }
            }
        }

        /// Returns the places of the other agents' messages behind the last one of the scope.
        private func readOrder(_ state: AppendState) async throws -> [AppendState.Place] {
            let rows = try await transaction.run(
                """
                SELECT position, coalesce(placed_at, timestamp), agent_id, scope
                FROM recollect.message JOIN recollect.scope USING (user_id, session, scope)
                WHERE user_id = $1 AND session = $2 AND scope <> $3 AND position > $4 ORDER BY position
                """, user, .integer(state.session), .integer(state.scope), .integer(state.lastOwnPosition ?? 0))
            return (0..<rows.count).map { row in
                AppendState.Place(
                    position: rows.integer(row, 0),
                    key: MessageSortKey(time: rows.integer(row, 1), agentId: ByteString(rows.text(row, 2))),
                    scope: rows.integer(row, 3))
            }
        }

        /// Spreads the messages of the session evenly, in their order. The windows stay. Returns the state after it.
        private func makeRoom(_ state: AppendState) async throws -> AppendState {
            let session: [PostgresValue] = [user, .integer(state.session)]
            let results = try await transaction.run(
                [
                    PostgresStatement(
                        """
                        UPDATE recollect.scope SET window_start = coalesce((
                          SELECT max(rank) * \(AppendPlan.step) + 1 FROM (
                            SELECT scope, position, row_number() OVER (ORDER BY position) AS rank
                            FROM recollect.message WHERE user_id = $1 AND session = $2) AS ranked
                          WHERE ranked.scope = scope.scope AND position < window_start), 0)
                        WHERE user_id = $1 AND session = $2 AND window_start > 0
                        """, parameters: session),
                    // By way of unused positions: two messages exchanging positions must not collide.
                    PostgresStatement(
                        "UPDATE recollect.message SET position = -position WHERE user_id = $1 AND session = $2",
                        parameters: session),
                    PostgresStatement(
                        """
                        UPDATE recollect.message SET position = rank * \(AppendPlan.step) FROM (
                          SELECT scope, position, row_number() OVER (ORDER BY position DESC) AS rank
                          FROM recollect.message WHERE user_id = $1 AND session = $2) AS ranked
                        WHERE user_id = $1 AND session = $2 AND ranked.scope = message.scope
                          AND ranked.position = message.position
                        """, parameters: session),
                    PostgresStatement(
                        """
                        UPDATE recollect.session SET last_position = greatest(last_position, (
                          SELECT coalesce(max(position), 0) FROM recollect.message WHERE user_id = $1 AND session = $2))
                        WHERE user_id = $1 AND session = $2
                        """, parameters: session),
                ] + ChangeColumns.record(.sessionRearranged, scope.session, at: transaction.reserveFeedNumbers()) + [
                    AppendState.statement(scope)
                ])
            guard let state = results.last.flatMap({ AppendState($0, of: scope) }) else {
                throw RecollectError(.damaged, "the session \(scope.sessionId) ended while it was locked")
            }
            return state
        }

        // MARK: - Saving

        private func save(_ plan: AppendPlan, from state: AppendState) async throws -> Result {
            // A session discarded by the user stays discarded if all messages were saved before.
            let changes = !plan.rows.isEmpty || !plan.adoptions.isEmpty
            guard changes || options.maxMessages != nil || !attachments.isEmpty else { return Result(plan: plan) }
            var statements = adopt(plan.adoptions, state)
            let feed = transaction.reserveFeedNumbers(plan.rows.count)
            let insertion = AppendStatement(plan, from: state, scope, options, feedOffset: feed, restores: changes)
            statements.append(insertion.statement)
            let uses = plan.rows.enumerated().flatMap { offset, row in
                AttachmentRows.uses(by: row.message, sequence: feed + Int64(offset))
            }
            let rows = AttachmentRows(userId: scope.userId)
            statements += rows.save(attachments, for: uses, isRelative: true)
            // A message that is stored already may have only the hash.
            statements += rows.deleteUnused(Set(attachments.keys).subtracting(uses.map(\.sha256)))
            if state.isDiscarded, changes {
                statements += ChangeColumns.record(
                    .sessionUpdated, scope.session, at: transaction.reserveFeedNumbers())
            }
            if plan.hasPlaced { statements.append(backdating(state.session)) }
            var result = Result(statements: statements, plan: plan, state: insertion.state)
            if !plan.hasPlaced, plan.adoptions.isEmpty { result.earlierRevision = state.revision }
            guard needsPreview(plan, state) else { return result }
            // The preview is that of the messages after the save.
            let results = try await transaction.run(
                statements + [SessionPreview.query(of: state.session, scope.userId)])
            let preview = results.last.flatMap(SessionPreview.init)
            result.statements = preview.map { [$0.update(of: state.session, scope.userId)] } ?? []
            result.state?.hasPreview = preview?.text != nil
            return result
        }

        private func needsPreview(_ plan: AppendPlan, _ state: AppendState) -> Bool {
            let hasUserMessage = plan.rows.contains { $0.message.role == .user }
            return !plan.adoptions.isEmpty || (hasUserMessage && (plan.hasPlaced || !state.hasPreview))
        }

        private func adopt(_ adoptions: [AppendPlan.Adoption], _ state: AppendState) -> [PostgresStatement] {
            adoptions.flatMap { adoption in
                let isMoved = adoption.position != adoption.message.position
                var statements = [
                    PostgresStatement(
                        """
                        UPDATE recollect.message SET scope = $3, position = $4, placed_at = nullif($5, timestamp)
                        WHERE user_id = $1 AND session = $2 AND scope = $6 AND position = $7
                        """, user, .integer(state.session), .integer(state.scope), .integer(adoption.position),
                        .integer(adoption.time), .optional(state.unassigned), .integer(adoption.message.position))
                ]
                statements += ChangeColumns.record(
                    .messageEdited, of: adoption.message.message.id, agentId: scope.agentId,
                    sequence: adoption.message.sequence, in: scope.session, at: transaction.reserveFeedNumbers())
                if isMoved {
                    statements += ChangeColumns.record(
                        .sessionRearranged, scope.session, at: transaction.reserveFeedNumbers())
                }
                return statements
            }
        }

        /// Moves the creation date of the session back to its first message, for a message placed before the others.
        private func backdating(_ session: Int64) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.session SET created_at = first.timestamp FROM (
                  SELECT timestamp FROM recollect.message WHERE user_id = $1 AND session = $2 ORDER BY position LIMIT 1
                ) AS first WHERE user_id = $1 AND session = $2 AND created_at > first.timestamp
                """, user, .integer(session))
        }
    }

    extension AppendState {
        /// The statement to create a scope in its session, after `SessionColumns.lock`.
        static func insertion(of scope: Scope) -> PostgresStatement {
            PostgresStatement(
                """
                INSERT INTO recollect.scope (user_id, session, scope, agent_id)
                SELECT user_id, session, (
                  SELECT coalesce(max(own.scope), 0) + 1 FROM recollect.scope AS own
                  WHERE own.user_id = $1 AND own.session = session.session
                ), $3 FROM recollect.session WHERE user_id = $1 AND session_id = $2
                ON CONFLICT (user_id, session, agent_id) DO NOTHING
                """, .bytes(scope.userId.bytes), .bytes(scope.sessionId.bytes), .bytes(scope.agentId.bytes))
        }

        /// The statement to read the state of a scope.
        static func statement(_ scope: Scope) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT session.session, revision, last_position, added, discarded_at IS NOT NULL, preview IS NOT NULL,
                  own.scope, own.window_start, last.position, last.role, last.time, ending.position,
                  ending.time, ending.agent_id, ending.scope, unassigned.scope
                FROM recollect.session
                JOIN recollect.scope AS own
                  ON own.user_id = session.user_id AND own.session = session.session AND own.agent_id = $3
                LEFT JOIN recollect.scope AS unassigned
                  ON unassigned.user_id = session.user_id AND unassigned.session = session.session
                  AND unassigned.agent_id = '' AND unassigned.scope <> own.scope
                LEFT JOIN LATERAL (
                  SELECT m.position, m.role, coalesce(m.placed_at, m.timestamp) AS time FROM recollect.message AS m
                  WHERE m.user_id = $1 AND m.session = own.session AND m.scope = own.scope
                  ORDER BY m.position DESC LIMIT 1
                ) AS last ON true
                LEFT JOIN LATERAL (
                  SELECT newest.position, newest.time, each.agent_id, each.scope
                  FROM recollect.scope AS each CROSS JOIN LATERAL (
                    SELECT m.position, coalesce(m.placed_at, m.timestamp) AS time FROM recollect.message AS m
                    WHERE m.user_id = $1 AND m.session = each.session AND m.scope = each.scope
                    ORDER BY m.position DESC LIMIT 1
                  ) AS newest
                  WHERE each.user_id = $1 AND each.session = own.session ORDER BY newest.position DESC LIMIT 1
                ) AS ending ON true
                WHERE session.user_id = $1 AND session.session_id = $2
                """, .bytes(scope.userId.bytes), .bytes(scope.sessionId.bytes), .bytes(scope.agentId.bytes))
        }

        /// Creates the state from the row of `statement`; `nil` without one.
        init?(_ rows: PostgresResult, of scope: Scope) {
            guard rows.count == 1 else { return nil }
            session = rows.integer(0, 0)
            revision = rows.integer(0, 1)
            lastPosition = rows.integer(0, 2)
            added = rows.integer(0, 3)
            isDiscarded = rows.boolean(0, 4)
            hasPreview = rows.boolean(0, 5)
            self.scope = rows.integer(0, 6)
            windowStart = rows.integer(0, 7)
            lastOwnPosition = rows.optionalInteger(0, 8)
            let isInWindow = lastOwnPosition.map { $0 >= rows.integer(0, 7) } ?? false
            lastRole = isInWindow ? Role(rawValue: rows.text(0, 9)) : nil
            lastTime = rows.optionalInteger(0, 10)
            end = rows.optionalInteger(0, 11).map { position in
                Place(
                    position: position,
                    key: MessageSortKey(time: rows.integer(0, 12), agentId: ByteString(rows.text(0, 13))),
                    scope: rows.integer(0, 14))
            }
            unassigned = rows.optionalInteger(0, 15)
        }
    }
#endif
