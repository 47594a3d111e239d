import Foundation
import GRDB
import RecollectCore

/// Appends a batch to a scope, inside a write transaction.
struct Appending {
    let messages: [ConversationMessage]
    let scope: Scope
    let options: AppendOptions
    let retention: Retention

    /// What became of the batch, and the ids of messages that the same-role rule dropped.
    struct Result: Sendable {
        var outcome = AppendOutcome()
        var dropped: [String] = []
        /// Attachments that nothing uses any more, because a trim deleted their messages.
        var orphans: [String] = []
    }

    func run(_ db: Database) throws -> Result {
        var result = Result()
        guard let first = messages.first else {
            if let ids = try ScopeRow.find(scope, db) { try trim(ids, &result, db) }
            return result
        }
        let ids = try ScopeRow.findOrMake(scope, createdAt: first.timestamp.millisecondsSince1970, db)
        var sequence = try db.lastSequence()
        var lastRole = options.sameRole == .drop ? try lastRole(in: ids, db) : nil
        var latest = Int64.min
        for message in messages {
            if options.sameRole == .drop, SameRole.repeats(message, after: lastRole) {
                if try isKnown(message.id, in: ids, db) {
                    result.outcome.known += 1
                } else {
                    result.outcome.dropped += 1
                    result.dropped.append(message.id)
                }
                continue
            }
            guard
                try MessageRow.insert(
                    message, sequence: sequence + 1, conversation: ids.conversation, scope: ids.scope, db)
            else {
                result.outcome.known += 1
                continue
            }
            sequence += 1
            result.outcome.added += 1
            lastRole = message.role
            latest = max(latest, message.timestamp.millisecondsSince1970)
            try AttachmentUse.insert(message, sequence: sequence, db)
        }
        if result.outcome.added > 0 {
            try db.run(
                """
                UPDATE conversation SET message_count = message_count + ?, last_activity = max(last_activity, ?)
                WHERE id = ?
                """, result.outcome.added, latest, ids.conversation)
        }
        try trim(ids, &result, db)
        return result
    }

    private func lastRole(in ids: ScopeRow, _ db: Database) throws -> Role? {
        let statement = try db.sql(
            "SELECT role FROM message WHERE scope_id = ? AND position >= ? ORDER BY position DESC LIMIT 1"
        ).bind(ids.scope, ids.windowStart)
        defer { statement.reset() }
        return try statement.step() ? Role(rawValue: statement.text(0)) : nil
    }

    private func isKnown(_ id: String, in ids: ScopeRow, _ db: Database) throws -> Bool {
        try db.integer(
            "SELECT 1 FROM message WHERE conversation_id = ? AND message_id = ?", ids.conversation, id) != nil
    }

    /// Moves the window's start so that it holds no more than the budget; rows go only where the window is all that is kept.
    private func trim(_ ids: ScopeRow, _ result: inout Result, _ db: Database) throws {
        guard let size = MessageWindow.size(for: options.maxMessages) else { return }
        let start: Int64
        if size == 0 {
            guard
                let last = try db.integer(
                    "SELECT position FROM message WHERE scope_id = ? ORDER BY position DESC LIMIT 1", ids.scope)
            else { return }
            start = last + 1
        } else {
            // Counted from the end: a window costs what it holds, whatever lies before it.
            guard
                let first = try db.integer(
                    "SELECT position FROM message WHERE scope_id = ? ORDER BY position DESC LIMIT 1 OFFSET ?",
                    ids.scope, size - 1)
            else { return }
            start = first
        }
        guard start > ids.windowStart else { return }
        try db.run("UPDATE scope SET window_start = ? WHERE id = ?", start, ids.scope)
        if retention == .window {
            result.orphans += try MessageDeletion.deleteTrimmed(scope: ids.scope, before: start, db)
        }
    }
}

/// The numbers of a scope's rows.
struct ScopeRow {
    let conversation: Int64
    let scope: Int64
    let windowStart: Int64

    /// The scope's rows; `nil` if nothing was ever saved in it.
    static func find(_ scope: Scope, _ db: Database) throws -> ScopeRow? {
        guard let (conversation, row) = try lookUp(scope, db), let row else { return nil }
        return ScopeRow(conversation: conversation, scope: row.scope, windowStart: row.windowStart)
    }

    /// The scope's rows, made where they are missing.
    static func findOrMake(_ scope: Scope, createdAt: Int64, _ db: Database) throws -> ScopeRow {
        let found = try lookUp(scope, db)
        if let found, let row = found.row {
            return ScopeRow(conversation: found.conversation, scope: row.scope, windowStart: row.windowStart)
        }
        let conversation = try found?.conversation ?? makeConversation(scope.conversation, createdAt: createdAt, db)
        try db.run(
            "INSERT INTO scope (conversation_id, agent_id, window_start) VALUES (?, ?, 0)", conversation, scope.agentId)
        return ScopeRow(conversation: conversation, scope: db.lastInsertedRowID, windowStart: 0)
    }

    static func makeConversation(_ id: ConversationID, createdAt: Int64, _ db: Database) throws -> Int64 {
        try db.run(
            """
            INSERT INTO conversation (user_id, session_id, created_at, last_activity, message_count)
            VALUES (?, ?, ?, ?, 0)
            """, id.userId, id.sessionId, createdAt, createdAt)
        return db.lastInsertedRowID
    }

    private static func lookUp(
        _ scope: Scope, _ db: Database
    ) throws -> (conversation: Int64, row: (scope: Int64, windowStart: Int64)?)? {
        let statement = try db.sql(
            """
            SELECT conversation.id, scope.id, scope.window_start FROM conversation
            LEFT JOIN scope ON scope.conversation_id = conversation.id AND scope.agent_id = ?
            WHERE conversation.user_id = ? AND conversation.session_id = ?
            """)
        statement.bind(scope.agentId, at: 1)
        statement.bind(scope.userId, at: 2)
        statement.bind(scope.sessionId, at: 3)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let row = statement.isNull(1) ? nil : (scope: statement.integer(1), windowStart: statement.integer(2))
        return (statement.integer(0), row)
    }
}

extension Database {
    /// The number of the last change of the feed: of a message or of any other.
    func lastSequence() throws -> Int64 {
        try integer(
            """
            SELECT max(ifnull((SELECT max(sequence) FROM message), 0), ifnull((SELECT max(sequence) FROM change), 0))
            """) ?? 0
    }
}
