#if Postgres
    import RecollectCore

    /// The preview of a session: the beginning of its first user message.
    struct SessionPreview {
        /// The number of messages of each agent searched for the first user message.
        private static let maxScannedMessages = 32

        let text: String?
        private let titleKey: [UInt8]

        /// Returns the statement to read the title, the ID and the saved first message of a session, with its first user
        /// messages.
        static func query(of session: Int64, _ userId: String) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT session.title, session.session_id, session.first_message, first.text, first.parts
                FROM recollect.session LEFT JOIN LATERAL (
                  SELECT beginning.* FROM recollect.scope CROSS JOIN LATERAL (
                    SELECT m.role, m.position, substring(m.text FOR 4000) AS text, m.parts FROM recollect.message AS m
                    WHERE m.user_id = $1 AND m.session = $2 AND m.scope = scope.scope ORDER BY m.position LIMIT \(maxScannedMessages)
                  ) AS beginning WHERE scope.user_id = $1 AND scope.session = $2 AND beginning.role = 'user'
                ) AS first ON true
                WHERE session.user_id = $1 AND session.session = $2 ORDER BY first.position
                """, .bytes(userId.bytes), .integer(session))
        }

        /// Creates the preview from the rows of `query`; `nil` without a session.
        init?(_ rows: PostgresResult) {
            guard rows.count > 0 else { return nil }
            let first = rows.optionalText(0, 2).flatMap(Session.preview)
            text =
                first
                ?? (0..<rows.count).lazy.compactMap { row -> String? in
                    if !rows.isNull(row, 3) { return Session.preview(of: rows.text(row, 3)) }
                    guard !rows.isNull(row, 4) else { return nil }
                    return Session.preview(
                        of: MessageColumns.parts(rows, row, 4).compactMap(\.text).joined(separator: " "))
                }.first
            let title = rows.optionalText(0, 0) ?? ""
            titleKey = SessionColumns.titleKey(title.isEmpty ? text ?? rows.text(0, 1) : title)
        }

        /// Returns the statement to set the preview.
        func update(of session: Int64, _ userId: String) -> PostgresStatement {
            PostgresStatement(
                "UPDATE recollect.session SET preview = $3, title_key = $4 WHERE user_id = $1 AND session = $2",
                .bytes(userId.bytes), .integer(session), .bytes(of: text), .bytes(titleKey))
        }
    }
#endif
