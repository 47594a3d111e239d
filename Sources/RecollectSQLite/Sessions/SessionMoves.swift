import Foundation
import GRDB
import RecollectCore

/// Moves a session to another session ID, inside a write transaction.
enum SessionMoves {
    /// The outcome of a move.
    enum Outcome: Hashable, Sendable {
        /// There is no such session, or the ID stays the same.
        case nothing
        case renamed
        /// There was a session with the new ID. It has the streaming replies with these IDs, and these messages.
        case merged(replies: Set<ByteString>, found: [UUID: SequenceNumber])
    }

    /// Moves a session to another session ID. An existing session with this ID is merged with it.
    /// - Parameter entries: The entries to find the messages of after a merge.
    static func move(
        _ source: SessionKey, to newSessionId: String, finding entries: [UUID] = [], _ db: Database
    ) throws -> Outcome {
        let target = SessionKey(userId: source.userId, sessionId: newSessionId)
        guard source != target, let from = try MessageQueries.number(of: source, db) else { return .nothing }
        try db.removeDeletions(in: source, from)
        var outcome = Outcome.renamed
        if let into = try MessageQueries.number(of: target, db) {
            try DerivedData.update(db)
            var found: [UUID: SequenceNumber] = [:]
            for entry in entries {
                found[entry] = try MessageQueries.sequences(of: entry.uuidString, in: from, db).first
            }
            try merge(from, source, into: into, target, db)
            outcome = .merged(
                replies: Set(try StreamingReplies.all(of: into, db).map { ByteString($0.message.id) }), found: found)
        } else {
            try db.run("UPDATE session SET session_id = ? WHERE id = ?", newSessionId, from)
        }
        // With this change, its messages are not taken for deleted.
        try db.recordChange(.sessionRearranged, source)
        try db.recordChange(.sessionDeleted, source)
        try db.recordChange(.sessionRearranged, target)
        return outcome
    }

    private static func merge(
        _ from: SessionRowID, _ source: SessionKey, into number: SessionRowID, _ target: SessionKey, _ db: Database
    ) throws {
        try StreamingReplies.separate(from, source, from: number, db)
        try Compactions.removeMerged(from, number, db)
        var moving: [SequenceNumber] = []
        var order: [SequenceNumber] = []
        var others = try MessageMoves.sequences(of: number, db)
        for sequence in try MessageMoves.sequences(of: from, db) {
            guard let stored = try MessageQueries.stored(sequence, db) else { continue }
            guard
                let known = try MessageQueries.sequences(
                    of: stored.message.id, in: number, agentId: stored.agentId, db
                ).first
            else {
                moving.append(sequence)
                order.append(sequence)
                continue
            }
            others.removeAll { $0 == known }
            order.append(known)
            // A message with a known ID but other content moves too, under a new ID.
            let copies = try MessageMoves.takingFreeIDs([sequence], of: from, source, in: number, db)
            moving += copies
            order += copies
        }
        order += others
        let left = try Set(MessageMoves.sequences(of: from, db)).subtracting(moving)
        _ = try MessageDeletion.remove(left.sorted(), session: from, db)
        try MessageMoves.keepingWindows(of: number, with: [from], db) {
            try put(order, moving: moving, into: number, db)
        }
        try merge(from, into: number, db)
        try StreamingReplies.move(session: from, to: number, db)
        try Compactions.moveRest(from, to: number, db)
        try db.run("DELETE FROM scope WHERE session_row_id = ?", from)
        try db.run("DELETE FROM session WHERE id = ?", from)
        try DerivedData.recount(number, db)
    }

    /// Moves messages and puts all messages of the session in the given order.
    private static func put(
        _ order: [SequenceNumber], moving: [SequenceNumber], into number: SessionRowID, _ db: Database
    ) throws {
        var last = Position.min
        var isOrdered = true
        for sequence in order {
            let position = try MessageQueries.position(of: sequence, db) ?? .start
            isOrdered = isOrdered && position > last
            last = position
        }
        if !isOrdered { try MessageMoves.putLast(order, db) }
        try MessageMoves.move(moving, to: number, db)
    }

    /// Copies the old session's details missing from the new one, and combines the dates, the read, pin and
    /// archive marks, the tags and the branches. The old session's first message wins. The new session is no
    /// longer discarded.
    private static func merge(_ from: SessionRowID, into number: SessionRowID, _ db: Database) throws {
        let last = "max(session.last_sequence, old.last_sequence)"
        try db.run(
            """
            UPDATE session SET created_at = min(session.created_at, old.created_at),
            last_access = max(session.last_access, old.last_access),
            read_through = min(
              iif(session.last_sequence > session.read_through, session.read_through, \(last)),
              iif(old.last_sequence > old.read_through, old.read_through, \(last))),
            last_sequence = \(last),
            title = ifnull(session.title, old.title),
            first_message = ifnull(old.first_message, session.first_message),
            working_directory = ifnull(session.working_directory, old.working_directory),
            branch_name = ifnull(session.branch_name, old.branch_name),
            is_pinned = max(session.is_pinned, old.is_pinned),
            is_archived = min(session.is_archived, old.is_archived),
            discarded_at = NULL
            FROM session AS old WHERE old.id = ? AND session.id = ?
            """, from, number)
        try SessionEdits.merge(metadataOf: from, into: number, db)
        try db.run("UPDATE OR IGNORE tag SET session_row_id = ? WHERE session_row_id = ?", number, from)
        try db.run("DELETE FROM tag WHERE session_row_id = ?", from)
        // A session moved into its own branch: the branch takes over the session's origin.
        try db.run(
            """
            WITH RECURSIVE origin (id) AS (
              SELECT branch_of FROM session WHERE id = ?1
              UNION SELECT branch_of FROM session JOIN origin USING (id)
            )
            UPDATE session SET (branch_of, branch_after, branch_agent) =
              (SELECT branch_of, branch_after, branch_agent FROM session WHERE id = ?2)
            WHERE id = ?1 AND ?2 IN origin
            """, number, from)
        try db.run("UPDATE session SET branch_of = ? WHERE branch_of = ?", number, from)
    }
}
