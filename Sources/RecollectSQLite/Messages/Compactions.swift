import Foundation
import GRDB
import RecollectCore

/// Compactions of scopes, inside a transaction.
enum Compactions {
    /// The messages of a scope's window with the compaction in effect, and the rows of those not covered.
    struct State {
        let inEffect: CompactionRow?
        let messages: CompactedMessages
        /// The numbers and positions of the messages not covered, without the instructions.
        let rows: [(sequence: SequenceNumber, position: Position)]
    }

    // MARK: Reading

    private static func window(where condition: String) -> String {
        """
        SELECT \(MessageRow.selected), message.sequence, message.position FROM scope
        JOIN session ON session.id = scope.session_row_id
        CROSS JOIN message ON message.scope_row_id = scope.id AND message.position >= scope.window_start
        WHERE session.user_id = ?1 AND session.session_id = ?2 AND scope.agent_id = ?3
          AND \(WindowQueries.isIndexed) AND \(condition)
        ORDER BY message.position
        """
    }

    private static let uncovered = window(where: "(message.position > ?4 OR message.sequence > ?5)")
    private static let isCovered = "message.position <= ?4 AND message.sequence <= ?5"
    private static let covered = window(where: isCovered)
    private static let firstPinned = window(
        where: "\(isCovered) AND instr(message.metadata, '\"\(ConversationMessage.pinned)\"')")

    /// Returns the messages of a scope's window with the compaction in effect.
    static func state(of scope: Scope, _ db: Database) throws -> State {
        try state(of: scope, inEffect: CompactionRow.inEffect(in: scope, db), db)
    }

    /// Returns the messages of a scope's window with a compaction read in the same transaction.
    static func state(of scope: Scope, inEffect: CompactionRow?, _ db: Database) throws -> State {
        let instructions = try WindowQueries.instructions(of: scope, db)
        let known = Set(instructions.map { ByteString($0.id) })
        func isInstruction(_ message: ConversationMessage) -> Bool {
            message.role == .system && known.contains(ByteString(message.id))
        }
        func bound(_ query: String) throws -> SQL {
            try db.sql(query).bind(
                scope.userId, scope.sessionId, scope.agentId, inEffect?.position ?? Position.min,
                inEffect?.coversThrough ?? SequenceNumber.zero)
        }
        var messages: [ConversationMessage] = []
        var rows: [(sequence: SequenceNumber, position: Position)] = []
        try bound(uncovered).forEachRow { row in
            let message = MessageRow.read(row)
            guard !isInstruction(message) else { return }
            messages.append(message)
            rows.append((row.value(7), row.value(8)))
        }
        var pinned: [ConversationMessage] = []
        if inEffect != nil, try isAny(bound(firstPinned)) {
            try bound(covered).forEachRow { row in
                let message = MessageRow.read(row)
                if !isInstruction(message) { pinned.append(message) }
            }
            pinned = CompactedMessages.pinnedTurns(of: pinned)
        }
        return State(
            inEffect: inEffect,
            messages: CompactedMessages(
                instructions: instructions, compaction: inEffect?.compaction, pinned: pinned, messages: messages),
            rows: rows)
    }

    private static func isAny(_ rows: SQL) throws -> Bool {
        defer { rows.reset() }
        return try rows.step()
    }

    // MARK: Writing

