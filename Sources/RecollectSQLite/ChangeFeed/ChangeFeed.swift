import Foundation
import GRDB
import RecollectCore

/// The change feed: messages under their own numbers, all other changes as rows of `change` with numbers of the
/// same sequence.
enum ChangeFeed {
    static func page(after cursor: ChangeCursor, limit: Int, _ db: Database) throws -> [HistoryChange] {
        var changes: [HistoryChange] = []
        try db.sql(
            """
            SELECT sequence, user_id, session_id, agent_id, message_id, sequence FROM message
            JOIN session ON session.id = message.session_row_id JOIN scope ON scope.id = message.scope_row_id
            WHERE sequence > ? ORDER BY sequence LIMIT ?
            """
        ).bind(cursor.sequence, max(1, limit)).forEachRow { changes.append(change(of: .messageAdded, $0)) }
        let messages = changes.count
        try db.sql(
            """
            SELECT sequence, user_id, session_id, agent_id, message_id, message_sequence, kind FROM change
            WHERE sequence > ? AND kind <> '\(Database.placeholder)' ORDER BY sequence LIMIT ?
            """
        ).bind(cursor.sequence, max(1, limit)).forEachRow {
            changes.append(change(of: HistoryChange.Kind(rawValue: $0.text(6)), $0))
        }
        if messages > 0, messages < changes.count {
            changes.sort { $0.cursor < $1.cursor }
        }
        return Array(changes.prefix(max(1, limit)))
    }

    private static func change(of kind: HistoryChange.Kind, _ row: SQL) -> HistoryChange {
        HistoryChange(
            cursor: ChangeCursor(sequence: row.integer(0)), kind: kind,
            session: SessionKey(userId: row.text(1), sessionId: row.text(2)),
            agentId: row.optionalText(3), messageId: row.optionalText(4),
            additionCursor: row.optionalInteger(5).map(ChangeCursor.init(sequence:)))
    }
}

extension Database {
    /// The kind of a row used only to reserve the feed's last number.
    fileprivate static let placeholder = "none"

    /// Records the deletion of a session, and removes its earlier changes from the feed. A last `sessionRearranged` stays:
    /// some missing messages were not deleted with the session.
    func recordDeletion(of session: SessionKey) throws {
        // The number of the last change may be that of a deleted row. The next number must still be larger.
        let last = try lastSequence()
        try run(
            "DELETE FROM change WHERE user_id = ? AND session_id = ? AND kind <> ?", session.userId, session.sessionId,
            HistoryChange.Kind.sessionRearranged.rawValue)
        try recordChange(.sessionDeleted, session, after: last)
    }

    /// Records the deletion of a user, and removes their earlier changes from the feed. A last `sessionRearranged` stays,
    /// without the session's ID: some missing messages were not deleted with the user.
    func recordDeletion(ofUser userId: String) throws {
        let last = try lastSequence()
        let rearranged: SequenceNumber? = try value(
            "SELECT max(sequence) FROM change WHERE user_id = ? AND kind = ?", userId,
            HistoryChange.Kind.sessionRearranged.rawValue)
        try run("DELETE FROM change WHERE user_id = ? AND sequence IS NOT ?", userId, rearranged)
        try run("UPDATE change SET session_id = '' WHERE sequence = ?", rearranged)
        try recordChange(.userDeleted, SessionKey(userId: userId, sessionId: ""), after: last)
    }

    /// Removes the deletions of messages added again to a session, before it gets another ID.
    func removeDeletions(in session: SessionKey, _ number: SessionRowID) throws {
        var ids: [String] = []
        try sql("SELECT DISTINCT message_id FROM change WHERE user_id = ? AND session_id = ? AND kind = ?")
            .bind(session.userId, session.sessionId, HistoryChange.Kind.messageDeleted.rawValue)
            .forEachRow { ids.append($0.text(0)) }
        if !ids.isEmpty { try DerivedData.update(self) }
        try removeDeletions(of: ids.flatMap { try MessageQueries.sequences(of: $0, in: number, self) })
    }

    /// Removes the deletions of earlier messages with the IDs of present ones, before these leave their session in another way:
    /// they were added again. A message without an agent may have been assigned to one since.
    func removeDeletions(of sequences: [SequenceNumber]) throws {
        for sequence in sequences {
            try run(
                """
                DELETE FROM change WHERE sequence IN (
                  SELECT change.sequence FROM message JOIN scope ON scope.id = message.scope_row_id
                  JOIN session ON session.id = message.session_row_id
                  JOIN change ON change.user_id = session.user_id AND change.session_id = session.session_id
                  AND change.message_id = message.message_id AND change.kind = ?
                  AND (change.agent_id = scope.agent_id OR '' IN (change.agent_id, scope.agent_id))
                  AND ifnull(change.message_sequence, change.sequence) < message.sequence
                  WHERE message.sequence = ?)
                """, HistoryChange.Kind.messageDeleted.rawValue, sequence)
        }
    }

    /// Reserves the feed's last number before messages are deleted, if it is the number of one of them. Used
    /// again, it would be skipped by a reader with its cursor there.
    func storeFeedNumber(_ sequences: [SequenceNumber]) throws {
        let last = try lastSequence()
        guard sequences.contains(last) else { return }
        try reserveFeedNumbers(through: last.next)
    }

    /// Reserves the feed's numbers up to and including `last`. The next change gets a higher one.
    func reserveFeedNumbers(through last: SequenceNumber) throws {
        try run("DELETE FROM change WHERE user_id = '' AND session_id = '' AND kind = '\(Self.placeholder)'")
        try run(
            "INSERT INTO change (sequence, kind, user_id, session_id) VALUES (?, ?, '', '')", last, Self.placeholder)
    }
}
