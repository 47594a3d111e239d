import GRDB
import RecollectCore

/// Moves messages between sessions of a user, inside a write transaction: rows, IDs, index entries. Requires
/// up-to-date derived data. The caller recounts the derived data of both sessions.
enum MessageMoves {
    /// Returns the sequence numbers of a session's messages from a position on, in order.
    ///
    /// Compares the rows with the index of positions: after a single bit error, it leads to another user's message.
    static func sequences(
        of session: SessionRowID, from position: Position = .min, _ db: Database
    ) throws -> [SequenceNumber] {
        let rows = try db.sql(
            """
            SELECT message.sequence, row.scope_row_id = message.scope_row_id
            FROM message LEFT JOIN message AS row ON row.sequence = message.sequence
            WHERE message.scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?) AND message.position >= ?
            ORDER BY message.position
            """
        ).bind(session, position)
        var sequences: [SequenceNumber] = []
        try rows.forEachRow { row in
            guard row.integer(1) == 1 else { throw DatabaseError.damagedIndex }
            sequences.append(row.value(0))
        }
        return sequences
    }

    /// Moves messages into another session, to scopes of the same agents. They keep their positions.
    ///
    /// Those scopes must contain neither their IDs nor their positions.
    static func move(_ sequences: [SequenceNumber], to target: SessionRowID, _ db: Database) throws {
        guard !sequences.isEmpty else { return }
        var scopes: [ScopeRowID: ScopeRowID] = [:]
        try SearchIndex.reindexing(sequences, db) {
            for sequence in sequences {
                guard let source = try MessageQueries.scope(of: sequence, db) else { continue }
                let scope = try scopes[source] ?? self.scope(like: source, in: target, db)
                scopes[source] = scope
                try setScope(scope, of: sequence, db)
                try Compactions.follow(sequence, to: scope, db)
                try db.run("UPDATE message SET session_row_id = ? WHERE sequence = ?", target, sequence)
            }
        }
    }

    /// Moves a message to a scope without a message of its ID, and with it the index entry of the ID, unless the
    /// message is pending.
    static func setScope(_ scope: ScopeRowID, of sequence: SequenceNumber, _ db: Database) throws {
        try db.run(
            """
            UPDATE message_id SET scope_row_id = ?1 WHERE scope_row_id = (SELECT scope_row_id FROM message WHERE sequence = ?2)
            AND message_id = (SELECT message_id FROM message WHERE sequence = ?2) AND sequence = ?2
            """, scope, sequence)
        try db.run("UPDATE message SET scope_row_id = ? WHERE sequence = ?", scope, sequence)
    }

    /// Gives new IDs to messages if the target session has their IDs with other content of the same agent. Their
    /// streaming replies and branches follow. Returns the sequence numbers without those of messages already in the
    /// target with the same content.
    static func takingFreeIDs(
        _ sequences: [SequenceNumber], of source: SessionRowID, _ id: SessionKey, in target: SessionRowID,
        _ db: Database
    ) throws -> [SequenceNumber] {
        try sequences.filter { sequence in
            guard let stored = try MessageQueries.stored(sequence, db),
                let own = try MessageQueries.scope(of: sequence, db)
            else { return false }
            let message = stored.message
            let (new, isKnown) = try self.id(of: stored, inScope: own, of: source, id, in: target, db)
            if isKnown || new != message.id {
                try StreamingReplies.follow(message.id, to: new, inScope: own, of: id, in: target, db)
            }
            if new != message.id {
                try renameBranchPoints(message.id, to: new, inScope: own, db)
                if !isKnown { try rename(sequence, new, inScope: own, db) }
            }
            return !isKnown
        }
    }

