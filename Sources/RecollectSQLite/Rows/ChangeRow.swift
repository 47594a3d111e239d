import GRDB
import RecollectCore

/// Writes rows of `change`, the changes of the feed that are not new messages.
extension Database {
    /// Appends a change of a session or a user to the feed. It replaces the last change of the same kind and subject: a reader
    /// that is behind gets one notice and reads the present state.
    func recordChange(_ kind: HistoryChange.Kind, _ session: SessionKey, after last: SequenceNumber? = nil) throws {
        let number = try max(last ?? .zero, lastSequence()).next
        try run(
            "DELETE FROM change WHERE user_id = ? AND session_id = ? AND message_id IS NULL AND kind = ?",
            session.userId, session.sessionId, kind.rawValue)
        try run(
            "INSERT INTO change (sequence, kind, user_id, session_id) VALUES (?, ?, ?, ?)", number, kind.rawValue,
            session.userId, session.sessionId)
    }

    /// Appends an edit or a deletion of a message to the feed, before its row is deleted. An edit replaces the last one of the
    /// agent's messages with this ID. A deletion replaces none: each message is deleted once.
    func recordChange(_ kind: HistoryChange.Kind, of message: SequenceNumber, in session: SessionKey) throws {
        let row = try sql(
            "SELECT message_id, agent_id FROM message JOIN scope ON scope.id = scope_row_id WHERE sequence = ?"
        ).bind(message)
        defer { row.reset() }
        guard try row.step() else { throw DatabaseError.damagedIndex }
        let (id, agent, number) = try (row.text(0), row.text(1), lastSequence().next)
        if kind == .messageEdited {
            try run(
                "DELETE FROM change WHERE user_id = ? AND session_id = ? AND message_id = ? AND kind = ? AND agent_id = ?",
                session.userId, session.sessionId, id, kind.rawValue, agent)
        }
        try run(
            """
            INSERT INTO change (sequence, kind, user_id, session_id, agent_id, message_id, message_sequence)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, number, kind.rawValue, session.userId, session.sessionId, agent, id, message)
    }
}
