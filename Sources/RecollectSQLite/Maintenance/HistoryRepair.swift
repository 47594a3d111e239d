import GRDB
import RecollectCore

/// The steps of a repair that change rows, each in a write transaction.
///
/// After a bit error, a row and an index contradict each other. A third source decides: another index, another row,
/// or the order of the index. Rows are repaired before indexes: an index rebuilt from a damaged row would confirm
/// the damage.
enum HistoryRepair {
    /// Whether an index has entries without rows, or a message is in no index: the table may have an older page.
    ///
    /// New indexes of such a table would confirm the loss, or restore deleted messages. A salvage restores rows
    /// from indexes, and reports losses.
    static func hasLostRows(_ db: Database) throws -> Bool {
        // Each row is looked up by its key in the table, not in an index.
        let entriesWithoutRows = [
            """
            (SELECT user_id, id FROM session INDEXED BY sqlite_autoindex_session_1) AS entry
            WHERE NOT EXISTS (SELECT 1 FROM session AS row NOT INDEXED WHERE row.id = entry.id)
            """,
            """
            (SELECT agent_id, id FROM scope INDEXED BY sqlite_autoindex_scope_1) AS entry
            WHERE NOT EXISTS (SELECT 1 FROM scope AS row NOT INDEXED WHERE row.id = entry.id)
            """,
            """
            (SELECT position, sequence FROM message INDEXED BY message_by_position) AS entry
            WHERE NOT EXISTS (SELECT 1 FROM message AS row NOT INDEXED WHERE row.sequence = entry.sequence)
            """,
            """
            tag AS entry INDEXED BY session_by_tag
            WHERE NOT EXISTS (SELECT 1 FROM tag AS row INDEXED BY sqlite_autoindex_tag_1
              WHERE row.session_row_id = entry.session_row_id AND row.tag = entry.tag)
            """,
            """
            attachment_use AS entry INDEXED BY attachment_use_by_message
            WHERE NOT EXISTS (SELECT 1 FROM attachment_use AS row INDEXED BY sqlite_autoindex_attachment_use_1
              WHERE row.sha256 = entry.sha256 AND row.sequence = entry.sequence)
            """,
        ]
        for entries in entriesWithoutRows where try db.integer("SELECT 1 FROM \(entries) LIMIT 1") != nil {
            return true
        }
        let unknown: [SequenceNumber] = try db.values(
            """
            SELECT sequence FROM message AS row NOT INDEXED WHERE sequence <= \(FeedState.derivedThroughSQL)
            AND NOT EXISTS (SELECT 1 FROM message AS entry INDEXED BY message_by_position
              WHERE entry.scope_row_id = row.scope_row_id AND entry.position = row.position)
            AND NOT EXISTS (SELECT 1 FROM message_id AS entry
              WHERE entry.scope_row_id = row.scope_row_id AND entry.message_id = row.message_id)
            """)
        guard !unknown.isEmpty else { return false }
        // A row with a wrong scope has an entry in another scope.
        let moved = try db.integer(
            """
            SELECT count(DISTINCT sequence) FROM (SELECT position, sequence FROM message INDEXED BY message_by_position)
            WHERE sequence IN (SELECT value FROM json_each(?))
            """, unknown.jsonArray)
        return moved ?? 0 < unknown.count
    }

    /// Restores rows in contradiction to their indexes if a third source agrees with the indexes.
    static func restoreRows(_ db: Database) throws {
        // SQLite refuses to update a row missing from an index. The indexes are rebuilt after these updates.
        try db.run("PRAGMA writable_schema = ON")
        defer { try? db.run("PRAGMA writable_schema = OFF") }  // Cannot fail; a new connection begins without it.
        try restoreSessions(db)
        try restoreScopes(db)
        try restorePositions(db)
    }

    /// Restores a session's user ID and session ID if at least two of its other indexes agree with the unique index
    /// and not with the row.
    private static func restoreSessions(_ db: Database) throws {
        var found: [(id: SessionRowID, user: String, session: String)] = []
        try db.sql(
            """
            SELECT entry.id, entry.user_id, entry.session_id
            FROM session AS entry INDEXED BY sqlite_autoindex_session_1
            JOIN session AS row NOT INDEXED ON row.id = entry.id
            WHERE row.user_id <> entry.user_id OR row.session_id <> entry.session_id
            """
        ).forEachRow { found.append(($0.value(0), $0.text(1), $0.text(2))) }
        for (id, user, session) in found {
            let witnesses = try ["activity", "access", "creation"].count { index in
                try db.integer(
                    """
                    SELECT 1 FROM (SELECT id, user_id, session_id FROM session INDEXED BY session_by_\(index)
                    WHERE user_id = ?2) WHERE id = ?1 AND session_id = ?3
                    """, id, user, session) != nil
            }
            guard witnesses >= 2 else { continue }
            try db.run("UPDATE session SET user_id = ?, session_id = ? WHERE id = ?", user, session, id)
        }
    }

