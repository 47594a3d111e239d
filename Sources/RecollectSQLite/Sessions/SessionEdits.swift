import Foundation
import GRDB
import RecollectCore

/// Changes of a session other than appending, inside a write transaction.
enum SessionEdits {
    static func update(
        _ id: SessionKey, with details: SessionDetails, now: Int64, _ db: Database
    ) throws {
        let createdAt = details.createdAt?.millisecondsSince1970 ?? now
        let number =
            try MessageQueries.number(of: id, db) ?? ScopeRow.makeSession(id, createdAt: createdAt, db)
        try db.run(
            """
            UPDATE session SET title = nullif(ifnull(?, title), ''),
            working_directory = ifnull(?, working_directory), branch_name = ifnull(?, branch_name),
            is_pinned = ifnull(?, is_pinned), is_archived = ifnull(?, is_archived),
            last_access = max(last_access, ifnull(?, last_access)) WHERE id = ?
            """, details.title, details.workingDirectory, details.branchName, details.isPinned, details.isArchived,
            details.lastAccessedAt.flatMap(accessDate), number)
        if let isRead = details.isRead { try mark(number, isRead: isRead, db) }
        if let first = details.firstMessage { try set(firstMessage: first, of: number, db) }
        for tag in details.removedTags {
            try db.run("DELETE FROM tag WHERE session_row_id = ? AND tag = ?", number, tag)
        }
        for tag in details.addedTags where !tag.isEmpty {
            try db.run("INSERT OR IGNORE INTO tag (session_row_id, tag) VALUES (?, ?)", number, tag)
        }
        if !details.metadata.isEmpty {
            try merge(details.metadata, into: number, db)
        }
        try db.recordChange(.sessionUpdated, id)
    }

    /// Returns the time of an access in milliseconds, at most `SessionRow.lastAccess`; `nil` for a date that is not a number.
    private static func accessDate(_ date: Date) -> Int64? {
        date.isNotANumber ? nil : min(date.millisecondsSince1970, SessionRow.lastAccess)
    }

    /// Makes a session the last accessed one of its user, independently of the clock.
    static func access(_ id: SessionKey, now: Int64, _ db: Database) throws {
        guard let number = try MessageQueries.number(of: id, db) else { return }
        try db.run(
            """
            UPDATE session SET
            last_access = max(?1, (SELECT max(last_access) FROM session WHERE user_id = ?2) + 1) WHERE id = ?3
            """, now, id.userId, number)
    }

    /// Marks a session as read or unread. A session marked as unread has at least its last message to read.
    private static func mark(_ number: SessionRowID, isRead: Bool, _ db: Database) throws {
        try DerivedData.update(db)
        try db.run(
            "UPDATE session SET read_through = \(isRead ? "last_sequence" : "min(read_through, last_sequence - 1)") WHERE id = ?",
            number)
    }

    /// Sets the first message of a session, if it has neither a first message nor a preview yet.
    private static func set(firstMessage text: String, of number: SessionRowID, _ db: Database) throws {
        try DerivedData.update(db)
        try db.run(
            """
            UPDATE session SET first_message = ? WHERE id = ? AND ifnull(first_message, '') = '' AND preview IS NULL
            """, text, number)
        try Preview.set(number, db)
    }

    /// Discards a session: removes it from lists and search. Returns false if there is no such session.
    static func discard(_ id: SessionKey, now: Int64, _ db: Database) throws -> Bool {
        guard let number = try MessageQueries.number(of: id, db) else { return false }
        try db.run("UPDATE session SET discarded_at = ifnull(discarded_at, ?) WHERE id = ?", now, number)
        try db.recordChange(.sessionUpdated, id)
        return true
    }

    private static func merge(_ members: [String: JSONValue], into number: SessionRowID, _ db: Database) throws {
        var metadata = try metadata(of: number, db)
        metadata.merge(members) { _, new in new }
        metadata = metadata.filter { $0.value != .null }
        let json = metadata.isEmpty ? nil : JSONValue.write(object: metadata)
        try db.run("UPDATE session SET metadata = ? WHERE id = ?", json, number)
    }

    /// Adds the metadata members of another session. Existing members stay as they are.
    static func merge(metadataOf other: SessionRowID, into number: SessionRowID, _ db: Database) throws {
        let others = try metadata(of: other, db).filter { $0.key != "forkedFrom" }
        let own = try metadata(of: number, db)
        try merge(others.filter { own[$0.key] == nil }, into: number, db)
    }

    /// Returns the metadata of a session.
    /// - Throws: `unreadable` for damaged metadata. A later write would replace it.
    private static func metadata(of number: SessionRowID, _ db: Database) throws -> [String: JSONValue] {
        let row = try db.sql("SELECT metadata FROM session WHERE id = ?").bind(number)
        defer { row.reset() }
        guard try row.step(), !row.isNull(0) else { return [:] }
        do {
            return try row.withBytes(0, JSONValue.parse(object:))
        } catch {
            let session = try MessageQueries.id(of: number, db).sessionId
            throw RecollectError(
                .unreadable, "the metadata of session \(session) is damaged; nothing was changed",
                cause: error)
        }
    }

