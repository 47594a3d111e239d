#if Postgres
    import Foundation
    import RecollectCore

    /// The messages of sessions and the windows of agents.
    extension PostgresHistoryStore {
        /// Returns messages of a session by pages: see `HistoryStore`.
        public func messages(
            of session: SessionKey, agentId: String?, page: PageRequest<MessageCursor>
        ) async throws -> Page<StoredMessage, MessageCursor> {
            let isForward = page.direction == .forward
            let (comparison, direction) = isForward ? (">", "ASC") : ("<", "DESC")
            let rows = try await performing {
                // Each agent's index gives its nearest positions, so the cost does not depend on the length of the session.
                try await $0.read(
                    """
                    SELECT \(MessageColumns.selected), message.position, scope.agent_id, message.sequence
                    FROM recollect.session JOIN recollect.scope USING (user_id, session) CROSS JOIN LATERAL (
                      SELECT * FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = scope.session AND m.scope = scope.scope
                        AND m.position \(comparison) $4
                      ORDER BY m.position \(direction) LIMIT $5
                    ) AS message
                    WHERE session.user_id = $1 AND session_id = $2 AND ($3::bytea IS NULL OR agent_id = $3)
                    ORDER BY message.position \(direction) LIMIT $5
                    """, .bytes(session.userId.bytes), .bytes(session.sessionId.bytes), .bytes(of: agentId),
                    .integer(page.cursor?.position ?? (isForward ? .min : .max)), .integer(Int64(page.limit) + 1))
            }
            return Page((0..<rows.count).map { Self.stored(rows, $0) }, page, cursor: \.cursor)
        }

        /// Returns one message: see `HistoryStore`.
        public func message(_ id: String, in session: SessionKey, agentId: String?) async throws -> StoredMessage? {
            let rows = try await performing {
                try await $0.read(
                    """
                    SELECT \(MessageColumns.selected), message.position, scope.agent_id, message.sequence
                    FROM recollect.session JOIN recollect.scope USING (user_id, session)
                    JOIN recollect.message USING (user_id, session, scope)
                    WHERE user_id = $1 AND session_id = $2 AND message_id = $3 AND ($4::bytea IS NULL OR agent_id = $4)
                    ORDER BY message.position LIMIT 1
                    """, .bytes(session.userId.bytes), .bytes(session.sessionId.bytes), .bytes(id.bytes),
                    .bytes(of: agentId))
            }
            return rows.count > 0 ? Self.stored(rows, 0) : nil
        }

        private static func stored(_ rows: PostgresResult, _ row: Int) -> StoredMessage {
            StoredMessage(
                agentId: rows.text(row, MessageColumns.count + 1),
                cursor: MessageCursor(position: rows.integer(row, MessageColumns.count)),
                message: MessageColumns.read(rows, row),
                additionCursor: ChangeCursor(sequence: rows.integer(row, MessageColumns.count + 2)))
        }

        /// Returns the newest messages of a scope's window: see `HistoryStore`.
        public func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
            let size = MessageWindow.size(for: maxMessages)
            if size == 0 { return [] }
            let rows = try await performing {
                try await $0.read(
                    """
                    SELECT \(MessageColumns.selected)
                    FROM recollect.session JOIN recollect.scope USING (user_id, session) CROSS JOIN LATERAL (
                      SELECT * FROM recollect.message AS m
                      WHERE m.user_id = $1 AND m.session = scope.session AND m.scope = scope.scope
                        AND m.position >= scope.window_start
                      ORDER BY m.position DESC LIMIT $4
                    ) AS message
                    WHERE session.user_id = $1 AND session_id = $2 AND agent_id = $3 ORDER BY message.position DESC
                    """, .bytes(scope.userId.bytes), .bytes(scope.sessionId.bytes), .bytes(scope.agentId.bytes),
                    .optional(size.map { Int64($0) }))
            }
            return (0..<rows.count).reversed().map { MessageColumns.read(rows, $0) }
        }

        /// Returns the newest messages of a scope without incomplete exchanges: see `HistoryStore`.
        public func windowOfWholeExchanges(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
            try await window(of: scope, maxMessages: maxMessages).wholeExchanges()
        }

        /// Returns the windows of all agents, in the order of their first saves: see `HistoryStore`.
        public func windows(of session: SessionKey) async throws -> [AgentMessages] {
            let rows = try await performing {
                try await $0.read(
                    """
                    SELECT \(MessageColumns.selected), scope.agent_id
                    FROM recollect.session JOIN recollect.scope USING (user_id, session)
                    LEFT JOIN recollect.message ON message.user_id = $1 AND message.session = scope.session
                      AND message.scope = scope.scope AND message.position >= scope.window_start
                    WHERE session.user_id = $1 AND session_id = $2 ORDER BY scope.scope, message.position
                    """, .bytes(session.userId.bytes), .bytes(session.sessionId.bytes))
            }
            var windows: [AgentMessages] = []
            for row in 0..<rows.count {
                let agentId = rows.text(row, MessageColumns.count)
                if windows.last.map({ !$0.agentId.hasSameBytes(as: agentId) }) ?? true {
                    windows.append(AgentMessages(agentId: agentId, messages: []))
                }
                // A scope without messages has one row of NULL.
                guard !rows.isNull(row, 0) else { continue }
                windows[windows.count - 1].messages.append(MessageColumns.read(rows, row))
            }
            return windows
        }

        /// Returns the version of a session's windows: see `HistoryStore`. Each write to the session changes it.
        public func version(of session: SessionKey) async throws -> ChatVersion? {
            let rows = try await performing {
                try await $0.read(
                    "SELECT session, revision FROM recollect.session WHERE user_id = $1 AND session_id = $2",
                    .bytes(session.userId.bytes), .bytes(session.sessionId.bytes))
            }
            return ChatVersion(rawValue: rows.count > 0 ? "\(rows.integer(0, 0)) \(rows.integer(0, 1))" : "")
        }

        /// Returns the bytes of an attachment: see `HistoryStore`.
        public func attachment(sha256: String, userId: String) async throws -> Data {
            guard Attachment.isHash(sha256) else { throw Attachment.missing(sha256) }
            let rows = try await performing { try await $0.run(AttachmentRows(userId: userId).read(sha256)) }
            guard rows.count > 0 else { throw Attachment.missing(sha256) }
            var bytes = Data()
            for row in 0..<rows.count { rows.withBytes(row, 0) { bytes.append(contentsOf: $0) } }
            guard Attachment.sha256(of: bytes) == sha256 else {
                throw RecollectError(.damaged, "the bytes of the attachment \(sha256) do not match its hash")
            }
            return bytes
        }
    }
#endif