    /// Restores a scope's session and agent if most of its messages name the session of the entry or, in a tie, the
    /// entry is in index order.
    private static func restoreScopes(_ db: Database) throws {
        var found: [(id: ScopeRowID, row: SessionRowID, session: SessionRowID, agent: String)] = []
        try db.sql(
            """
            SELECT entry.id, row.session_row_id, entry.session_row_id, entry.agent_id
            FROM scope AS entry INDEXED BY sqlite_autoindex_scope_1 JOIN scope AS row NOT INDEXED ON row.id = entry.id
            WHERE row.session_row_id <> entry.session_row_id OR row.agent_id <> entry.agent_id
            """
        ).forEachRow { found.append(($0.value(0), $0.value(1), $0.value(2), $0.text(3))) }
        for (id, row, session, agent) in found {
            let votes = try db.integer(
                """
                SELECT total(session_row_id = ?1) - total(session_row_id = ?2) FROM message NOT INDEXED WHERE scope_row_id = ?3
                """, session, row, id)
            let isInOrder = try db.integer(
                """
                SELECT 1 FROM scope INDEXED BY sqlite_autoindex_scope_1
                WHERE session_row_id = ? AND agent_id = ? AND id = ?
                """, session, agent, id)
            guard votes ?? 0 > 0 || votes == 0 && isInOrder != nil else { continue }
            try db.run("UPDATE scope SET session_row_id = ?, agent_id = ? WHERE id = ?", session, agent, id)
        }
    }

    /// Restores a message's scope and position. The index of IDs confirms the scope, and the sequence number
    /// confirms the position. Otherwise the entry must be in index order.
    private static func restorePositions(_ db: Database) throws {
        typealias Location = (scope: ScopeRowID, position: Position)
        var found: [(sequence: SequenceNumber, row: Location, entry: Location)] = []
        try db.sql(
            """
            SELECT entry.sequence, row.scope_row_id, row.position, entry.scope_row_id, entry.position
            FROM message AS entry INDEXED BY message_by_position JOIN message AS row NOT INDEXED ON row.sequence = entry.sequence
            WHERE row.scope_row_id <> entry.scope_row_id OR row.position <> entry.position
            """
        ).forEachRow { row in
            found.append((row.value(0), (row.value(1), row.value(2)), (row.value(3), row.value(4))))
        }
        for (sequence, row, entry) in found {
            let isInOrder =
                try db.integer(
                    "SELECT 1 FROM message INDEXED BY message_by_position WHERE scope_row_id = ? AND position = ? AND sequence = ?",
                    entry.scope, entry.position, sequence) != nil
            func isNamed(in scope: ScopeRowID) throws -> Bool {
                try db.integer(
                    """
                    SELECT 1 FROM message_id WHERE scope_row_id = ?1 AND sequence = ?2
                    AND message_id = (SELECT message_id FROM message WHERE sequence = ?2)
                    """, scope, sequence) != nil
            }
            let appended = Position.appended(sequence)
            let isEntryRight =
                row.scope != entry.scope
                ? try isNamed(in: entry.scope) || isInOrder && !isNamed(in: row.scope)
                : entry.position == appended || isInOrder && row.position != appended
            guard isEntryRight else { continue }
            try db.run(
                "UPDATE message SET scope_row_id = ?, position = ? WHERE sequence = ?", entry.scope, entry.position,
                sequence)
        }
    }

    /// Restores the IDs of messages from entries of the index of IDs. An entry must be in index order.
    static func restoreIDs(_ db: Database) throws {
        var found: [(sequence: SequenceNumber, scope: ScopeRowID, id: String)] = []
        try db.sql(
            """
            SELECT message_id.sequence, message_id.scope_row_id, message_id.message_id
            FROM message_id CROSS JOIN message ON message.sequence = message_id.sequence
            WHERE message.scope_row_id = message_id.scope_row_id AND message.message_id <> message_id.message_id
            """
        ).forEachRow { found.append(($0.value(0), $0.value(1), $0.text(2))) }
        for (sequence, scope, id) in found {
            let isInOrder = try db.integer(
                "SELECT 1 FROM message_id WHERE scope_row_id = ? AND message_id = ? AND sequence = ?", scope, id,
                sequence)
            guard isInOrder != nil else { continue }
            try db.run("UPDATE message SET message_id = ? WHERE sequence = ?", id, sequence)
        }
    }

    /// Restores the sessions of messages from their scopes, resets lost windows, and schedules leftovers of deleted
    /// sessions for erasure.
    static func restoreOwners(_ db: Database) throws {
        try db.run(
            """
            UPDATE message SET session_row_id = (SELECT session_row_id FROM scope WHERE scope.id = message.scope_row_id)
            WHERE sequence IN (SELECT sequence \(HistoryCheck.strays))
            """)
        try db.run("UPDATE scope SET window_start = 0 WHERE \(HistoryCheck.lostWindows)")
        try db.run("DELETE FROM \(HistoryCheck.lostCompactions)")
        let orphans: [SessionRowID] = try db.values("SELECT DISTINCT session_row_id \(HistoryCheck.orphans)")
        for session in orphans { try Eraser.note(.session, number: session.rawValue, db) }
        if !orphans.isEmpty { try Eraser.noteRemoval(db) }
    }

    /// Gives new IDs to later messages with the ID of another message in their scope. Requires up-to-date derived
    /// data.
    static func separateIDs(_ db: Database) throws {
        let others: [SequenceNumber] = try db.values(
            """
            SELECT sequence FROM message WHERE NOT EXISTS (
              SELECT 1 FROM message_id AS own WHERE own.scope_row_id = message.scope_row_id AND own.message_id = message.message_id
              AND own.sequence = message.sequence)
            """)
        for sequence in others {
            guard let id = try db.optionalText("SELECT message_id FROM message WHERE sequence = ?", sequence) else {
                continue
            }
            let free = ConversationMessage.copyId(of: id, from: "\(sequence)")
            try db.run("UPDATE message SET message_id = ? WHERE sequence = ?", free, sequence)
        }
        if !others.isEmpty { try DerivedData.rebuild(db) }
    }
}