    /// Forks a session: copies its messages up to and including one message into a new session. With an agent ID,
    /// the message is this agent's; otherwise it is the first with this ID.
    static func fork(
        _ source: SessionKey, at messageId: String, agentId: String? = nil, into newSessionId: String,
        _ db: Database
    ) throws {
        try DerivedData.update(db)
        guard
            let number = try MessageQueries.number(of: source, db),
            let last = try MessageQueries.sequences(of: messageId, in: number, agentId: agentId, db).first,
            let end = try MessageQueries.position(of: last, db)
        else {
            throw RecollectError(
                .notFound, "there is no message \(messageId) in session \(source.sessionId) to fork at")
        }
        let target = SessionKey(userId: source.userId, sessionId: newSessionId)
        if let count = try db.integer(
            "SELECT message_count FROM session WHERE user_id = ? AND session_id = ?", target.userId,
            target.sessionId), count > 0
        {
            throw RecollectError(
                .invalidArgument, "session \(newSessionId) already has messages; use a new session for the fork")
        }
        let copy = try MessageQueries.number(of: target, db) ?? ScopeRow.makeSession(target, createdAt: 0, db)
        try copyDetails(from: number, to: copy, origin: source, messageId: messageId, db)
        try StreamingReplies.separate(copy, target, fromCopiesOf: number, db)
        try copyMessages(from: number, to: copy, through: end, db)
        try Compactions.copy(from: number, to: copy, db)
        try Preview.set(copy, db)
        // The copied messages count as read.
        try mark(copy, isRead: true, db)
        try db.recordChange(.sessionUpdated, target)
    }

    /// Copies details to a fork. Details of an existing target stay.
    private static func copyDetails(
        from number: SessionRowID, to copy: SessionRowID, origin: SessionKey, messageId: String, _ db: Database
    ) throws {
        try db.run(
            """
            UPDATE session SET
            created_at = iif(session.created_at = 0, source.created_at, session.created_at),
            last_activity = iif(session.created_at = 0, source.created_at, session.last_activity),
            title = ifnull(session.title, source.title),
            working_directory = ifnull(session.working_directory, source.working_directory),
            branch_name = ifnull(session.branch_name, source.branch_name),
            first_message = ifnull(session.first_message, source.first_message), discarded_at = NULL
            FROM session AS source WHERE source.id = ? AND session.id = ?
            """, number, copy)
        try merge(metadataOf: number, into: copy, db)
        try db.run(
            "INSERT OR IGNORE INTO tag (session_row_id, tag) SELECT ?, tag FROM tag WHERE session_row_id = ?", copy,
            number)
        let fork: JSONValue = ["sessionId": .string(origin.sessionId), "messageId": .string(messageId)]
        try merge(["forkedFrom": fork], into: copy, db)
    }

    private static func copyMessages(
        from number: SessionRowID, to copy: SessionRowID, through end: Position, _ db: Database
    ) throws {
        // A damaged index would copy another user's message.
        _ = try MessageMoves.sequences(of: number, db)
        try db.run(
            """
            INSERT OR IGNORE INTO scope (id, session_row_id, agent_id, window_start)
            SELECT \(Eraser.lastScope) + row_number() OVER (ORDER BY id), ?, agent_id, 0 FROM scope
            WHERE session_row_id = ?
            AND EXISTS (SELECT 1 FROM message WHERE scope_row_id = scope.id AND position <= ?)
            """, copy, number, end)
        let base = try db.lastSequence()
        try db.run(
            """
            INSERT INTO message (sequence, session_row_id, scope_row_id, position, copied_from, checksum, placed_at, \(MessageRow.columns))
            SELECT ?1 + row_number() OVER (ORDER BY position), ?2,
              (SELECT target.id FROM scope AS source JOIN scope AS target ON target.agent_id = source.agent_id
               WHERE source.id = message.scope_row_id AND target.session_row_id = ?2),
              (?1 + row_number() OVER (ORDER BY position)) << 20, ifnull(copied_from, sequence),
              checksum, placed_at, \(MessageRow.columns)
            FROM message WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?3) AND position <= ?4
            """, base, copy, number, end)
        try DerivedData.update(db)
        try db.run(
            """
            INSERT OR IGNORE INTO attachment_use (sha256, sequence)
            SELECT sha256, copied.sequence FROM scope AS target
            JOIN scope AS source ON source.session_row_id = ?1 AND source.agent_id = target.agent_id
            JOIN message_id AS copied ON copied.scope_row_id = target.id
            JOIN message_id AS original ON original.scope_row_id = source.id AND original.message_id = copied.message_id
            JOIN attachment_use ON attachment_use.sequence = original.sequence
            WHERE target.session_row_id = ?2
            """, number, copy)
        // Messages trimmed from an agent's window before the fork stay out of it.
        try db.run(
            """
            UPDATE scope SET window_start = ifnull(
              (SELECT max(copied.position) + 1 FROM scope AS source
               JOIN message ON message.scope_row_id = source.id AND message.position < source.window_start
               JOIN message_id ON message_id.scope_row_id = scope.id AND message_id.message_id = message.message_id
               JOIN message AS copied ON copied.sequence = message_id.sequence
               WHERE source.session_row_id = ?2 AND source.agent_id = scope.agent_id), 0)
            WHERE session_row_id = ?1
            """, copy, number)
    }
}
