#if Postgres
    import Foundation
    import RecollectCore

    extension PostgresHistoryStore {
        /// Appends a batch: see `HistoryStore`.
        ///
        /// A scope whose state is known from its last append takes one statement, and so one round trip. Otherwise, and if another
        /// server has written to the session since, the state is read first, in the transaction of the save. Waiting
        /// appends of this process are saved in one transaction.
        /// - Throws: `tooLarge` for more than a million messages, and for an ID of more than 500 bytes.
        @discardableResult
        public func append(
            _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
        ) async throws -> AppendOutcome {
            try Task.checkCancellation()
            try messages.checkSavable()
            try checkIDs([scope.userId, scope.sessionId, scope.agentId] + messages.map(\.id))
            guard messages.count <= 1_000_000 else {
                throw RecollectError(
                    .tooLarge, "a batch of \(messages.count) messages is too large; save at most 1,000,000 at once")
            }
            let (messages, attachments) = messages.separatingAttachments()
            let request = AppendQueue.Request(
                messages: messages, scope: scope, options: options, leases: heldLeases,
                hasAttachments: messages.contains { !$0.storedAttachments.isEmpty })
            let plan: AppendPlan? = try await performing { database in
                try await appends.append(request) {
                    var unknownOutcome: RecollectError?
                    do {
                        if let plan = try await appendToKnown(request, database) { return plan }
                    } catch let error as RecollectError where error.code == .unavailable {
                        unknownOutcome = error
                    }
                    return try await RecollectError.keeping(unknownOutcome) {
                        try await appendAfterReading(messages, attachments, scope, options, database)
                    }
                }
            }
            signal.signal()
            for id in plan?.dropped ?? [] {
                events.post(StoreEvent(kind: .droppedSameRole, scope: scope, messageId: id))
            }
            return plan?.outcome ?? AppendOutcome()
        }

        /// Appends to a scope in its known state; returns `nil`, and saves nothing, if the state is not known or has changed.
        /// - Throws: `unavailable` after the first lost connection. The outcome of the statement is then unknown.
        private func appendToKnown(
            _ request: AppendQueue.Request, _ database: PostgresDatabase
        ) async throws -> AppendPlan? {
            let scope = request.scope
            guard let state = knownStates.state(of: scope), let append = KnownAppend(request, state) else { return nil }
            var database = database
            (database.retries.conflictCount, database.retries.unavailableTime) = (0, .zero)
            do {
                let saved = try await database.run(
                    append.insertion.statement, readsInOrder: request.options.maxMessages != nil)
                guard saved.affectedCount == append.plan.rows.count else {
                    knownStates.forget(scope.session)
                    return nil
                }
            } catch let error as RecollectError where error.code == .conflict || error.code == .busy {
                // A message is stored already, or another server saves to the session.
                return nil
            }
            knownStates.note(append.insertion.state, of: scope, after: state.revision)
            return append.plan
        }

        private func appendAfterReading(
            _ messages: [ConversationMessage], _ attachments: [String: Data], _ scope: Scope, _ options: AppendOptions,
            _ database: PostgresDatabase
        ) async throws -> AppendPlan? {
            let result = try await transaction(in: database) { transaction in
                let operation = AppendOperation(
                    messages: messages, attachments: attachments, scope: scope, options: options,
                    transaction: transaction)
                let result = try await operation.run()
                return (result.statements, result)
            }
            knownStates.note(result.state, of: scope, after: result.earlierRevision)
            return result.plan
        }
    }

    extension ConversationMessage {
        /// The tokens of a message for the sum of its session. Numbers too large for a sum must not stop a save.
        var countedUsage: TokenUsage {
            func bounded(_ count: Int) -> Int { min(max(count, 0), 1 << 40) }
            let usage = usage ?? TokenUsage()
            return TokenUsage(
                input: bounded(usage.input), output: bounded(usage.output), cacheCreation: bounded(usage.cacheCreation),
                cacheRead: bounded(usage.cacheRead))
        }
    }

    /// An append to a scope in its known state, by one statement.
    struct KnownAppend: Sendable {
        let plan: AppendPlan
        let insertion: AppendStatement

        /// Creates the plan of an append; `nil` if it needs more than one statement.
        init?(_ request: AppendQueue.Request, _ state: AppendState, feedOffset: Int64 = 0) {
            guard !request.messages.isEmpty, !request.hasAttachments, !state.isDiscarded,
                !(request.options.claimsUnassigned && state.unassigned != nil),
                state.hasPreview || !request.messages.contains(where: { $0.role == .user }),
                // After an obstacle, the state is read.
                let plan = try? AppendPlan(
                    request.messages, agentId: request.scope.agentId, sameRole: request.options.sameRole, state: state),
                !plan.rows.isEmpty, plan.dropped.isEmpty
            else { return nil }
            self.plan = plan
            insertion = AppendStatement(
                plan, from: state, request.scope, request.options, feedOffset: feedOffset, leases: request.leases)
        }
    }

    /// The statement to save a plan: it updates the session only in the state of the plan and with the turn's leases, and inserts the
    /// messages only then.
    struct AppendStatement: Sendable {
        let statement: PostgresStatement
        /// The state after it.
        let state: AppendState

        init(
            _ plan: AppendPlan, from old: AppendState, _ scope: Scope, _ options: AppendOptions, feedOffset: Int64 = 0,
            restores: Bool = true, leases: [TurnLease] = []
        ) {
            var state = plan.state
            state.revision = .random(in: 0 ... .max)
            if restores { state.isDiscarded = false }
            let rows = plan.rows
            let contents = rows.map { MessageColumns.content(of: $0.message) }
            let timestamps = rows.map(\.message.timestamp.millisecondsSince1970)
            let usages = rows.map(\.message.countedUsage)
            let usage = usages.reduce(TokenUsage(), +)
            let size = MessageWindow.size(for: options.maxMessages)
            if size == 0 { state.noteEmptyWindow() }
            let leaseValues = leases.isEmpty ? [] : PostgresLease.values(leases)
            let leaseQuery = leases.isEmpty ? "" : "lease AS (\(PostgresLease.query(parametersFrom: 34))), "
            let hasLeases = leases.isEmpty ? "" : "AND (SELECT count(*) FROM lease) = \(leases.count)"
            statement = PostgresStatement(
                """
                WITH \(leaseQuery)head AS (
                  UPDATE recollect.session SET revision = $4, last_position = $5, added = added + $6,
                    message_count = message_count + $6,
                    read_through = CASE WHEN $7 AND read_through >= added THEN added + $6 ELSE read_through END,
                    last_activity = CASE WHEN message_count = 0 AND $6 > 0 THEN $8 ELSE greatest(last_activity, $8) END,
                    last_access = greatest(last_access, least($8, \(SessionColumns.lastAccess))),
                    discarded_at = CASE WHEN $28 THEN NULL ELSE discarded_at END,
                    input_tokens = input_tokens + $9, output_tokens = output_tokens + $10,
                    cache_creation_tokens = cache_creation_tokens + $11, cache_read_tokens = cache_read_tokens + $12
                  WHERE user_id = $1 AND session = $2 AND revision = $3
                    \(hasLeases)
                  RETURNING recollect.feed_number() + $13 AS feed
                )\(size == nil ? "" : Self.trim)
                INSERT INTO recollect.message (
                  user_id, session, scope, position, sequence, number, timestamp, placed_at, message_id, role, metadata,
                  unknown_fields, text, parts, input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, terms)
                SELECT $1, $2, $14, position, head.feed + offset_, $17 + offset_, timestamp, nullif(time, timestamp),
                  message_id, role, metadata, unknown_fields, text, parts, nullif(input, 0), nullif(output, 0),
                  nullif(cache_creation, 0), nullif(cache_read, 0), \(SearchTerms.vector("terms"))
                FROM head, unnest(
                  $16::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bytea[], $22::bytea[], $23::bytea[], $24::bytea[],
                  $25::bytea[], $26::bytea[], $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[],
                  $33::text[])
                AS row (
                  position, offset_, timestamp, time, message_id, role, metadata, unknown_fields, text, parts, input, output,
                  cache_creation, cache_read, terms)
                """,
                parameters: [
                    .bytes(scope.userId.bytes), .integer(old.session), .integer(old.revision), .integer(state.revision),
                    .integer(state.lastPosition), .integer(Int64(rows.count)), .boolean(options.keepsSessionRead),
                    .integer(timestamps.max() ?? .min), .integer(Int64(usage.input)), .integer(Int64(usage.output)),
                    .integer(Int64(usage.cacheCreation)), .integer(Int64(usage.cacheRead)), .integer(feedOffset),
                    .integer(old.scope),
                    .integer(Int64(max(size ?? 0, 1) - 1)), .integers(rows.map(\.position)),
                    .integer(old.added + 1), .integers(rows.indices.map(Int64.init)), .integers(timestamps),
                    .integers(rows.map(\.time)), .byteArrays(rows.map { $0.message.id.bytes }),
                    .byteArrays(contents.map(\.role)), .byteArrays(contents.map(\.metadata)),
                    .byteArrays(contents.map(\.unknownFields)), .byteArrays(contents.map(\.text)),
                    .byteArrays(contents.map(\.parts)), .integer(size == 0 ? 1 : 0), .boolean(restores),
                    .integers(usages.map { Int64($0.input) }), .integers(usages.map { Int64($0.output) }),
                    .integers(usages.map { Int64($0.cacheCreation) }), .integers(usages.map { Int64($0.cacheRead) }),
                    SearchTerms.values(of: contents, userId: scope.userId),
                ] + leaseValues)
            self.state = state
        }

        /// Moves the beginning of the window.
        private static let trim = """
            , trimmed AS (
              UPDATE recollect.scope SET window_start = new.start + $27
              FROM head, LATERAL (
                SELECT position AS start FROM (
                  SELECT position FROM recollect.message WHERE user_id = $1 AND session = $2 AND scope = $14
                  UNION ALL SELECT unnest($16::bigint[])
                ) AS positions ORDER BY position DESC LIMIT 1 OFFSET $15
              ) AS new
              WHERE user_id = $1 AND session = $2 AND scope = $14 AND window_start < new.start + $27
            )
            """
    }
#endif
