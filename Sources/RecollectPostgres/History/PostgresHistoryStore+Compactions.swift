#if Postgres
    import Foundation
    import RecollectCore

    /// Compactions: see `HistoryStore`.
    extension PostgresHistoryStore {
        /// Saves a compaction: see `HistoryStore`.
        @discardableResult
        public func compact(
            _ messages: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
            after previousId: String?
        ) async throws -> Compaction {
            try Task.checkCancellation()
            let (id, now) = (UUID.random().uuidString, Date().millisecondsSince1970)
            let saved = try await writing(scope.session) { number, transaction in
                let state = try await Compactions(scope: scope).state { try await transaction.run($0) }
                let count = try state.messages.checkCompaction(of: messages, into: summary, after: previousId)
                return try state.saving(
                    count, id: id, summary: summary, author: author, now: now, scope: scope, in: number, transaction)
            }
            if let saved { return saved }
            // Without a session, no message of the batch is there.
            _ = try CompactedMessages([]).checkCompaction(of: messages, into: summary, after: previousId)
            throw RecollectError(.notFound, "there is no session \(scope.sessionId)")
        }

        /// Returns the messages of a scope's window with the compaction in effect: see `HistoryStore`.
        public func compactedMessages(of scope: Scope) async throws -> CompactedMessages {
            try await performing { database in
                try await Compactions(scope: scope).state { try await database.read($0) }.messages
            }
        }

        /// Returns the compactions of a scope: see `HistoryStore`.
        public func compactions(of scope: Scope) async throws -> [Compaction] {
            let statement = Compactions(scope: scope).all
            let rows = try await performing { try await $0.run(statement) }
            return (0..<rows.count).map { Compactions.compaction(rows, $0) }
        }

        /// Removes a compaction permanently: see `HistoryStore`.
        @discardableResult
        public func removeCompaction(_ id: String, of scope: Scope) async throws -> Bool {
            try await writing(scope.session) { number, transaction in
                let removed = try await transaction.run(
                    """
                    DELETE FROM recollect.compaction USING recollect.scope
                    WHERE compaction.user_id = $1 AND compaction.session = $2 AND compaction.compaction_id = $4
                      AND scope.user_id = $1 AND scope.session = $2 AND scope.agent_id = $3
                      AND compaction.scope = scope.scope
                    """, .bytes(scope.userId.bytes), .integer(number), .bytes(scope.agentId.bytes), .bytes(id.bytes))
                guard removed.affectedCount > 0 else { return ([], false) }
                return (
                    [SessionColumns.revising(number, scope.userId)]
                        + ChangeColumns.record(
                            .sessionCompacted, scope.session, at: transaction.reserveFeedNumbers()), true
                )
            } ?? false
        }
    }

    /// The compactions of a scope.
    ///
    /// A compaction covers the messages of its scope up to the position of its last covered one, the boundary, whose numbers are not
    /// above `covers_through`. So a message inserted before the boundary later is not covered. Without the boundary's row, a trim has
    /// deleted it and all covered messages before it.
    struct Compactions {
        let scope: Scope

        private var key: [PostgresValue] {
            [.bytes(scope.userId.bytes), .bytes(scope.sessionId.bytes), .bytes(scope.agentId.bytes)]
        }

        private static let selection = """
            SELECT compaction.compaction_id, compaction.summary, compaction.author, compaction.made_at,
              coalesce(boundary.message_id, compaction.message_id), compaction.message_count, compaction.previous_id,
              compaction.boundary, boundary.position, compaction.covers_through
            FROM recollect.session JOIN recollect.scope USING (user_id, session)
            JOIN recollect.compaction USING (user_id, session, scope)
            LEFT JOIN recollect.message AS boundary ON boundary.user_id = $1 AND boundary.sequence = compaction.boundary
              AND boundary.session = scope.session AND boundary.scope = scope.scope
            WHERE session.user_id = $1 AND session.session_id = $2 AND scope.agent_id = $3
            """

        /// The query for all compactions, the oldest first.
        var all: PostgresStatement {
            PostgresStatement("\(Self.selection) ORDER BY compaction.compaction", parameters: key)
        }

        /// Reads a compaction from a row of `all`.
        static func compaction(_ rows: PostgresResult, _ row: Int) -> Compaction {
            Compaction(
                id: rows.text(row, 0), summary: rows.text(row, 1), author: rows.text(row, 2),
                createdAt: Date(millisecondsSince1970: rows.integer(row, 3)), lastMessageId: rows.text(row, 4),
                messageCount: Int(rows.integer(row, 5)), previousId: rows.optionalText(row, 6))
        }

        /// The messages of a scope's window with the compaction in effect, and the places of those not covered.
        struct State {
            /// The compaction in effect, with its boundary, the boundary's position and `covers_through`.
            let inEffect: (compaction: Compaction, boundary: Int64, position: Int64, coversThrough: Int64)?
            let messages: CompactedMessages
            /// The places of the messages not covered, without the instructions.
            let places: [Place]

            /// A message's row.
            struct Place {
                let scope: Int64
                let sequence: Int64
                let position: Int64
                let number: Int64
            }
        }

        /// Reads the state on one state of the database.
        /// - Parameter run: Runs statements in one transaction.
        func state(_ run: ([PostgresStatement]) async throws -> [PostgresResult]) async throws -> State {
            let covered = """
                coalesce(message.position <= inEffect.position AND message.number <= inEffect.covers_through, false)
                """
            // All messages of the window, those covered only if the window begins with them or if any is pinned.
            let messages = PostgresStatement(
                """
                WITH own AS (
                  SELECT scope.* FROM recollect.session JOIN recollect.scope USING (user_id, session)
                  WHERE session.user_id = $1 AND session.session_id = $2 AND scope.agent_id = $3
                ), inEffect AS (
                  SELECT boundary.position, compaction.covers_through
                  FROM own JOIN recollect.compaction USING (user_id, session, scope)
                  LEFT JOIN recollect.message AS boundary ON boundary.user_id = $1
                    AND boundary.sequence = compaction.boundary AND boundary.session = own.session
                    AND boundary.scope = own.scope
                  ORDER BY compaction.compaction DESC LIMIT 1
                ), win AS (
                  SELECT message.*, \(covered) AS is_covered
                  FROM own JOIN recollect.message ON message.user_id = $1 AND message.session = own.session
                    AND message.scope = own.scope AND message.position >= own.window_start
                  LEFT JOIN inEffect ON true
                )
                SELECT \(MessageColumns.selected), is_covered, scope, sequence, position, number,
                  position < coalesce((SELECT min(position) FROM win WHERE role <> 'system'), \(Int64.max))
                FROM win AS message
                WHERE NOT is_covered OR EXISTS (
                    SELECT FROM win WHERE is_covered AND position(convert_to('"\(ConversationMessage.pinned)"', 'UTF8') IN metadata) > 0)
                  OR position < coalesce((SELECT min(position) FROM win WHERE role <> 'system'), \(Int64.max))
                ORDER BY position
                """, parameters: key)
            let last = PostgresStatement(
                "\(Self.selection) ORDER BY compaction.compaction DESC LIMIT 1", parameters: key)
            let results = try await run([last, messages])
            return state(results[0], results[1])
        }

        private func state(_ last: PostgresResult, _ rows: PostgresResult) -> State {
            let first = MessageColumns.count
            // Covered messages between the instructions and a later one with their role may be missing from the rows.
            let instructionCount = (0..<rows.count).prefix { rows.boolean($0, first + 5) }.count
            let others = instructionCount..<rows.count
            let uncovered = others.filter { !rows.boolean($0, first) }
            let covered = others.filter { rows.boolean($0, first) }.map { MessageColumns.read(rows, $0) }
            let places = uncovered.map { row in
                State.Place(
                    scope: rows.integer(row, first + 1), sequence: rows.integer(row, first + 2),
                    position: rows.integer(row, first + 3), number: rows.integer(row, first + 4))
            }
            let inEffect = last.count == 0 ? nil : Self.compaction(last, 0)
            return State(
                inEffect: inEffect.map {
                    ($0, last.integer(0, 7), last.optionalInteger(0, 8) ?? .min, last.integer(0, 9))
                },
                messages: CompactedMessages(
                    instructions: (0..<instructionCount).map { MessageColumns.read(rows, $0) }, compaction: inEffect,
                    pinned: CompactedMessages.pinnedTurns(of: covered),
                    messages: uncovered.map { MessageColumns.read(rows, $0) }), places: places)
        }
    }

    extension Compactions.State {
        /// Returns the statements to save a compaction of the first `count` messages not covered.
        fileprivate func saving(
            _ count: Int, id: String, summary: String, author: String, now: Int64, scope: Scope, in session: Int64,
            _ transaction: PostgresTransaction
        ) throws -> (statements: [PostgresStatement], value: Compaction) {
            let covered = places.prefix(count)
            guard let last = covered.last else {
                throw RecollectError(.damaged, "a compaction of session \(scope.sessionId) covers no message")
            }
            // Covered messages may all have been inserted before the boundary of the last compaction.
            let boundary = inEffect.flatMap { $0.position > last.position ? $0.boundary : nil } ?? last.sequence
            let compaction = Compaction(
                id: id, summary: summary, author: author, createdAt: Date(millisecondsSince1970: now),
                lastMessageId: boundary == last.sequence
                    ? messages.messages[count - 1].id : inEffect?.compaction.lastMessageId ?? "",
                messageCount: (inEffect?.compaction.messageCount ?? 0) + count,
                previousId: inEffect?.compaction.id)
            let coversThrough = max(covered.map(\.number).max() ?? 0, inEffect?.coversThrough ?? 0)
            let insertion = PostgresStatement(
                """
                INSERT INTO recollect.compaction (
                  user_id, session, scope, compaction, boundary, covers_through, made_at, message_count, compaction_id,
                  message_id, author, summary, previous_id)
                VALUES ($1, $2, $3, recollect.feed_number() + $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                """, .bytes(scope.userId.bytes), .integer(session), .integer(last.scope),
                .integer(transaction.reserveFeedNumbers()), .integer(boundary), .integer(coversThrough), .integer(now),
                .integer(Int64(compaction.messageCount)), .bytes(id.bytes), .bytes(compaction.lastMessageId.bytes),
                .bytes(author.bytes), .bytes(summary.bytes), .bytes(of: compaction.previousId))
            let change = ChangeColumns.record(.sessionCompacted, scope.session, at: transaction.reserveFeedNumbers())
            return ([insertion, SessionColumns.revising(session, scope.userId)] + change, compaction)
        }
    }
#endif
