#if Postgres
    import Foundation
    import RecollectCore
    import RecollectSearch

    /// A message in the rows of a search.
    struct FoundMessage {
        /// The statement to read messages of a user by their sequence numbers.
        static func statement(_ sequences: [SequenceNumber], of user: PostgresValue) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT message.sequence, message.message_id, message.role, message.timestamp, message.session,
                  session.session_id, scope.agent_id, coalesce(message.copied_from, message.sequence), message.metadata,
                  message.text, message.parts, \(isListed)
                FROM recollect.message
                JOIN recollect.session ON session.user_id = $1 AND session.session = message.session
                JOIN recollect.scope ON scope.user_id = $1 AND scope.session = message.session
                  AND scope.scope = message.scope
                WHERE message.user_id = $1 AND message.sequence = ANY ($2)
                """, user, .integers(sequences.map(\.rawValue)))
        }

        /// Whether a session is in lists. A branch is hidden along with its discarded session.
        static let isListed = """
            (session.discarded_at IS NULL AND (session.branch_of IS NULL OR (
              SELECT origin.discarded_at FROM recollect.session AS origin
              WHERE origin.user_id = $1 AND origin.session = session.branch_of) IS NULL))
            """

        private let rows: PostgresResult
        private let row: Int
        private let agentId: ByteString
        private let isListed: Bool
        let searched: SearchedMessage

        /// Creates the message of a row of `statement`.
        init(_ rows: PostgresResult, _ row: Int) {
            (self.rows, self.row) = (rows, row)
            agentId = ByteString(rows.text(row, 6))
            isListed = rows.boolean(row, 11)
            let metadata = MessageColumns.object(rows, row, 8)
            let isQuotation = Self.isQuotation(rows, row, metadata)
            searched = SearchedMessage(
                messageId: rows.text(row, 1),
                facts: MessageFacts(
                    role: ByteString(rows.text(row, 2)), timestamp: rows.integer(row, 3),
                    isProse: !rows.isNull(row, 9)),
                session: SessionRowID(rawValue: rows.integer(row, 4)), sessionId: rows.text(row, 5),
                agentId: agentId.string, original: SequenceNumber(rawValue: rows.integer(row, 7)),
                name: metadata["name"]?.stringValue,
                echo: rows.withBytes(row, 9) { MessageEcho(isQuotation: isQuotation, text: $0) },
                byteCount: rows.withBytes(row, 9, \.count) + rows.withBytes(row, 10, \.count))
        }

        /// Whether the message quotes the history (`MessageEcho`).
        private static func isQuotation(
            _ rows: PostgresResult, _ row: Int, _ metadata: [String: JSONValue]
        ) -> Bool {
            if case .array(let quotes)? = metadata[HistoryQuotation.metadataKey],
                case .object(let first)? = quotes.first,
                first["messageId"] != nil
            {
                return true
            }
            guard !rows.isNull(row, 10) else { return false }
            return MessageColumns.parts(rows, row, 10).contains { part in
                if case .toolCall(_, let name, _) = part { HistoryQuotation.isTool(name) } else { false }
            }
        }

        /// Whether the message passes a filter.
        func passes(_ filter: SearchFilter) -> Bool {
            filter.includesDiscarded || isListed
                ? (filter.session ?? searched.session) == searched.session
                    && (filter.agentId ?? agentId) == agentId
                    && filter.timestamps.contains(searched.timestamp)
                    && (filter.roles.isEmpty || filter.roles.contains(searched.role))
                : false
        }

        /// Calls `body` with the searched text. The bytes are valid only during the call.
        func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
            try rows.withSearchedText(row, text: 9, parts: 10, body)
        }

        /// Whether two messages have the same role and content.
        func hasSameContent(as other: FoundMessage) -> Bool {
            searched.role == other.searched.role
                && [9, 10].allSatisfy { column in
                    rows.isNull(row, column) == other.rows.isNull(other.row, column)
                        && rows.withBytes(row, column) { bytes in
                            other.rows.withBytes(other.row, column) { bytes.elementsEqual($0) }
                        }
                }
        }
    }

    extension PostgresResult {
        /// Calls `body` with the searched text of a row with the columns `text` and `parts` (`MessageText`).
        func withSearchedText<Result>(
            _ row: Int, text: Int, parts: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
        ) rethrows -> Result {
            try withBytes(row, parts) { bytes in
                guard !isNull(row, text) else { return try MessageText.withBytes(text: nil, parts: bytes, body) }
                return try withBytes(row, text) { try MessageText.withBytes(text: $0, parts: bytes, body) }
            }
        }
    }
#endif