    /// Returns the ID of a scope's message in the target session: its own, or the first one of its copies used there
    /// for the same content, or by no other message or streaming reply. Also returns whether the target has the message.
    private static func id(
        of stored: StoredMessage, inScope own: ScopeRowID, of source: SessionRowID, _ id: SessionKey,
        in target: SessionRowID,
        _ db: Database
    ) throws -> (id: String, isKnown: Bool) {
        let message = stored.message
        let others = try knownScope(like: own, in: target, db)
        var free = message.id
        while true {
            let known =
                try others.flatMap { try MessageQueries.sequence(of: free, inScope: $0, db) }
                ?? (free == message.id ? nil : MessageQueries.sequence(of: free, inScope: own, db))
            if let known {
                let other = try MessageQueries.message(known, db)
                if other?.hasSameContent(as: message) == true { return (free, true) }
            } else if try free == message.id
                || StreamingReplies.writers(ofReply: free, stored.agentId, in: [source, target], db).isEmpty
            {
                return (free, false)
            }
            free = ConversationMessage.copyId(of: free, from: id.sessionId)
        }
    }

    /// Gives the branches after a scope's message the message's new ID.
    private static func renameBranchPoints(
        _ id: String, to new: String, inScope scope: ScopeRowID, _ db: Database
    ) throws {
        try db.run(
            """
            UPDATE session SET branch_after = ?1 FROM scope WHERE scope.id = ?2 AND branch_after = ?3
            AND branch_of = scope.session_row_id AND (
              branch_agent = scope.agent_id OR ifnull(branch_agent, '') = '' AND NOT EXISTS (
                SELECT 1 FROM scope AS own JOIN message_id ON message_id.scope_row_id = own.id
                WHERE own.session_row_id = scope.session_row_id AND own.agent_id = '' AND scope.agent_id <> ''
                AND message_id.message_id = ?3))
            """, new, scope, id)
    }

    private static func rename(_ sequence: SequenceNumber, _ id: String, inScope scope: ScopeRowID, _ db: Database)
        throws
    {
        try db.run(
            """
            UPDATE message_id SET message_id = ?1 WHERE scope_row_id = ?2
            AND message_id = (SELECT message_id FROM message WHERE sequence = ?3)
            """, id, scope, sequence)
        try db.run("UPDATE message SET message_id = ? WHERE sequence = ?", id, sequence)
    }

    /// Returns the scope of the same agent in another session, or `nil` if there is none.
    static func knownScope(like source: ScopeRowID, in target: SessionRowID, _ db: Database) throws -> ScopeRowID? {
        try db.value(
            "SELECT id FROM scope WHERE session_row_id = ? AND agent_id = (SELECT agent_id FROM scope WHERE id = ?)",
            target, source)
    }

    /// Returns the scope of the same agent in another session, and creates it if it is missing.
    private static func scope(like source: ScopeRowID, in target: SessionRowID, _ db: Database) throws -> ScopeRowID {
        try db.run(
            """
            INSERT OR IGNORE INTO scope (id, session_row_id, agent_id, window_start)
            SELECT 1 + \(Eraser.lastScope), ?, agent_id, 0 FROM scope WHERE id = ?
            """, target, source)
        guard let scope = try knownScope(like: source, in: target, db) else { throw DatabaseError.damagedIndex }
        return scope
    }

    /// Moves messages after all others in the history, in the given order.
    static func putLast(_ sequences: [SequenceNumber], _ db: Database) throws {
        guard !sequences.isEmpty else { return }
        // Appended messages must still come later, so the new positions are between the last message's position and
        // the next one.
        let last = try db.lastSequence()
        let start = Position.appended(last)
        let step = max(1, (Position.appended(last.next) - start) / Int64(sequences.count + 1))
        try setPositions(zip(sequences, (1...).lazy.map { start + Int64($0) * step }), db)
    }

    /// Returns the position of the next message of a session, of any agent, or `nil` at the end.
    static func position(after position: Position, in session: SessionRowID, _ db: Database) throws -> Position? {
        try db.value(
            """
            SELECT min(next) FROM (
              SELECT (SELECT position FROM message WHERE scope_row_id = scope.id AND position > ?2 ORDER BY position LIMIT 1) AS next
              FROM scope WHERE session_row_id = ?1
            )
            """, session, position)
    }

