#if Postgres
    import Foundation
    import RecollectCore

    /// Lists and details of sessions.
    extension PostgresHistoryStore {
        /// Returns one session: see `HistoryStore`.
        public func session(_ session: SessionKey) async throws -> Session? {
            try await list(
                "user_id = $1 AND session_id = $2",
                [.bytes(session.userId.bytes), .bytes(session.sessionId.bytes)]
            ).first
        }

        /// Returns sessions by a prefix of their session ID: see `HistoryStore`.
        public func sessions(of userId: String, sessionIdPrefix prefix: String, limit: Int) async throws -> [Session] {
            try await list(
                """
                user_id = $1 AND session_id >= $2 AND branch_of IS NULL AND discarded_at IS NULL
                ORDER BY session.session_id LIMIT $3
                """, [.bytes(userId.bytes), .bytes(prefix.bytes), .integer(Int64(max(1, limit)))]
            ).prefix { $0.id.sessionId.utf8.starts(with: prefix.utf8) }.map { $0 }
        }

        /// Returns the branches of a session, the oldest first: see `HistoryStore`.
        public func branches(of session: SessionKey) async throws -> [Session] {
            try await list(
                """
                user_id = $1 AND branch_of = (
                  SELECT origin.session FROM recollect.session AS origin WHERE origin.user_id = $1 AND origin.session_id = $2)
                ORDER BY session.branch_number, session.session_id
                """, [.bytes(session.userId.bytes), .bytes(session.sessionId.bytes)])
        }

        /// Returns a user's sessions by pages: see `HistoryStore`.
        public func sessions(
            _ query: SessionQuery, page: PageRequest<SessionCursor>
        ) async throws -> Page<Session, SessionCursor> {
            guard !query.text.isEmpty else {
                let selection = SessionSelection(query, page)
                return Page(try await list(selection.condition, selection.values), page, cursor: query.cursor(of:))
            }
            let sessions = try await performing { database in
                try await database.reading { transaction in
                    let found = try await Self.messages(of: query.userId, holding: query.text, in: transaction)
                    let selection = SessionSelection(query, page, holdingText: found)
                    return Self.sessions(
                        try await transaction.run([Self.statement(selection.condition, selection.values)])[0])
                }
            }
            return Page(sessions, page, cursor: query.cursor(of:))
        }

        private func list(
            _ condition: String, _ values: [PostgresValue], _ operation: String = #function
        ) async throws -> [Session] {
            Self.sessions(
                try await performing(operation) {
                    try await $0.run(Self.statement(condition, values), readsInOrder: true)
                })
        }

        private static func statement(_ condition: String, _ values: [PostgresValue]) -> PostgresStatement {
            PostgresStatement(
                "SELECT \(SessionColumns.selected) FROM recollect.session WHERE \(condition)", parameters: values)
        }

        private static func sessions(_ rows: PostgresResult) -> [Session] {
            (0..<rows.count).map { SessionColumns.read(rows, $0) }
        }

        /// Sets a session's details: see `HistoryStore`.
        @discardableResult
        public func update(_ session: SessionKey, with details: SessionDetails, createIfMissing: Bool) async throws
            -> Bool
        {
            try details.checkSavable()
            try checkIDs([session.userId, session.sessionId] + details.addedTags)
            let now = Date().millisecondsSince1970
            let createdAt = createIfMissing ? details.createdAt?.millisecondsSince1970 ?? now : nil
            return try await writing(session, creatingAt: createdAt) { number, transaction in
                try await SessionUpdate(session: session, number: number, transaction: transaction).run(details)
            } ?? false
        }

        /// Removes a session from all lists and searches: see `HistoryStore`.
        @discardableResult
        public func discardSession(_ session: SessionKey) async throws -> Bool {
            let now = Date().millisecondsSince1970
            return try await writing(session) { number, transaction in
                let discard = PostgresStatement(
                    """
                    UPDATE recollect.session SET discarded_at = coalesce(discarded_at, $3), revision = $4
                    WHERE user_id = $1 AND session = $2
                    """, .bytes(session.userId.bytes), .integer(number), .integer(now),
                    .integer(.random(in: 0 ... .max)))
                let change = ChangeColumns.record(
                    .sessionUpdated, session, at: transaction.reserveFeedNumbers())
                return ([discard] + change, true)
            } ?? false
        }

        /// Restores a discarded session: see `HistoryStore`.
        @discardableResult
        public func restoreSession(_ session: SessionKey) async throws -> Bool {
            try await writing(session) { number, transaction in
                let restored = try await transaction.run(
                    """
                    UPDATE recollect.session SET discarded_at = NULL, revision = $3
                    WHERE user_id = $1 AND session = $2 AND discarded_at IS NOT NULL
                    """, .bytes(session.userId.bytes), .integer(number), .integer(.random(in: 0 ... .max)))
                guard restored.affectedCount == 1 else { return ([], false) }
                return (
                    ChangeColumns.record(.sessionUpdated, session, at: transaction.reserveFeedNumbers()), true
                )
            } ?? false
        }
    }

    /// Sets details of a session in a transaction with a lock on it.
    struct SessionUpdate {
        let session: SessionKey
        let number: Int64
        let transaction: PostgresTransaction

        private var key: [PostgresValue] { [.bytes(session.userId.bytes), .integer(number)] }

        func run(_ details: SessionDetails) async throws -> (statements: [PostgresStatement], value: Bool) {
            let access = details.lastAccessedAt.flatMap { date in
                date.isNotANumber ? nil : min(date.millisecondsSince1970, SessionColumns.lastAccess)
            }
            var statements = [
                PostgresStatement(
                    """
                    UPDATE recollect.session SET revision = $3, title = nullif(coalesce($4, title), ''),
                      working_directory = coalesce($5, working_directory), branch_name = coalesce($6, branch_name),
                      is_pinned = coalesce($7, is_pinned), is_archived = coalesce($8, is_archived),
                      last_access = greatest(last_access, $9),
                      read_through = CASE WHEN $10 THEN added WHEN NOT $10 THEN least(read_through, coalesce((
                          SELECT max(number) FROM recollect.message AS m WHERE m.user_id = $1 AND m.session = $2
                        ), added) - 1) ELSE read_through END,
                      first_message = CASE WHEN coalesce(first_message, '') = '' AND preview IS NULL
                        THEN coalesce($11, first_message) ELSE first_message END
                    WHERE user_id = $1 AND session = $2
                    """,
                    parameters: key + [
                        .integer(.random(in: 0 ... .max)), .bytes(of: details.title),
                        .bytes(of: details.workingDirectory), .bytes(of: details.branchName),
                        details.isPinned.map { .boolean($0) } ?? .null,
                        details.isArchived.map { .boolean($0) } ?? .null, .optional(access),
                        details.isRead.map { .boolean($0) } ?? .null, .bytes(of: details.firstMessage),
                    ]),
                PostgresStatement(
                    "DELETE FROM recollect.tag WHERE user_id = $1 AND session = $2 AND tag = ANY ($3)",
                    parameters: key + [.byteArrays(details.removedTags.map(\.bytes))]),
                PostgresStatement(
                    """
                    INSERT INTO recollect.tag (user_id, session, tag) SELECT $1, $2, unnest($3::bytea[])
                    ON CONFLICT (user_id, session, tag) DO NOTHING
                    """,
                    parameters: key + [.byteArrays(details.addedTags.filter { !$0.isEmpty }.map(\.bytes))]),
                SessionColumns.metadataQuery(of: number, session.userId),
                SessionPreview.query(of: number, session.userId),
            ]
            let results = try await transaction.run(statements)
            statements = []
            if !details.metadata.isEmpty {
                let metadata = try SessionColumns.metadata(results[3], of: session)
                statements.append(
                    SessionColumns.settingMetadata(
                        metadata.merging(details.metadata) { _, new in new }, of: number, session.userId))
            }
            if details.title != nil || details.firstMessage != nil, let preview = SessionPreview(results[4]) {
                statements.append(preview.update(of: number, session.userId))
            }
            statements += ChangeColumns.record(.sessionUpdated, session, at: transaction.reserveFeedNumbers())
            return (statements, true)
        }
    }

    /// The condition and the order of a list of sessions in SQL, with the values.
    struct SessionSelection {
        private(set) var condition = ""
        private(set) var values: [PostgresValue] = []

        /// Creates the selection of a page.
        /// - Parameter messages: The messages with the words of the query's text, by sequence number.
        init(_ query: SessionQuery, _ page: PageRequest<SessionCursor>, holdingText messages: [Int64] = []) {
            condition = """
                user_id = \(bind(.bytes(query.userId.bytes))) AND branch_of IS NULL
                AND discarded_at IS \(query.isDiscarded ? "NOT NULL" : "NULL")
                """
            if let isPinned = query.isPinned { add("is_pinned = \(isPinned)") }
            if let isArchived = query.isArchived { add("is_archived = \(isArchived)") }
            if let isUnread = query.isUnread { add("added \(isUnread ? ">" : "<=") read_through") }
            if let from = query.from { add("last_activity >= \(bind(.integer(from.millisecondsSince1970)))") }
            if let until = query.until { add("last_activity < \(bind(.integer(until.millisecondsSince1970)))") }
            let tags = Set(query.tags.map(ByteString.init))
            if !tags.isEmpty {
                add(
                    """
                    (SELECT count(*) FROM recollect.tag WHERE tag.user_id = session.user_id
                     AND tag.session = session.session
                     AND tag.tag = ANY (\(bind(.byteArrays(tags.map(\.string.bytes)))))) = \(tags.count)
                    """)
            }
            if let agentId = query.agentId {
                add(
                    """
                    EXISTS (SELECT FROM recollect.scope AS s
                      WHERE s.user_id = session.user_id AND s.session = session.session
                      AND s.agent_id = \(bind(.bytes(agentId.bytes)))
                      AND EXISTS (SELECT FROM recollect.message AS m
                        WHERE m.user_id = s.user_id AND m.session = s.session AND m.scope = s.scope))
                    """)
            }
            if !query.text.isEmpty {
                let text = bind(.bytes(query.text.bytes))
                add(
                    """
                    (\(Self.contains("session.title", text)) OR \(Self.contains("session.preview", text))
                     OR session.session IN (SELECT m.session FROM recollect.message AS m
                       WHERE m.user_id = $1 AND m.sequence = ANY (\(bind(.integers(messages))))))
                    """)
            }
            let isAscending = query.order.isAscending != (query.isReversed != (page.direction == .backward))
            let key = query.order.column
            if let cursor = page.cursor {
                add(
                    """
                    (\(key), session.session_id) \(isAscending ? ">" : "<")
                    (\(bind(cursor.key.value)), \(bind(.bytes(cursor.sessionId.bytes))))
                    """)
            }
            let direction = isAscending ? "ASC" : "DESC"
            // One row more shows whether there is another page.
            condition += """
                 ORDER BY \(key) \(direction), session.session_id \(direction)
                LIMIT \(bind(.integer(Int64(page.limit) + 1)))
                """
        }

        /// Whether a column has a string, without the case of ASCII letters. PostgreSQL has no text with U+0000: it is compared by
        /// bytes.
        private static func contains(_ column: String, _ text: String) -> String {
            """
            CASE WHEN position('\\x00'::bytea IN \(column)) > 0 OR position('\\x00'::bytea IN \(text)) > 0
              THEN position(\(text) IN \(column)) > 0
              ELSE position(lower(convert_from(\(text), 'UTF8') COLLATE "C")
                IN lower(convert_from(\(column), 'UTF8') COLLATE "C")) > 0 END
            """
        }

        private mutating func add(_ term: String) {
            condition += " AND \(term)"
        }

        private mutating func bind(_ value: PostgresValue) -> String {
            values.append(value)
            return "$\(values.count)"
        }
    }

    extension SessionQuery.Order {
        fileprivate var column: String {
            switch self {
            case .lastActivity: "session.last_activity"
            case .lastAccess: "session.last_access"
            case .creation: "session.created_at"
            case .title: "session.title_key"
            case .messageCount: "session.message_count"
            }
        }
    }

    extension SessionCursor.Key {
        fileprivate var value: PostgresValue {
            switch self {
            case .integer(let integer): .integer(integer)
            case .text(let title): .bytes(SessionColumns.titleKey(title))
            }
        }
    }
#endif
