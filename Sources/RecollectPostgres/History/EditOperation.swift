#if Postgres
    import Foundation
    import RecollectCore

    /// Edits and deletions of messages of one session, in a transaction with a lock on it: first on the contents read, then as
    /// statements.
    struct EditOperation {
        private struct Found {
            let scope: Int64
            let position: Int64
            let sequence: Int64
            let number: Int64
            let agentId: String
            let old: ConversationMessage
            /// The content after the edits; `nil` after a deletion.
            var new: ConversationMessage?
        }

        private let session: SessionKey
        private let number: Int64
        private let attachments: [String: Data]
        private let transaction: PostgresTransaction
        private var found: [Found]
        private var indices: [ByteString: [Int]] = [:]

        /// Creates an operation on the messages with these IDs, and reads them.
        /// - Parameters:
        ///   - agentId: The agent of the messages; `nil` for all agents.
        ///   - attachments: The bytes of new attachments by hash.
        init(
            _ ids: [String], agentId: String? = nil, attachments: [String: Data] = [:], in session: SessionKey,
            _ number: Int64, _ transaction: PostgresTransaction
        ) async throws {
            try await self.init(
                "message_id = ANY ($3) AND ($4::bytea IS NULL OR agent_id = $4) ORDER BY position",
                [.byteArrays(ids.map(\.bytes)), .bytes(of: agentId)], attachments: attachments, in: session, number,
                transaction)
        }

        /// Creates an operation on messages with a timestamp before a date, and reads them.
        /// - Parameters:
        ///   - date: The date, in milliseconds since 1970.
        ///   - limit: The maximum number of messages.
        init(
            olderThan date: Int64, limit: Int, in session: SessionKey, _ number: Int64,
            _ transaction: PostgresTransaction
        ) async throws {
            try await self.init(
                "timestamp < $3 ORDER BY position LIMIT $4", [.integer(date), .integer(Int64(limit))], attachments: [:],
                in: session, number, transaction)
        }

        private init(
            _ condition: String, _ values: [PostgresValue], attachments: [String: Data], in session: SessionKey,
            _ number: Int64, _ transaction: PostgresTransaction
        ) async throws {
            self.attachments = attachments
            self.session = session
            self.number = number
            self.transaction = transaction
            let rows = try await transaction.run([
                PostgresStatement(
                    """
                    SELECT \(MessageColumns.selected), scope, position, sequence, number, agent_id
                    FROM recollect.message JOIN recollect.scope USING (user_id, session, scope)
                    WHERE user_id = $1 AND session = $2 AND \(condition)
                    """, parameters: [.bytes(session.userId.bytes), .integer(number)] + values)
            ])[0]
            let first = MessageColumns.count
            found = (0..<rows.count).map { row in
                let message = MessageColumns.read(rows, row)
                return Found(
                    scope: rows.integer(row, first), position: rows.integer(row, first + 1),
                    sequence: rows.integer(row, first + 2), number: rows.integer(row, first + 3),
                    agentId: rows.text(row, first + 4), old: message, new: message)
            }
            for (index, message) in found.enumerated() {
                indices[ByteString(message.old.id), default: []].append(index)
            }
        }

        /// Replaces the content of the messages with an ID. Unchanged notes of a chat UI move with their parts. Returns their
        /// number.
        /// - Parameter known: The only content to replace; `nil` for any.
        mutating func replace(_ message: ConversationMessage, known: ConversationMessage? = nil) -> Int {
            var count = 0
            for index in indices[ByteString(message.id)] ?? [] {
                guard let present = found[index].new, known?.hasSameContent(as: present) ?? true else { continue }
                count += 1
                let new = message.movingNotes(from: present)
                if !present.hasSameContent(as: new) { found[index].new = new }
            }
            return count
        }

        /// Deletes the messages with this ID that had this content when they were read. Returns their number.
        mutating func remove(_ message: ConversationMessage) -> Int {
            var count = 0
            for index in indices[ByteString(message.id)] ?? []
            where found[index].old.hasSameContent(as: message) {
                found[index].new = nil
                count += 1
            }
            return count
        }

        /// Deletes all messages read. Returns their number.
        mutating func removeAll() -> Int {
            for index in found.indices { found[index].new = nil }
            return found.count
        }

        /// Writes the changed rows, and returns the last statements of the transaction.
        /// - Parameter recordsMessages: Whether the feed has a change for each message, and not one without IDs for all of them.
        func statements(recordsMessages: Bool = true) async throws -> [PostgresStatement] {
            let edited = found.filter { message in message.new.map { !message.old.hasSameContent(as: $0) } ?? false }
            let deleted = found.filter { $0.new == nil }
            guard !edited.isEmpty || !deleted.isEmpty else { return [] }
            let rows = AttachmentRows(userId: session.userId)
            let sequences = (edited + deleted).map(\.sequence)
            let hashes = edited.compactMap(\.new).flatMap(\.storedAttachments)
            var statements = [rows.lock(usedBy: sequences, and: hashes), rows.removeUses(by: sequences)]
            let changed = deleted + edited.filter { $0.new.map($0.old.isSameForModel) == false }
            if !changed.isEmpty { statements.append(removingCompactions(of: changed)) }
            for message in edited { statements += edit(message) }
            if !deleted.isEmpty { statements.append(delete(deleted)) }
            let uses = edited.flatMap { message in
                message.new.map { AttachmentRows.uses(by: $0, sequence: message.sequence) } ?? []
            }
            let used = Set(uses.map(\.sha256))
            statements += rows.save(attachments.filter { used.contains($0.key) }, for: uses, isRelative: false)
            if recordsMessages {
                for message in edited + deleted {
                    statements += ChangeColumns.record(
                        message.new == nil ? .messageDeleted : .messageEdited, of: message.old.id,
                        agentId: message.agentId, sequence: message.sequence, in: session,
                        at: transaction.reserveFeedNumbers())
                }
            } else {
                statements += ChangeColumns.record(
                    .sessionRearranged, session, at: transaction.reserveFeedNumbers())
            }
            statements.append(updatedSession(edited, deleted))
            statements.append(SessionPreview.query(of: number, session.userId))
            let results = try await transaction.run(statements)
            let preview = results.last.flatMap(SessionPreview.init)
            return (preview.map { [$0.update(of: number, session.userId)] } ?? []) + rows.deleteUnused(results[1])
        }

        /// Removes the compactions covering any of these messages: a summary may quote them. A compaction may have left the session
        /// for a branch with later messages, so all branches are included.
        private func removingCompactions(of messages: [Found]) -> PostgresStatement {
            PostgresStatement(
                """
                WITH RECURSIVE root (session) AS (
                  SELECT $2::bigint UNION SELECT s.branch_of FROM recollect.session AS s JOIN root USING (session)
                  WHERE s.user_id = $1 AND s.branch_of IS NOT NULL
                ), family (session) AS (
                  SELECT session FROM root UNION SELECT s.session FROM recollect.session AS s
                  JOIN family ON s.branch_of = family.session WHERE s.user_id = $1
                ), removed AS (
                  DELETE FROM recollect.compaction
                  USING unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS changed (scope, position, number)
                  JOIN recollect.scope AS own ON own.user_id = $1 AND own.session = $2 AND own.scope = changed.scope
                  JOIN recollect.scope AS other ON other.user_id = $1 AND other.agent_id = own.agent_id
                  JOIN family ON family.session = other.session
                  WHERE compaction.user_id = $1 AND compaction.session = other.session
                    AND compaction.scope = other.scope AND compaction.covers_through >= changed.number
                    AND (other.session <> $2 OR changed.position <= (
                      SELECT boundary.position FROM recollect.message AS boundary
                      WHERE boundary.user_id = $1 AND boundary.sequence = compaction.boundary))
                  RETURNING compaction.session
                )
                UPDATE recollect.session SET revision = $6
                WHERE user_id = $1 AND session IN (SELECT removed.session FROM removed)
                """, .bytes(session.userId.bytes), .integer(number), .integers(messages.map(\.scope)),
                .integers(messages.map(\.position)), .integers(messages.map(\.number)),
                .integer(.random(in: 0 ... .max)))
        }

        private func edit(_ message: Found) -> [PostgresStatement] {
            guard let new = message.new else { return [] }
            let content = MessageColumns.content(of: new)
            let usage = new.countedUsage
            return [
                PostgresStatement(
                    """
                    UPDATE recollect.message SET timestamp = $5, role = $6, metadata = $7, unknown_fields = $8, text = $9,
                      parts = $10, copied_from = NULL, placed_at = coalesce(placed_at, nullif(timestamp, $5)),
                      input_tokens = nullif($11, 0), output_tokens = nullif($12, 0),
                      cache_creation_tokens = nullif($13, 0), cache_read_tokens = nullif($14, 0),
                      terms = \(SearchTerms.vector("($15::text[])[1]"))
                    WHERE user_id = $1 AND session = $2 AND scope = $3 AND position = $4
                    """, .bytes(session.userId.bytes), .integer(number), .integer(message.scope),
                    .integer(message.position), .integer(new.timestamp.millisecondsSince1970), .bytes(content.role),
                    .optional(content.metadata), .optional(content.unknownFields), .optional(content.text),
                    .optional(content.parts), .integer(Int64(usage.input)), .integer(Int64(usage.output)),
                    .integer(Int64(usage.cacheCreation)), .integer(Int64(usage.cacheRead)),
                    SearchTerms.values(of: [content], userId: session.userId))
            ]
        }

        private func delete(_ messages: [Found]) -> PostgresStatement {
            PostgresStatement(
                """
                DELETE FROM recollect.message USING unnest($3::bigint[], $4::bigint[]) AS gone (scope, position)
                WHERE user_id = $1 AND session = $2 AND message.scope = gone.scope AND message.position = gone.position
                """, .bytes(session.userId.bytes), .integer(number), .integers(messages.map(\.scope)),
                .integers(messages.map(\.position)))
        }

        /// Updates the counts of the session, and its last activity from the other messages if it was that of a changed one.
        private func updatedSession(_ edited: [Found], _ deleted: [Found]) -> PostgresStatement {
            let old = (edited + deleted).map(\.old)
            let new = edited.compactMap(\.new)
            let latest = old.map(\.timestamp.millisecondsSince1970).max() ?? .min
            func difference(_ count: KeyPath<TokenUsage, Int>) -> PostgresValue {
                let sum = { (messages: [ConversationMessage]) in
                    messages.reduce(0) { $0 + $1.countedUsage[keyPath: count] }
                }
                return .integer(Int64(sum(new) - sum(old)))
            }
            let deletedTexts = deleted.map(\.old).filter { $0.role == .user }.map {
                MessageColumns.content(of: $0).text
            }
            return PostgresStatement(
                """
                UPDATE recollect.session SET revision = $3, message_count = message_count - $4,
                  last_activity = CASE WHEN $5 >= last_activity THEN coalesce((
                      SELECT max(timestamp) FROM recollect.message AS m WHERE m.user_id = $1 AND m.session = $2
                    ), created_at) ELSE greatest(last_activity, $6) END,
                  read_through = CASE WHEN added > read_through AND $7 > read_through AND NOT EXISTS (
                      SELECT FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = $2 AND m.number > session.read_through
                    ) THEN added ELSE read_through END,
                  first_message = CASE WHEN first_message = ANY ($8) THEN NULL ELSE first_message END,
                  input_tokens = input_tokens + $9, output_tokens = output_tokens + $10,
                  cache_creation_tokens = cache_creation_tokens + $11, cache_read_tokens = cache_read_tokens + $12
                WHERE user_id = $1 AND session = $2
                """,
                parameters: [
                    .bytes(session.userId.bytes), .integer(number), .integer(.random(in: 0 ... .max)),
                    .integer(Int64(deleted.count)), .integer(latest),
                    .integer(new.map(\.timestamp.millisecondsSince1970).max() ?? .min),
                    .integer(deleted.map(\.number).max() ?? 0), .byteArrays(deletedTexts.filter { $0 != nil }),
                    difference(\.input), difference(\.output), difference(\.cacheCreation), difference(\.cacheRead),
                ])
        }
    }
#endif
