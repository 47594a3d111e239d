#if Postgres
    import Foundation
    import RecollectCore

    /// Checks all rows of a history, on one state of the database.
    struct PostgresCheck {
        private let transaction: PostgresTransaction
        private(set) var report: PostgresReport

        /// The maximum number of problems of a kind in a report.
        private static let problemCount = 100
        /// The number of messages, or of sessions, read at once.
        private static let pageSize = 50

        /// Creates a check, and reads the facts of the report. If tables are missing, it has no counts.
        init(server: String, in transaction: PostgresTransaction) async throws {
            self.transaction = transaction
            let settings = try await transaction.run(
                """
                SELECT current_setting('server_version'), (SELECT max(version) FROM recollect.migration),
                  pg_database_size(current_database()), current_setting('fsync'), current_setting('full_page_writes'),
                  current_setting('synchronous_commit'), current_setting('client_min_messages')
                """)
            report = PostgresReport(
                server: server, serverVersion: String(settings.text(0, 0).prefix { $0 != " " }),
                schemaVersion: Int(settings.integer(0, 1)), databaseBytes: Int(settings.integer(0, 2)))
            for (number, name) in ["fsync", "full_page_writes", "synchronous_commit"].enumerated()
            where settings.text(0, 3 + number) == "off" {
                let loss = name == "synchronous_commit" ? "lose the newest saves" : "damage the database"
                add("durability", "\(name) is off: a crash of the server can \(loss); set it to on")
            }
            // The server reports by a warning that a canceled commit is not on the synchronous standby.
            if ["error", "fatal", "panic"].contains(settings.text(0, 6)) {
                add(
                    "durability",
                    "client_min_messages is \(settings.text(0, 6)): a canceled save can return before a synchronous standby has it; set it to notice"
                )
            }
            try await checkSchema()
        }

        private mutating func count() async throws {
            let counts = try await transaction.run(
                """
                SELECT (SELECT count(DISTINCT user_id) FROM recollect.session), (SELECT count(*) FROM recollect.session),
                  (SELECT count(*) FROM recollect.message), (SELECT count(*) FROM recollect.streaming_reply),
                  (SELECT count(*) FROM recollect.attachment),
                  (SELECT coalesce(sum(byte_count), 0)::bigint FROM recollect.attachment)
                """)
            report.userCount = Int(counts.integer(0, 0))
            report.sessionCount = Int(counts.integer(0, 1))
            report.messageCount = Int(counts.integer(0, 2))
            report.streamingReplyCount = Int(counts.integer(0, 3))
            report.attachmentCount = Int(counts.integer(0, 4))
            report.attachmentBytes = Int(counts.integer(0, 5))
        }

        /// Checks that all tables of `PostgresSchema` exist, with their keys and indexes.
        private mutating func checkSchema() async throws {
            let rows = try await transaction.run(
                """
                SELECT c.relname, (SELECT count(*) FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u'))
                FROM pg_class AS c WHERE c.relnamespace = 'recollect'::regnamespace
                """)
            let counts = Dictionary((0..<rows.count).map { (rows.text($0, 0), rows.integer($0, 1)) }) { first, _ in
                first
            }
            for statement in PostgresSchema.migrations.flatMap(\.statements) {
                guard let match = statement.firstMatch(of: /^CREATE (TABLE|INDEX) (?:recollect\.)?(\w+)/) else {
                    continue
                }
                let keys = Int64(statement.matches(of: /PRIMARY KEY|UNIQUE/).count)
                let isPartition = statement.contains(" PARTITION OF ")
                guard let count = counts[String(match.2)], isPartition || match.1 == "INDEX" || count >= keys else {
                    add("schema", "the \(match.1.lowercased()) recollect.\(match.2) is missing, or one of its keys is")
                    continue
                }
            }
        }

        private mutating func add(_ kind: String, _ message: String) {
            report.problems.append(.init(kind: kind, message: message))
        }

        /// Runs the check.
        mutating func run() async throws {
            // Without a table, no other check can run.
            guard report.problems.allSatisfy({ $0.kind != "schema" }) else { return }
            try await count()
            for check in Self.checks {
                let rows = try await transaction.run(check.sql + " LIMIT \(Self.problemCount)")
                for row in 0..<rows.count { add(check.kind, check.message(rows, row)) }
            }
            try await checkMetadata()
            try await checkMessages()
        }

        /// Reads the metadata of all sessions.
        private mutating func checkMetadata() async throws {
            var last: (user: [UInt8], session: Int64) = ([], .min)
            while true {
                let rows = try await transaction.run(
                    """
                    SELECT user_id, session, session_id, metadata FROM recollect.session
                    WHERE (user_id, session) > ($1, $2) AND metadata IS NOT NULL ORDER BY user_id, session LIMIT \(Self.pageSize)
                    """, .bytes(last.user), .integer(last.session))
                for row in 0..<rows.count
                where (try? rows.withBytes(row, 3, JSONValue.parse(object:))) == nil {
                    add(
                        "contentDamaged",
                        "user \(rows.text(row, 0)): the metadata of session \(rows.text(row, 2)) is unreadable")
                }
                guard rows.count == Self.pageSize else { return }
                last = (rows.bytes(rows.count - 1, 0), rows.integer(rows.count - 1, 1))
            }
        }

        /// A query for problems of a kind, and the message of a row: its first columns are the IDs of a user and a session.
        private struct Check {
            let kind: String
            let sql: String
            let text: @Sendable (PostgresResult, Int) -> String

            init(_ kind: String, _ sql: String, _ text: @escaping @Sendable (PostgresResult, Int) -> String) {
                (self.kind, self.sql, self.text) = (kind, sql, text)
            }

            func message(_ rows: PostgresResult, _ row: Int) -> String {
                "user \(rows.text(row, 0)): \(text(rows, row))"
            }
        }

        private static let checks =
            [
                Check(
                    "messageCount",
                    """
                    SELECT s.user_id, s.session_id, s.message_count, count(m.position)
                    FROM recollect.session AS s LEFT JOIN recollect.message AS m USING (user_id, session)
                    GROUP BY s.user_id, s.session, s.session_id, s.message_count HAVING s.message_count <> count(m.position)
                    """
                ) { "session \($0.text($1, 1)) has \($0.integer($1, 3)) messages; its row says \($0.integer($1, 2))" },
                Check(
                    "position",
                    """
                    SELECT s.user_id, s.session_id FROM recollect.session AS s WHERE s.last_position < (
                      SELECT max(m.position) FROM recollect.message AS m WHERE m.user_id = s.user_id AND m.session = s.session)
                    """
                ) { "session \($0.text($1, 1)) has messages above its last position; the next save may fail" },
                Check(
                    "position",
                    """
                    SELECT user_id, session, position FROM recollect.message GROUP BY user_id, session, position HAVING count(*) > 1
                    """
                ) { "session number \($0.integer($1, 1)) has several messages at position \($0.integer($1, 2))" },
                Check(
                    "position",
                    """
                    SELECT s.user_id, s.session_id FROM recollect.session AS s WHERE s.added < (
                      SELECT max(m.number) FROM recollect.message AS m WHERE m.user_id = s.user_id AND m.session = s.session)
                    """
                ) { "session \($0.text($1, 1)) counts fewer messages than were added" },
                Check(
                    "owner",
                    """
                    SELECT s.user_id, s.session_id FROM recollect.session AS s WHERE s.branch_of IS NOT NULL AND NOT EXISTS (
                      SELECT FROM recollect.session AS o WHERE o.user_id = s.user_id AND o.session = s.branch_of)
                    """
                ) { "\($0.text($1, 1)) is a branch of no session" },
                Check(
                    "feed",
                    """
                    SELECT user_id, sequence FROM (
                      SELECT user_id, sequence FROM recollect.message UNION ALL SELECT user_id, sequence FROM recollect.change) AS all_
                    WHERE sequence >= coalesce((
                      SELECT base + (pg_snapshot_xmax(pg_current_snapshot())::text::bigint << 21) FROM recollect.feed), 0)
                    """
                ) {
                    "change \($0.integer($1, 1)) is after the end of the feed: raise recollect.feed.base (see Backups in the guide)"
                },
            ] + owners("message") + owners("scope") + owners("tag") + owners("streaming_reply") + owners("compaction")
            + [
                Check("owner", scopeOwners("message")) {
                    "\($0.integer($1, 2)) messages belong to no agent (session number \($0.integer($1, 1)))"
                },
                Check("owner", scopeOwners("compaction")) {
                    "\($0.integer($1, 2)) compactions belong to no agent (session number \($0.integer($1, 1)))"
                },
                Check(
                    "owner",
                    """
                    SELECT DISTINCT user_id, sha256 FROM recollect.attachment_part AS p WHERE NOT EXISTS (
                      SELECT FROM recollect.attachment AS a WHERE a.user_id = p.user_id AND a.sha256 = p.sha256)
                    """
                ) { "bytes of attachment \($0.text($1, 1)) belong to no attachment" },
                Check(
                    "attachmentMissing",
                    """
                    SELECT DISTINCT user_id, sha256 FROM recollect.attachment_use AS use WHERE NOT EXISTS (
                      SELECT FROM recollect.attachment AS a WHERE a.user_id = use.user_id AND a.sha256 = use.sha256)
                    """
                ) { "attachment \($0.text($1, 1)) of a message is missing" },
                Check(
                    "attachmentDamaged",
                    """
                    SELECT a.user_id, a.sha256 FROM recollect.attachment AS a CROSS JOIN LATERAL (
                      SELECT coalesce(string_agg(p.bytes, ''::bytea ORDER BY p.part), ''::bytea) AS bytes
                      FROM recollect.attachment_part AS p WHERE p.user_id = a.user_id AND p.sha256 = a.sha256) AS whole
                    WHERE length(whole.bytes) <> a.byte_count
                      OR convert_to(encode(sha256(whole.bytes), 'hex'), 'UTF8') <> a.sha256
                    """
                ) { "attachment \($0.text($1, 1)) has other bytes than were saved" },
                Check(
                    "attachmentUse",
                    """
                    SELECT use.user_id, use.sha256 FROM recollect.attachment_use AS use WHERE CASE WHEN use.sequence < 0
                      THEN NOT EXISTS (
                        SELECT FROM recollect.streaming_reply AS r WHERE r.user_id = use.user_id AND r.reply = -use.sequence)
                      ELSE NOT EXISTS (
                        SELECT FROM recollect.message AS m WHERE m.user_id = use.user_id AND m.sequence = use.sequence) END
                    """
                ) { "attachment \($0.text($1, 1)) is kept for a message that does not exist" },
                Check(
                    "attachmentUnused",
                    """
                    SELECT a.user_id, a.sha256 FROM recollect.attachment AS a WHERE NOT EXISTS (
                      SELECT FROM recollect.attachment_use AS use WHERE use.user_id = a.user_id AND use.sha256 = a.sha256)
                    """
                ) { "attachment \($0.text($1, 1)) is not used" },
            ]

        /// Returns the check of a table's rows for missing sessions.
        private static func scopeOwners(_ table: String) -> String {
            """
            SELECT m.user_id, m.session, count(*) FROM recollect.\(table) AS m WHERE NOT EXISTS (
              SELECT FROM recollect.scope AS c WHERE c.user_id = m.user_id AND c.session = m.session AND c.scope = m.scope)
            GROUP BY m.user_id, m.session
            """
        }

        /// Returns the check of a table's rows for missing sessions.
        private static func owners(_ table: String) -> [Check] {
            [
                Check(
                    "owner",
                    """
                    SELECT m.user_id, m.session, count(*) FROM recollect.\(table) AS m WHERE NOT EXISTS (
                      SELECT FROM recollect.session AS s WHERE s.user_id = m.user_id AND s.session = m.session)
                    GROUP BY m.user_id, m.session
                    """
                ) {
                    "\($0.integer($1, 2)) rows in recollect.\(table) belong to no session (number \($0.integer($1, 1)))"
                }
            ]
        }

        /// Reads all messages: whether their content is readable, and the index has their words.
        private mutating func checkMessages() async throws {
            var counts: [String: Int] = [:]
            var last: (sequence: Int64, user: [UInt8]) = (.min, [])
            while true {
                let rows = try await transaction.run(
                    """
                    SELECT user_id, (SELECT session_id FROM recollect.session AS s
                        WHERE s.user_id = message.user_id AND s.session = message.session),
                      \(MessageColumns.selected),
                      ARRAY(SELECT convert_to(term, 'UTF8') FROM unnest(tsvector_to_array(terms)) AS term), sequence,
                      ARRAY(SELECT sha256 FROM recollect.attachment_use AS use
                            WHERE use.user_id = message.user_id AND use.sequence = message.sequence)
                    FROM recollect.message WHERE (sequence, user_id) > ($1, $2) ORDER BY sequence, user_id LIMIT \(Self.pageSize)
                    """, .integer(last.sequence), .bytes(last.user))
                for row in 0..<rows.count {
                    for (kind, problem) in Self.problems(rows, row) {
                        guard counts[kind, default: 0] < Self.problemCount else { continue }
                        counts[kind, default: 0] += 1
                        add(
                            kind,
                            "user \(rows.text(row, 0)): message \(rows.text(row, 2)) in session "
                                + "\(rows.optionalText(row, 1) ?? "?"): \(problem)")
                    }
                }
                guard rows.count == Self.pageSize else { return }
                last = (rows.integer(rows.count - 1, 10), rows.bytes(rows.count - 1, 0))
            }
        }

        /// Returns the problems of a message, by kind.
        private static func problems(_ rows: PostgresResult, _ row: Int) -> [(kind: String, problem: String)] {
            func bytes(_ column: Int) -> [UInt8]? { rows.isNull(row, column) ? nil : rows.bytes(row, column) }
            let content = MessageColumns.Content(
                role: rows.bytes(row, 3), metadata: bytes(5), unknownFields: bytes(6), text: bytes(7), parts: bytes(8))
            let message: ConversationMessage
            do {
                for column in [2, 3, 7] where !rows.isNull(row, column) {
                    guard String(validating: rows.bytes(row, column), as: UTF8.self) != nil else { throw InvalidText() }
                }
                for column in [5, 6] where !rows.isNull(row, column) {
                    _ = try rows.withBytes(row, column, JSONValue.parse(object:))
                }
                if !rows.isNull(row, 8) { _ = try rows.withBytes(row, 8, ContentPart.parse(list:)) }
                guard content.text != nil || content.parts != nil else { throw InvalidText() }
                message = MessageColumns.read(rows, row, from: 2)
            } catch {
                return [("contentDamaged", "its content is unreadable or missing")]
            }
            var problems: [(kind: String, problem: String)] = []
            let terms = SearchTerms.set(of: content, userId: rows.text(row, 0))
            if terms != Set(rows.texts(row, 9).map(\.bytes)) {
                problems.append(("searchTerms", "the search index has other words than the message"))
            }
            let uses = Set(AttachmentRows.uses(by: message, sequence: 0).map(\.sha256))
            if uses != Set(rows.texts(row, 11)) {
                problems.append(
                    ("attachmentUse", "its attachments are not recorded, and may be deleted with other messages"))
            }
            return problems
        }

        private struct InvalidText: Error {}
    }
#endif
