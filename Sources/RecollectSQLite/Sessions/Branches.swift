import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

/// Moves the messages from a position on into a branch, and back, inside a write transaction.
enum Branches {
    /// A new branch, and the messages moved into it.
    struct Cut {
        let branch: SessionKey
        let moved: [SequenceNumber]
    }

    /// Moves a message and all later ones into a new branch. With an agent ID, the message is this agent's;
    /// otherwise it is the first with this ID.
    static func branch(
        _ session: SessionKey, from messageId: String, agentId: String? = nil, now: Int64, _ db: Database
    ) throws -> Cut {
        try DerivedData.update(db)
        guard let number = try MessageQueries.number(of: session, db),
            let sequence = try MessageQueries.sequences(of: messageId, in: number, agentId: agentId, db).first,
            let position = try MessageQueries.position(of: sequence, db)
        else {
            throw RecollectError(
                .notFound, "there is no message \(messageId) in session \(session.sessionId) to branch at")
        }
        let branch = try cut(session, number, from: position, now: now, db)
        try db.recordChange(.sessionRearranged, session)
        return branch
    }

    /// Restores a branch. The messages saved in the session since the branch was created become a branch themselves.
    /// - Returns: The moved messages.
    static func restore(
        _ branch: SessionKey, in session: SessionKey, now: Int64, _ db: Database
    ) throws -> BranchChange {
        try DerivedData.update(db)
        guard let number = try MessageQueries.number(of: session, db),
            let source: SessionRowID = try db.value(
                "SELECT id FROM session WHERE user_id = ? AND session_id = ? AND branch_of = ?", branch.userId,
                branch.sessionId, number)
        else {
            throw RecollectError(
                .notFound, "session \(session.sessionId) has no branch \(branch.sessionId)")
        }
        let position = try position(ofBranch: source, in: number, session, db)
        let isChanged = try !MessageMoves.sequences(of: number, from: position, db).isEmpty
        let replaced = isChanged ? try cut(session, number, from: position, now: now, db).moved : []
        try StreamingReplies.separate(source, branch, from: number, db)
        let all = try MessageMoves.sequences(of: source, db)
        let messages = try MessageMoves.takingFreeIDs(all, of: source, branch, in: number, db)
        _ = try MessageDeletion.remove(Set(all).subtracting(messages).sorted(), session: source, db)
        let first = try messages.first.flatMap { try MessageQueries.position(of: $0, db) }
        if let first, first < position { try MessageMoves.putLast(messages, db) }
        try MessageMoves.move(messages, to: number, db)
        try db.run("UPDATE session SET branch_of = ? WHERE branch_of = ?", number, source)
        try StreamingReplies.move(session: source, to: number, db)
        try MessageDeletion.deleteEmpty(source, db)
        try DerivedData.recount(number, db)
        try db.recordChange(.sessionRearranged, session)
        return BranchChange(moved: Set(replaced), restored: Set(messages))
    }

    /// Returns the position from which the session differs from a branch.
    /// - Throws: `notFound` if the message before this position is now in another branch.
    private static func position(
        ofBranch branch: SessionRowID, in number: SessionRowID, _ session: SessionKey, _ db: Database
    ) throws -> Position {
        guard let after = try db.optionalText("SELECT branch_after FROM session WHERE id = ?", branch) else {
            return .min
        }
        let agent = try db.optionalText("SELECT branch_agent FROM session WHERE id = ?", branch)
        guard let position = try position(of: after, agent, in: number, db) else {
            let branches: [SessionRowID] = try db.values(
                "SELECT id FROM session WHERE branch_of = ? AND id <> ?", number, branch)
            guard try branches.allSatisfy({ try position(of: after, agent, in: $0, db) == nil }) else {
                throw RecollectError(
                    .notFound,
                    "session \(session.sessionId) no longer contains message \(after), where the branch begins; "
                        + "restore the branch that contains that message first")
            }
            // The message was deleted. Messages saved since the branch was created come after the branch's first
            // message, unless they are earlier ones of other agents.
            return try MessageMoves.sequences(of: branch, db).first.flatMap { try MessageQueries.position(of: $0, db) }
                ?? .max
        }
        return position + 1
    }

    /// Returns the position of the message before a branch, looked up under its agent. Without a known agent, or
    /// for a message without an agent and possibly adopted since, the message of any agent counts.
    private static func position(
        of messageId: String, _ agentId: String?, in number: SessionRowID, _ db: Database
    ) throws -> Position? {
        var sequence = try MessageQueries.sequences(of: messageId, in: number, agentId: agentId, db).first
        if sequence == nil, agentId == "" {
            sequence = try MessageQueries.sequences(of: messageId, in: number, db).first
        }
        return try sequence.flatMap { try MessageQueries.position(of: $0, db) }
    }

    private static func cut(
        _ session: SessionKey, _ number: SessionRowID, from position: Position, now: Int64, _ db: Database
    ) throws -> Cut {
        let last: SequenceNumber? = try db.value(
            """
            SELECT sequence FROM message
            WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?) AND position < ?
            ORDER BY position DESC LIMIT 1
            """, number, position)
        let after = try last.flatMap { try MessageQueries.stored($0, db) }
        let id = SessionKey(userId: session.userId, sessionId: UUID.random().uuidString)
        let branch = try ScopeRow.makeSession(id, createdAt: now, db)
        try db.run(
            """
            UPDATE session SET branch_of = ?1, branch_after = ?2, branch_agent = ?3,
            read_through = (SELECT read_through FROM session WHERE id = ?1) WHERE id = ?4
            """, number, after?.message.id, after?.agentId, branch)
        let moved = try MessageMoves.sequences(of: number, from: position, db)
        try db.removeDeletions(of: moved)
        try MessageMoves.move(moved, to: branch, db)
        // Streaming replies follow all messages. Another agent's replies answer earlier questions.
        try StreamingReplies.move(session: number, to: branch, ofItsAgents: true, db)
        try DerivedData.recount(branch, db)
        try DerivedData.recount(number, db)
        return Cut(branch: id, moved: moved)
    }
}
