#if Postgres
    import RecollectCore

    /// Moves a session to another session ID, in a transaction with a lock on it. A session with this ID is merged with it.
    struct MoveOperation {
        let source: SessionKey
        let number: Int64
        let target: SessionKey
        let transaction: PostgresTransaction

        private var user: PostgresValue { .bytes(source.userId.bytes) }
        private var moves: MessageMoves { MessageMoves(userId: source.userId, transaction: transaction) }

        /// Moves the session. Returns the last statements.
        func run() async throws -> (statements: [PostgresStatement], value: Bool) {
            let results = try await transaction.run([
                moves.removingDeletions(in: source, number), SessionColumns.lock(target),
                SessionPreview.query(of: number, source.userId),
            ])
            if results[1].count == 1 {
                try await merge(into: results[1].integer(0, 0))
            } else {
                try await rename()
                // The ID may be the title.
                let preview = try await transaction.run([SessionPreview.query(of: number, source.userId)])[0]
                if let preview = SessionPreview(preview) {
                    _ = try await transaction.run([preview.update(of: number, source.userId)])
                }
            }
            // With the first change, its messages are not taken for deleted.
            let changes: [(HistoryChange.Kind, SessionKey)] = [
                (.sessionRearranged, source), (.sessionDeleted, source), (.sessionRearranged, target),
            ]
            return (
                changes.flatMap { ChangeColumns.record($0, $1, at: transaction.reserveFeedNumbers()) }, true
            )
        }

        private func rename() async throws {
            do {
                _ = try await transaction.run(
                    "UPDATE recollect.session SET session_id = $3, revision = $4 WHERE user_id = $1 AND session = $2",
                    user, .integer(number), .bytes(target.sessionId.bytes), .integer(.random(in: 0 ... .max)))
            } catch let failure as PostgresFailure where failure.sqlState == "23505" {
                // The target was created since it was looked for.
                throw PostgresFailure.changedMeanwhile
            }
        }

        private func merge(into target: Int64) async throws {
            let replies = ReplyIDs(userId: source.userId, transaction: transaction)
            try await replies.separate(number, source, from: target)
            _ = try await transaction.run([removingMergedCompactions(target)])
            let own = try await moves.positions(of: number)
            let known = try await moves.takeFreeIDs(of: number, source, in: target)
            let remaining = Set(try await moves.positions(of: number))
            var order: [(session: Int64, position: Int64)] = []
            var others = try await moves.positions(of: target)
            for position in own {
                if let other = known[position] {
                    order.append((target, other))
                    others.removeAll { $0 == other }
                }
                // A message with a known ID but other content moves too, under a new ID.
                if remaining.contains(position) { order.append((number, position)) }
            }
            order += others.map { (target, $0) }
            let outside = try await transaction.run(
                """
                SELECT sequence FROM recollect.message JOIN recollect.scope USING (user_id, session, scope)
                WHERE user_id = $1 AND session IN ($2, $3) AND position < window_start
                """, user, .integer(number), .integer(target))
            let state = try await transaction.run(
                """
                SELECT session, last_position, added, read_through FROM recollect.session
                WHERE user_id = $1 AND session IN ($2, $3)
                """, user, .integer(number), .integer(target))
            var statements: [PostgresStatement] = []
            let positions = order.map(\.position)
            if zip(positions, positions.dropFirst()).contains(where: { $0 >= $1 }) {
                statements += moves.putLast(order, after: max(state.integer(0, 1), state.integer(1, 1)))
            }
            statements += renumbering(in: state, target)
            statements += moves.move(from: number, to: target)
            statements.append(replies.move(from: number, to: target))
            statements.append(movingRemainingCompactions(target))
            statements.append(
                PostgresStatement(
                    """
                    UPDATE recollect.scope SET window_start = coalesce((
                      SELECT max(position) + 1 FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = $2 AND m.scope = scope.scope AND m.sequence = ANY ($3)), 0)
                    WHERE user_id = $1 AND session = $2
                    """, user, .integer(target),
                    .integers((0..<outside.count).map { outside.integer($0, 0) })))
            _ = try await transaction.run(statements)
            try await mergeDetails(into: target)
            _ = try await transaction.run(
                ["compaction", "scope", "tag", "session"].map {
                    PostgresStatement(
                        "DELETE FROM recollect.\($0) WHERE user_id = $1 AND session = $2", user, .integer(number))
                })
            try await moves.recount(target)
        }

        /// Returns the statements to number the messages of the source after those of the target, with those of the source's
        /// branches: they may be restored in the target. The target is then unread if one of both sessions was.
        private func renumbering(in state: PostgresResult, _ target: Int64) -> [PostgresStatement] {
            let row = state.integer(0, 0) == target ? 0 : 1
            let (added, readThrough) = (state.integer(row, 2), state.integer(row, 3))
            let (sourceAdded, sourceRead) = (state.integer(1 - row, 2), state.integer(1 - row, 3))
            // A read session becomes unread from the first unread message of the other on.
            let read = added > readThrough ? readThrough : added + min(sourceRead, sourceAdded)
            let family = """
                WITH RECURSIVE family (session) AS (
                  SELECT $2::bigint UNION SELECT s.session FROM recollect.session AS s
                  JOIN family ON s.branch_of = family.session WHERE s.user_id = $1 AND s.session <> $3
                )
                """
            let values: [PostgresValue] = [user, .integer(number), .integer(target), .integer(added)]
            let shifted = [
                ("session", "added = added + $4, read_through = read_through + $4, revision = $5"),
                ("message", "number = number + $4"), ("compaction", "covers_through = covers_through + $4"),
            ].map { table, change in
                PostgresStatement(
                    """
                    \(family) UPDATE recollect.\(table) SET \(change)
                    WHERE user_id = $1 AND session IN (SELECT family.session FROM family)
                    """, parameters: table == "session" ? values + [.integer(.random(in: 0 ... .max))] : values)
            }
            return shifted + [
                PostgresStatement(
                    "UPDATE recollect.session SET read_through = $3 WHERE user_id = $1 AND session = $2", user,
                    .integer(target), .integer(read))
            ]
        }

        /// Removes the compactions of agents with messages in both sessions: the messages of one will be between those of the other.
        private func removingMergedCompactions(_ target: Int64) -> PostgresStatement {
            PostgresStatement(
                """
                DELETE FROM recollect.compaction USING recollect.scope AS own JOIN recollect.scope AS other
                  ON other.user_id = $1 AND other.session IN ($2, $3) AND other.agent_id = own.agent_id
                  AND other.session <> own.session
                WHERE own.user_id = $1 AND own.session IN ($2, $3) AND compaction.user_id = $1
                  AND compaction.session = own.session AND compaction.scope = own.scope
                  AND EXISTS (SELECT FROM recollect.message AS m
                    WHERE m.user_id = $1 AND m.session = own.session AND m.scope = own.scope)
                  AND EXISTS (SELECT FROM recollect.message AS m
                    WHERE m.user_id = $1 AND m.session = other.session AND m.scope = other.scope)
                """, user, .integer(number), .integer(target))
        }

        /// Moves the remaining compactions to the target: their boundaries were trimmed.
        private func movingRemainingCompactions(_ target: Int64) -> PostgresStatement {
            PostgresStatement(
                """
                UPDATE recollect.compaction SET session = $3, scope = other.scope
                FROM recollect.scope AS own JOIN recollect.scope AS other
                  ON other.user_id = $1 AND other.session = $3 AND other.agent_id = own.agent_id
                WHERE own.user_id = $1 AND own.session = $2 AND compaction.user_id = $1 AND compaction.session = $2
                  AND compaction.scope = own.scope
                """, user, .integer(number), .integer(target))
        }

        /// Copies the old session's details missing from the new one, and combines the dates, the marks, the tags and the branches.
        /// The old session's first message wins. The new session is no longer discarded.
        private func mergeDetails(into target: Int64) async throws {
            let values: [PostgresValue] = [user, .integer(number), .integer(target)]
            let results = try await transaction.run([
                SessionColumns.metadataQuery(of: number, source.userId),
                SessionColumns.metadataQuery(of: target, source.userId),
                PostgresStatement(
                    """
                    UPDATE recollect.session SET created_at = least(session.created_at, old.created_at),
                      last_access = greatest(session.last_access, old.last_access),
                      title = coalesce(session.title, old.title),
                      first_message = coalesce(old.first_message, session.first_message),
                      working_directory = coalesce(session.working_directory, old.working_directory),
                      branch_name = coalesce(session.branch_name, old.branch_name),
                      is_pinned = session.is_pinned OR old.is_pinned, is_archived = session.is_archived AND old.is_archived,
                      discarded_at = NULL
                    FROM recollect.session AS old
                    WHERE old.user_id = $1 AND old.session = $2 AND session.user_id = $1 AND session.session = $3
                    """, parameters: values),
                PostgresStatement(
                    """
                    INSERT INTO recollect.tag (user_id, session, tag)
                    SELECT user_id, $3, tag FROM recollect.tag WHERE user_id = $1 AND session = $2
                    ON CONFLICT (user_id, session, tag) DO NOTHING
                    """, parameters: values),
                // A session moved into its own branch: the branch takes over the session's origin.
                PostgresStatement(
                    """
                    WITH RECURSIVE origin (session) AS (
                      SELECT branch_of FROM recollect.session WHERE user_id = $1 AND session = $3
                      UNION SELECT s.branch_of FROM recollect.session AS s JOIN origin USING (session)
                      WHERE s.user_id = $1
                    )
                    UPDATE recollect.session SET branch_of = old.branch_of, branch_after = old.branch_after,
                      branch_agent = old.branch_agent,
                      branch_number = coalesce(session.branch_number, old.branch_number)
                    FROM recollect.session AS old
                    WHERE session.user_id = $1 AND session.session = $3 AND old.user_id = $1 AND old.session = $2
                      AND $2 IN (SELECT session FROM origin)
                    """, parameters: values),
                PostgresStatement(
                    "UPDATE recollect.session SET branch_of = $3 WHERE user_id = $1 AND branch_of = $2",
                    parameters: values),
            ])
            var metadata = try SessionColumns.metadata(results[0], of: source).filter { $0.key != "forkedFrom" }
            metadata.merge(try SessionColumns.metadata(results[1], of: self.target)) { _, own in own }
            _ = try await transaction.run([SessionColumns.settingMetadata(metadata, of: target, source.userId)])
        }
    }
#endif
