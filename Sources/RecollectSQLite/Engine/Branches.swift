import Foundation
import GRDB
import RecollectCore

/// Takes what follows a place out of a conversation and keeps it, inside a write transaction.
enum Branches {
    /// Moves the messages from one on into a branch of their own.
    static func branch(
        _ conversation: ConversationID, from messageId: String, now: Int64, _ db: Database
    ) throws -> ConversationID {
        try Settling.settle(db)
        guard let number = try MessageQueries.number(of: conversation, db),
            let sequence = try MessageQueries.sequence(of: messageId, in: number, db)
        else {
            throw RecollectError(
                .notFound, "there is no message \(messageId) in session \(conversation.sessionId) to branch at")
        }
        let position = try db.integer("SELECT position FROM message WHERE sequence = ?", sequence) ?? 0
        let branch = try cut(conversation, number, from: position, now: now, db)
        try db.recordChange(.conversationRearranged, conversation)
        return branch
    }

    /// Exchanges what a conversation has said since a branch left it for the branch.
    static func restore(
        _ branch: ConversationID, in conversation: ConversationID, now: Int64, _ db: Database
    ) throws {
        try Settling.settle(db)
        guard let number = try MessageQueries.number(of: conversation, db),
            let source = try db.integer(
                "SELECT id FROM conversation WHERE user_id = ? AND session_id = ? AND branch_of = ?", branch.userId,
                branch.sessionId, number)
        else {
            throw RecollectError(
                .notFound, "session \(conversation.sessionId) has no branch \(branch.sessionId)")
        }
        let place = try place(ofBranch: source, in: number, conversation, db)
        if try !MessageMoves.sequences(of: number, from: place, db).isEmpty {
            _ = try cut(conversation, number, from: place, now: now, db)
        }
        let all = try MessageMoves.sequences(of: source, db)
        let messages = try MessageMoves.takingFreeIDs(all, of: source, branch, in: number, db)
        _ = try MessageDeletion.remove(Set(all).subtracting(messages).sorted(), conversation: source, db)
        let first = try messages.first.flatMap { try db.integer("SELECT position FROM message WHERE sequence = ?", $0) }
        if let first, first < place { try MessageMoves.putLast(messages, db) }
        try MessageMoves.move(messages, to: number, db)
        try db.run("UPDATE conversation SET branch_of = ? WHERE branch_of = ?", number, source)
        try Drafts.move(conversation: source, to: number, db)
        try MessageDeletion.deleteEmpty(source, db)
        try Settling.recount(number, db)
        try db.recordChange(.conversationRearranged, conversation)
    }

    /// The position from which on the conversation differs from a branch.
    private static func place(
        ofBranch branch: Int64, in number: Int64, _ conversation: ConversationID, _ db: Database
    ) throws -> Int64 {
        guard let after = try db.optionalText("SELECT branch_after FROM conversation WHERE id = ?", branch) else {
            return .min
        }
        guard let sequence = try MessageQueries.sequence(of: after, in: number, db),
            let position = try db.integer("SELECT position FROM message WHERE sequence = ?", sequence)
        else {
            guard
                try db.integer(
                    """
                    SELECT 1 FROM conversation JOIN message_id ON conversation_id = conversation.id
                    WHERE branch_of = ? AND message_id = ?
                    """, number, after) == nil
            else {
                throw RecollectError(
                    .notFound,
                    "session \(conversation.sessionId) no longer holds message \(after), after which the branch left it; "
                        + "restore the branch that holds that message first")
            }
            // It was deleted. What was said since the branch left stands behind the branch's first message.
            return try MessageMoves.sequences(of: branch, db).first.flatMap {
                try db.integer("SELECT position FROM message WHERE sequence = ?", $0)
            } ?? .max
        }
        return position + 1
    }

    private static func cut(
        _ conversation: ConversationID, _ number: Int64, from position: Int64, now: Int64, _ db: Database
    ) throws -> ConversationID {
        let after = try db.optionalText(
            """
            SELECT message_id FROM message
            WHERE scope_id IN (SELECT id FROM scope WHERE conversation_id = ?) AND position < ?
            ORDER BY position DESC LIMIT 1
            """, number, position)
        let id = ConversationID(userId: conversation.userId, sessionId: UUID().uuidString)
        let branch = try ScopeRow.makeConversation(id, createdAt: now, db)
        try db.run(
            """
            UPDATE conversation SET branch_of = ?1, branch_after = ?2,
            read_through = (SELECT read_through FROM conversation WHERE id = ?1) WHERE id = ?3
            """, number, after, branch)
        try MessageMoves.move(try MessageMoves.sequences(of: number, from: position, db), to: branch, db)
        try Settling.recount(branch, db)
        try Settling.recount(number, db)
        return id
    }
}
