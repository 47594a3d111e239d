import GRDB
import RecollectCore

/// Finds a word in the rows of a database, a thousand at a time: each read is a snapshot, and the log waits for
/// snapshots.
struct LiveWords: Sendable {
    let pattern: WordPattern
    let file: String

    /// The result for a page of rows.
    struct Found: Sendable {
        var traces: [WordTrace] = []
        /// The cursor of the next page, or `nil` at the end.
        var next: Int64?
    }

    private static let pageSize = 1000

    func messages(after sequence: Int64, _ db: Database) throws -> Found {
        try found(
            """
            SELECT sequence, user_id, session_id, message_id, agent_id, text, parts, message.metadata, unknown_fields, role
            FROM message LEFT JOIN session ON session.id = message.session_row_id
            LEFT JOIN scope ON scope.id = scope_row_id WHERE sequence > ? ORDER BY sequence LIMIT ?
            """, sequence, .message, columns: 3..<10, db)
    }

    func streamingReplies(after number: Int64, _ db: Database) throws -> Found {
        try found(
            """
            SELECT streaming_reply.id, user_id, session_id, message_id, agent_id, text, parts, streaming_reply.metadata, unknown_fields
            FROM streaming_reply LEFT JOIN session ON session.id = session_row_id
            WHERE streaming_reply.id > ? ORDER BY streaming_reply.id LIMIT ?
            """, number, .message, columns: 3..<9, db)
    }

    func compactions(after number: Int64, _ db: Database) throws -> Found {
        try found(
            """
            SELECT compaction.id, user_id, session_id, message_id, agent_id, compaction_id, author, summary, previous_id
            FROM compaction LEFT JOIN scope ON scope.id = scope_row_id LEFT JOIN session ON session.id = session_row_id
            WHERE compaction.id > ? ORDER BY compaction.id LIMIT ?
            """, number, .compaction, columns: 3..<9, db)
    }

    func sessions(after number: Int64, _ db: Database) throws -> Found {
        try found(
            """
            SELECT id, user_id, session_id, NULL, title, working_directory, branch_name, metadata, first_message, preview,
              (SELECT group_concat(tag, char(10)) FROM tag WHERE session_row_id = session.id), branch_after
            FROM session WHERE id > ? ORDER BY id LIMIT ?
            """, number, .session, columns: 1..<12, db)
    }

    func changes(after sequence: Int64, _ db: Database) throws -> Found {
        try found(
            """
            SELECT sequence, user_id, session_id, message_id, agent_id FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?
            """, sequence, .record, columns: 1..<5, db)
    }

    private func found(
        _ sql: String, _ first: Int64, _ kind: WordTrace.Kind, columns: Range<Int32>, _ db: Database
    ) throws -> Found {
        var found = Found()
        var count = 0
        try db.sql(sql).bind(first, Self.pageSize).forEachRow { row in
            count += 1
            found.next = row.integer(0)
            let positions = columns.reduce(0) { sum, column in
                sum + row.withBytes(column) { pattern.positions(in: $0).count }
            }
            guard positions > 0 else { return }
            // Rows without a session belong to a deleted one.
            found.traces.append(
                WordTrace(
                    kind: kind, file: file, count: positions, isLive: !row.isNull(1), userId: row.optionalText(1),
                    sessionId: row.optionalText(2), messageId: row.optionalText(3)))
        }
        if count < Self.pageSize { found.next = nil }
        return found
    }
}
