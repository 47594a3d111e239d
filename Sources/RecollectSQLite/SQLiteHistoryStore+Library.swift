import Foundation
import RecollectCore

/// Operations for the session library.
extension SQLiteHistoryStore {
    /// Replaces the content of messages: see `HistoryStore`. The old words leave the search index at once. They
    /// leave the file with the next permanent deletion.
    @discardableResult
    public func edit(_ messages: [ConversationMessage], in conversation: ConversationID) async throws -> Int {
        try Task.checkCancellation()
        let kept = try await keepingAttachments(of: messages)
        return try await write(keeping: kept) { messages, db, _ in
            let outcome = try MessageEdits.edit(messages, in: conversation, db)
            return (outcome.known, outcome.orphans)
        }
    }

    /// Moves a session to another session ID: see `HistoryStore`.
    @discardableResult
    public func moveConversation(_ conversation: ConversationID, to newSessionId: String) async throws -> Bool {
        try await write { try ConversationMoves.move(conversation, to: newSessionId, $0) }
    }

    /// Moves a message and all messages after it into a branch: see `HistoryStore`.
    public func branch(
        _ conversation: ConversationID, from messageId: String, agentId: String?
    ) async throws -> ConversationID {
        let now = Date().millisecondsSince1970
        return try await write {
            try Branches.branch(conversation, from: messageId, agentId: agentId, now: now, $0)
        }
    }

    /// Returns the branches of a session: see `HistoryStore`.
    public func branches(of conversation: ConversationID) async throws -> [Conversation] {
        try await readSettled { try ConversationQueries.branches(of: conversation, $0) }
    }

    /// Restores a branch: see `HistoryStore`.
    public func restoreBranch(_ branch: ConversationID, in conversation: ConversationID) async throws {
        let now = Date().millisecondsSince1970
        try await write { try Branches.restore(branch, in: conversation, now: now, $0) }
    }

    /// Removes a session from lists and searches: see `HistoryStore`. With `retention: .window` it is deleted
    /// permanently.
    @discardableResult
    public func discardConversation(_ conversation: ConversationID) async throws -> Bool {
        guard configuration.retention != .window else { return try await deleteConversation(conversation) }
        let now = Date().millisecondsSince1970
        let existed = try await write { try ConversationEdits.discard(conversation, now: now, $0) }
        upkeep.noteSave()
        return existed
    }

    /// Undoes `discardConversation`: see `HistoryStore`.
    @discardableResult
    public func restoreConversation(_ conversation: ConversationID) async throws -> Bool {
        try await write { db in
            guard let number = try MessageQueries.number(of: conversation, db),
                try db.integer("SELECT 1 FROM conversation WHERE id = ? AND discarded_at IS NOT NULL", number) != nil
            else { return false }
            try ConversationEdits.restore(number, db)
            return true
        }
    }
}