    /// Saves a compaction, unless the messages or the compaction in effect have changed.
    static func save(
        _ summarized: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
        after previousId: String?, id: String, now: Int64, _ db: Database
    ) throws -> Compaction {
        let state = try state(of: scope, db)
        let count = try state.messages.checkCompaction(of: summarized, into: summary, after: previousId)
        guard let last = state.rows.prefix(count).last, let row = try number(of: scope, db) else {
            throw DatabaseError.damagedIndex
        }
        // Covered messages may all have been inserted before the boundary of the last compaction.
        let previous = state.inEffect
        let boundary = previous.flatMap { $0.position > last.position ? $0.boundary : nil } ?? last.sequence
        let coversThrough = state.rows.prefix(count).map(\.sequence).max() ?? .zero
        let compaction = Compaction(
            id: id, summary: summary, author: author, createdAt: Date(millisecondsSince1970: now),
            lastMessageId: boundary == last.sequence
                ? state.messages.messages[count - 1].id : previous?.compaction.lastMessageId ?? "",
            messageCount: (previous?.compaction.messageCount ?? 0) + count, previousId: previousId)
        try db.run(
            """
            INSERT INTO compaction (scope_row_id, boundary, covers_through, made_at, message_count, compaction_id, message_id,
              author, summary, previous_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, row, boundary, max(coversThrough, previous?.coversThrough ?? .zero), now, compaction.messageCount, id,
            compaction.lastMessageId, author, summary, previousId)
        try db.recordChange(.sessionCompacted, scope.session)
        return compaction
    }

    /// Removes a compaction, and notes its bytes for erasure. Returns whether there was one.
    static func remove(_ id: String, of scope: Scope, _ db: Database) throws -> Bool {
        guard let row = try number(of: scope, db) else { return false }
        try db.run("DELETE FROM compaction WHERE scope_row_id = ? AND compaction_id = ?", row, id)
        guard db.changesCount > 0 else { return false }
        try Eraser.note(.log, db)
        try db.recordChange(.sessionCompacted, scope.session)
        return true
    }

    private static func number(of scope: Scope, _ db: Database) throws -> ScopeRowID? {
        try MessageQueries.number(of: scope.session, db).flatMap {
            try ScopeRow.scope(of: $0, agentId: scope.agentId, db)
        }
    }

    // MARK: Following messages

    /// Removes the compactions covering any of these messages, before the messages are deleted or edited: a summary may
    /// quote them. A compaction may have left its session for a branch with later messages, so all branches are included.
    static func removeCovering(_ sequences: [SequenceNumber], of session: SessionRowID, _ db: Database) throws {
        guard try db.integer("SELECT 1 FROM compaction LIMIT 1") != nil else { return }
        try db.run(
            """
            WITH RECURSIVE
              root (id) AS (
                SELECT ?1 UNION SELECT branch_of FROM session JOIN root USING (id) WHERE branch_of IS NOT NULL),
              family (id) AS (
                SELECT id FROM root UNION SELECT session.id FROM session JOIN family ON session.branch_of = family.id)
            DELETE FROM compaction WHERE id IN (
              SELECT compaction.id FROM json_each(?2) AS changed
              CROSS JOIN message ON message.sequence = changed.value
              CROSS JOIN scope AS own ON own.id = message.scope_row_id
              CROSS JOIN family
              CROSS JOIN scope AS other ON other.session_row_id = family.id AND other.agent_id = own.agent_id
              CROSS JOIN compaction ON compaction.scope_row_id = other.id AND compaction.covers_through >= message.sequence
              LEFT JOIN message AS boundary ON boundary.sequence = compaction.boundary
              WHERE other.id <> own.id OR message.position <= boundary.position)
            """, session, sequences.jsonArray)
        if db.changesCount > 0 { try Eraser.note(.log, db) }
    }

    /// Moves the compactions that end with a message to a scope of another session, with the message.
    static func follow(_ sequence: SequenceNumber, to scope: ScopeRowID, _ db: Database) throws {
        try db.run("UPDATE compaction SET scope_row_id = ? WHERE boundary = ?", scope, sequence)
    }

    /// Removes the compactions of agents with messages in both of two sessions, before these are merged: the messages of one
    /// session will be between those of the other.
    static func removeMerged(_ from: SessionRowID, _ into: SessionRowID, _ db: Database) throws {
        try db.run(
            """
            DELETE FROM compaction WHERE scope_row_id IN (
              SELECT own.id FROM scope AS own JOIN scope AS other ON other.agent_id = own.agent_id AND other.id <> own.id
              WHERE own.session_row_id IN (?1, ?2) AND other.session_row_id IN (?1, ?2)
              AND EXISTS (SELECT 1 FROM message WHERE scope_row_id = own.id)
              AND EXISTS (SELECT 1 FROM message WHERE scope_row_id = other.id))
            """, from, into)
        if db.changesCount > 0 { try Eraser.note(.log, db) }
    }

    /// Moves the remaining compactions of a session to another one: their boundaries were trimmed.
    static func moveRest(_ from: SessionRowID, to target: SessionRowID, _ db: Database) throws {
        try db.run(
            """
            UPDATE compaction SET scope_row_id = other.id
            FROM scope AS own JOIN scope AS other ON other.agent_id = own.agent_id AND other.session_row_id = ?2
            WHERE own.id = compaction.scope_row_id AND own.session_row_id = ?1
            """, from, target)
        try removeAll(of: from, db)
    }

    /// Copies the compactions whose last message was copied to a fork. One with messages inserted since before its boundary is
    /// not copied: in the fork, they would be covered.
    static func copy(from session: SessionRowID, to fork: SessionRowID, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO compaction (scope_row_id, boundary, covers_through, made_at, message_count, compaction_id, message_id,
              author, summary, previous_id)
            SELECT target.id, copied.sequence, copied.sequence, made_at, message_count, compaction_id, boundary.message_id,
              author, summary, previous_id
            FROM scope AS source JOIN compaction ON compaction.scope_row_id = source.id
            JOIN message AS boundary ON boundary.sequence = compaction.boundary AND boundary.scope_row_id = source.id
            JOIN scope AS target ON target.session_row_id = ?2 AND target.agent_id = source.agent_id
            JOIN message_id AS copied ON copied.scope_row_id = target.id AND copied.message_id = boundary.message_id
            WHERE source.session_row_id = ?1 AND NOT EXISTS (
              SELECT 1 FROM message WHERE message.scope_row_id = source.id AND message.position <= boundary.position
              AND message.sequence > compaction.covers_through)
            ORDER BY compaction.id
            """, session, fork)
    }

    /// Removes all compactions of a session.
    static func removeAll(of session: SessionRowID, _ db: Database) throws {
        try db.run(
            "DELETE FROM compaction WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?)", session)
    }
}
