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
        var sequence = ids.lastSequence
        var lastRole = ids.lastRole
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

/// What an append has to know of a scope before it begins, read in one statement.
struct ScopeRow {
    let conversation: Int64
    let scope: Int64
    let windowStart: Int64
    /// The role of the last message in the window.
    let lastRole: Role?
    /// The number of the last change of the feed.
    let lastSequence: Int64

    /// The scope's row; `nil` if nothing was ever saved in it.
    static func find(_ scope: Scope, _ db: Database) throws -> ScopeRow? {
        if case .scope(let row) = try lookUp(scope, db) { return row }
        return nil
    }

    /// The scope's row, made where it is missing.
    static func findOrMake(_ scope: Scope, createdAt: Int64, _ db: Database) throws -> ScopeRow {
        let conversation: Int64
        switch try lookUp(scope, db) {
        case .scope(let row): return row
        case .conversation(let number): conversation = number
        case .nothing: conversation = try makeConversation(scope.conversation, createdAt: createdAt, db)
        }
        try db.run(
            "INSERT INTO scope (conversation_id, agent_id, window_start) VALUES (?, ?, 0)", conversation, scope.agentId)
        return ScopeRow(
            conversation: conversation, scope: db.lastInsertedRowID, windowStart: 0, lastRole: nil,
            lastSequence: try db.lastSequence())
    }

    static func makeConversation(_ id: ConversationID, createdAt: Int64, _ db: Database) throws -> Int64 {
        try db.run(
            """
            INSERT INTO conversation (user_id, session_id, created_at, last_activity, message_count)
            VALUES (?, ?, ?, ?, 0)
            """, id.userId, id.sessionId, createdAt, createdAt)
        return db.lastInsertedRowID
    }

    private enum Found {
        case nothing
        case conversation(Int64)
        case scope(ScopeRow)
    }

    private static func lookUp(_ scope: Scope, _ db: Database) throws -> Found {
        let statement = try db.sql(
            """
            SELECT conversation.id, scope.id, scope.window_start, \(Database.lastSequence),
              (SELECT role FROM message WHERE scope_id = scope.id AND position >= scope.window_start
               ORDER BY position DESC LIMIT 1)
            FROM conversation
            LEFT JOIN scope ON scope.conversation_id = conversation.id AND scope.agent_id = ?
            WHERE conversation.user_id = ? AND conversation.session_id = ?
            """)
        statement.bind(scope.agentId, at: 1)
        statement.bind(scope.userId, at: 2)
        statement.bind(scope.sessionId, at: 3)
        defer { statement.reset() }
        guard try statement.step() else { return .nothing }
        guard !statement.isNull(1) else { return .conversation(statement.integer(0)) }
        return .scope(
            ScopeRow(
                conversation: statement.integer(0), scope: statement.integer(1), windowStart: statement.integer(2),
                lastRole: statement.optionalText(4).map(Role.init(rawValue:)), lastSequence: statement.integer(3)))
    }
}

extension Database {
    /// The number of the last change of the feed, of a message or of any other, in SQL.
    fileprivate static let lastSequence = """
        max(ifnull((SELECT max(sequence) FROM message), 0), ifnull((SELECT max(sequence) FROM change), 0))
        """

    /// The number of the last change of the feed: of a message or of any other.
    func lastSequence() throws -> Int64 {
        try integer("SELECT \(Self.lastSequence)") ?? 0
    }
}