    /// Returns the position of the last message of a session before a position, of any agent, or `nil` at the beginning.
    static func position(before position: Position, in session: SessionRowID, _ db: Database) throws -> Position? {
        try db.value(
            """
            SELECT max(previous) FROM (
              SELECT (SELECT max(position) FROM message WHERE scope_row_id = scope.id AND position < ?2) AS previous
              FROM scope WHERE session_row_id = ?1
            )
            """, session, position)
    }

    /// The least distance of positions after `makeRoom`.
    private static let leastRoom: Int64 = 1 << 12

    /// Spreads the messages around a position evenly, so that others fit between them. Their order and the windows stay.
    /// Records the change: earlier cursors are then at other messages.
    ///
    /// The least range with room is used. A session has it: each message has brought 2^20 positions.
    static func makeRoom(at position: Position, in session: SessionRowID, _ db: Database) throws {
        let all = Position.appended(try db.lastSequence().next)
        var reach: Int64 = 1 << 22
        var (start, end) = (position, position)
        var rows: [(sequence: SequenceNumber, position: Position, scope: ScopeRowID)] = []
        var step: Int64 = 0
        while step < leastRoom && (.start < start || end < all) {
            start = max(.start, position + -reach)
            end = min(all, position + reach)
            rows = []
            try db.sql(
                """
                SELECT sequence, position, scope_row_id FROM message
                WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?) AND position > ? AND position < ?
                ORDER BY position
                """
            ).bind(session, start, end).forEachRow { rows.append(($0.value(0), $0.value(1), $0.value(2))) }
            step = (end - start) / Int64(rows.count + 1)
            reach *= 2
        }
        let positions = rows.indices.map { start + Int64($0 + 1) * step }
        let windows = try db.sql("SELECT id, window_start FROM scope WHERE session_row_id = ? AND window_start > ?")
        var starts: [(scope: ScopeRowID, position: Position)] = []
        try windows.bind(session, start).forEachRow { starts.append(($0.value(0), $0.value(1))) }
        for window in starts where window.position < end {
            let outside = rows.lastIndex { $0.scope == window.scope && $0.position < window.position }
            try db.run(
                "UPDATE scope SET window_start = ? WHERE id = ?", (outside.map { positions[$0] } ?? start) + 1,
                window.scope)
        }
        try setPositions(zip(rows.map(\.sequence), positions), db)
        try db.recordChange(.sessionRearranged, MessageQueries.id(of: session, db))
    }

    /// Runs a change of positions, and adjusts the windows so that no message outside its window comes back into
    /// one.
    ///
    /// - Parameter others: The sessions whose messages are moved into this one.
    static func keepingWindows(
        of session: SessionRowID, with others: [SessionRowID] = [], _ db: Database, _ change: () throws -> Void
    ) throws {
        let outside: [SequenceNumber] = try ([session] + others).flatMap { number in
            try db.values(
                """
                SELECT sequence FROM scope JOIN message ON scope_row_id = scope.id AND position < window_start
                WHERE scope.session_row_id = ?
                """, number)
        }
        try change()
        try db.run(
            """
            UPDATE scope SET window_start = ifnull(
              (SELECT max(position) + 1 FROM message WHERE scope_row_id = scope.id
               AND sequence IN (SELECT value FROM json_each(?))), 0)
            WHERE session_row_id = ?
            """, outside.jsonArray, session)
    }

    /// Sets positions, regardless of the earlier order.
    static func setPositions(_ positions: some Sequence<(SequenceNumber, Position)>, _ db: Database) throws {
        let positions = Array(positions)
        // By way of unused positions: two messages exchanging positions must not collide.
        for (sequence, _) in positions {
            try db.run("UPDATE message SET position = ? WHERE sequence = ?", -sequence.rawValue, sequence)
        }
        for (sequence, position) in positions {
            try db.run("UPDATE message SET position = ? WHERE sequence = ?", position, sequence)
        }
    }
}
