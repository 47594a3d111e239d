#if Postgres
    import Foundation
    import RecollectCore

    /// Checks all rows of a history, on one state of the database.
    struct PostgresCheck {
        private let transaction: PostgresTransaction
        private(set) var report: PostgresReport

        /// The maximum number of problems of a kind in a report.
        private static let problemCount = 100
        /// The number of messages read at once.
        private static let pageSize = 200

        /// Creates a check, and reads the facts of the report.
        init(server: String, in transaction: PostgresTransaction) async throws {
            self.transaction = transaction
            let facts = try await transaction.run(
                """
                SELECT current_setting('server_version'), (SELECT max(version) FROM recollect.migration),
                  (SELECT count(DISTINCT user_id) FROM recollect.session), (SELECT count(*) FROM recollect.session),
                  (SELECT count(*) FROM recollect.message), (SELECT count(*) FROM recollect.streaming_reply),
                  (SELECT count(*) FROM recollect.attachment),
                  (SELECT coalesce(sum(byte_count), 0)::bigint FROM recollect.attachment),
                  pg_database_size(current_database()), current_setting('fsync'), current_setting('full_page_writes'),
                  current_setting('synchronous_commit')
                """)
            report = PostgresReport(
                server: server, serverVersion: String(facts.text(0, 0).prefix { $0 != " " }),
                schemaVersion: Int(facts.integer(0, 1)), userCount: Int(facts.integer(0, 2)),
                sessionCount: Int(facts.integer(0, 3)), messageCount: Int(facts.integer(0, 4)),
                streamingReplyCount: Int(facts.integer(0, 5)), attachmentCount: Int(facts.integer(0, 6)),
                attachmentBytes: Int(facts.integer(0, 7)), databaseBytes: Int(facts.integer(0, 8)))
            for (number, name) in ["fsync", "full_page_writes", "synchronous_commit"].enumerated()
            where facts.text(0, 9 + number) == "off" {
                let loss = name == "synchronous_commit" ? "lose the newest saves" : "damage the database"
                add("durability", "\(name) is off: a crash of the server can \(loss); set it to on")
            }
        }

        private mutating func add(_ kind: String, _ message: String) {
            report.problems.append(.init(kind: kind, message: message))
        }

        /// Runs the check.
        mutating func run() async throws {
            for check in Self.checks {
                let rows = try await transaction.run(check.sql + " LIMIT \(Self.problemCount)")
                for row in 0..<rows.count { add(check.kind, check.message(rows, row)) }
            }
            try await checkMessages()
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
            ] + owners("message", "m.scope") + owners("scope", "m.agent_id") + owners("tag", "m.tag") + [
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
        private static func owners(_ table: String, _ column: String) -> [Check] {
            [
                Check(
                    "owner",
                    """
                    SELECT m.user_id, m.session, count(\(column)) FROM recollect.\(table) AS m WHERE NOT EXISTS (
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
                      message_id, role, metadata, unknown_fields, text, parts,
                      ARRAY(SELECT convert_to(term, 'UTF8') FROM unnest(tsvector_to_array(terms)) AS term), sequence
                    FROM recollect.message WHERE (sequence, user_id) > ($1, $2) ORDER BY sequence, user_id LIMIT \(Self.pageSize)
                    """, .integer(last.sequence), .bytes(last.user))
                for row in 0..<rows.count {
                    let (damaged, unindexed) = Self.problems(rows, row)
                    for (kind, problem) in [("contentDamaged", damaged), ("searchTerms", unindexed)] {
                        guard let problem, counts[kind, default: 0] < Self.problemCount else { continue }
                        counts[kind, default: 0] += 1
                        add(
                            kind,
                            "user \(rows.text(row, 0)): message \(rows.text(row, 2)) in session "
                                + "\(rows.optionalText(row, 1) ?? "?"): \(problem)")
                    }
                }
                guard rows.count == Self.pageSize else { return }
                last = (rows.integer(rows.count - 1, 9), rows.bytes(rows.count - 1, 0))
            }
        }

        private static func problems(_ rows: PostgresResult, _ row: Int) -> (damaged: String?, unindexed: String?) {
            func bytes(_ column: Int) -> [UInt8]? { rows.isNull(row, column) ? nil : rows.bytes(row, column) }
            let content = MessageColumns.Content(
                role: rows.bytes(row, 3), metadata: bytes(4), unknownFields: bytes(5), text: bytes(6), parts: bytes(7))
            do {
                for column in [4, 5] where !rows.isNull(row, column) {
                    _ = try rows.withBytes(row, column, JSONValue.parse(object:))
                }
                if !rows.isNull(row, 7) { _ = try rows.withBytes(row, 7, ContentPart.parse(list:)) }
            } catch {
                return ("its content is unreadable", nil)
            }
            if content.text == nil, content.parts == nil { return ("its content is missing", nil) }
            let expected = SearchTerms.set(of: content, userId: rows.text(row, 0))
            let found = Set(rows.texts(row, 8).map(\.bytes))
            return (nil, expected == found ? nil : "the search index has other words than the message")
        }
    }
#endif
