#if Postgres
    import Foundation
    import RecollectCore

    /// The row of a session.
    enum SessionColumns {
        /// The upper bound of an access by date, in milliseconds. Each later access adds 1 to the user's latest one and stays exact.
        static let lastAccess: Int64 = 1 << 51

        /// Returns the statement to create a session, unless it exists.
        static func insertion(of session: SessionKey, createdAt: Int64) -> PostgresStatement {
            PostgresStatement(
                """
                INSERT INTO recollect.session (
                  user_id, session, session_id, revision, created_at, last_activity, last_access, title_key)
                VALUES ($1, $2, $3, $4, $5, $5, least($5, \(lastAccess)), $6)
                ON CONFLICT (user_id, session_id) DO NOTHING
                """, .bytes(session.userId.bytes), .integer(.random(in: 1 ... .max)), .bytes(session.sessionId.bytes),
                .integer(.random(in: 0 ... .max)), .integer(createdAt), .bytes(titleKey(session.sessionId)))
        }

        /// Returns the statement to lock a session until the end of the transaction, so that no other one writes to it. Returns
        /// its number, or no row if there is none.
        static func lock(_ session: SessionKey) -> PostgresStatement {
            PostgresStatement(
                "SELECT session FROM recollect.session WHERE user_id = $1 AND session_id = $2 FOR UPDATE",
                .bytes(session.userId.bytes), .bytes(session.sessionId.bytes))
        }

        /// Returns the statement to give a session a new revision.
        static func revising(_ session: Int64, _ userId: String) -> PostgresStatement {
            PostgresStatement(
                "UPDATE recollect.session SET revision = $3 WHERE user_id = $1 AND session = $2", .bytes(userId.bytes),
                .integer(session), .integer(.random(in: 0 ... .max)))
        }

        /// Returns the key of a display title for the order of a list, that of `SessionQuery.Order.title` for the first 512 bytes: an
        /// entry of an index has at most 2,704.
        static func titleKey(_ displayTitle: String) -> [UInt8] {
            var key = Array(displayTitle.foldedBytes.prefix(512))
            key.append(0)
            withUnsafeBytes(of: UInt64(displayTitle.utf8.count).bigEndian) { key.append(contentsOf: $0) }
            return key
        }

        static func metadataQuery(of session: Int64, _ userId: String) -> PostgresStatement {
            PostgresStatement(
                "SELECT metadata FROM recollect.session WHERE user_id = $1 AND session = $2", .bytes(userId.bytes),
                .integer(session))
        }

        /// Reads the metadata from the row of `metadataQuery`.
        /// - Throws: `unreadable` for damaged metadata. A later write would replace it.
        static func metadata(_ row: PostgresResult, of session: SessionKey) throws -> [String: JSONValue] {
            guard row.count == 1, !row.isNull(0, 0) else { return [:] }
            do {
                return try row.withBytes(0, 0, JSONValue.parse(object:))
            } catch {
                throw RecollectError(
                    .unreadable, "the metadata of session \(session.sessionId) is damaged; nothing was changed",
                    cause: error)
            }
        }

        /// Returns the statement to set the metadata, without members of `null`.
        static func settingMetadata(
            _ metadata: [String: JSONValue], of session: Int64, _ userId: String
        ) -> PostgresStatement {
            PostgresStatement(
                "UPDATE recollect.session SET metadata = $3 WHERE user_id = $1 AND session = $2",
                .bytes(userId.bytes), .integer(session),
                .optional(MessageColumns.bytes(of: metadata.filter { $0.value != .null })))
        }

        /// The columns of a session in a list, as `read` expects them. The first parameter is the user: it selects the partitions.
        static let selected = """
            session.user_id, session.session_id, session.title, session.created_at, session.last_activity,
            session.message_count, session.working_directory, session.branch_name, session.metadata, session.preview,
            session.last_access, session.is_pinned, session.is_archived, session.added > session.read_through,
            session.discarded_at, session.first_message, session.input_tokens, session.output_tokens,
            session.cache_creation_tokens, session.cache_read_tokens, session.branch_after,
            (SELECT origin.session_id FROM recollect.session AS origin
             WHERE origin.user_id = $1 AND origin.session = session.branch_of),
            ARRAY(SELECT tag FROM recollect.tag
                  WHERE tag.user_id = $1 AND tag.session = session.session ORDER BY tag),
            ARRAY(SELECT agent_id FROM recollect.scope CROSS JOIN LATERAL (
                    SELECT m.position FROM recollect.message AS m
                    WHERE m.user_id = $1 AND m.session = scope.session AND m.scope = scope.scope
                    ORDER BY m.position LIMIT 1) AS first
                  WHERE scope.user_id = $1 AND scope.session = session.session
                  ORDER BY first.position, scope.scope)
            """

        /// Reads a session from a row of `selected`.
        static func read(_ rows: PostgresResult, _ row: Int) -> Session {
            var session = Session(
                id: SessionKey(userId: rows.text(row, 0), sessionId: rows.text(row, 1)),
                title: rows.optionalText(row, 2),
                createdAt: Date(millisecondsSince1970: rows.integer(row, 3)),
                lastActivityAt: Date(millisecondsSince1970: rows.integer(row, 4)),
                messageCount: Int(rows.integer(row, 5)),
                agentIds: rows.texts(row, 23),
                preview: rows.text(row, 9),
                firstMessage: rows.optionalText(row, 15),
                workingDirectory: rows.optionalText(row, 6),
                branchName: rows.optionalText(row, 7),
                metadata: MessageColumns.object(rows, row, 8),
                lastAccessedAt: Date(millisecondsSince1970: rows.integer(row, 10)),
                isPinned: rows.boolean(row, 11),
                isArchived: rows.boolean(row, 12),
                isUnread: rows.boolean(row, 13),
                tags: rows.texts(row, 22),
                usage: TokenUsage(
                    input: Int(rows.integer(row, 16)), output: Int(rows.integer(row, 17)),
                    cacheCreation: Int(rows.integer(row, 18)), cacheRead: Int(rows.integer(row, 19))),
                discardedAt: rows.optionalInteger(row, 14).map(Date.init(millisecondsSince1970:)))
            session.branchPoint = rows.optionalText(row, 21).map {
                BranchPoint(sessionId: $0, messageId: rows.optionalText(row, 20))
            }
            return session
        }
    }
#endif
