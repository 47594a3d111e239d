import Foundation
import GRDB
import RecollectCore

/// Appends a batch to a scope, inside a write transaction. Messages of a session's agents are in the order of
/// `MessageSortKey`.
struct AppendOperation {
    let messages: [ConversationMessage]
    let scope: Scope
    let options: AppendOptions
    let retention: Retention

    /// The outcome of the batch, and the IDs of messages dropped by the same-role rule.
    struct Result: Sendable {
        var outcome = AppendOutcome()
        var dropped: [String] = []
        /// Attachments without any use after a trim deleted their messages.
        var orphans: [String] = []
    }

    func run(_ db: Database, _ cache: WriterCache) throws -> Result {
        var result = Result()
        guard let first = messages.first else {
            if var row = try ScopeRow.find(scope, db, with: cache.lookUp) { try trim(&row, &result, db) }
            return result
        }
        var row = try cache.row(of: scope, db) {
            try ScopeRow.findOrMake(
                scope, createdAt: first.timestamp.millisecondsSince1970, restores: false, db, with: cache.lookUp)
        }
        let agentId = ByteString(scope.agentId)
        let wasRead = try options.keepsSessionRead && !SessionRow.isUnread(row.session, db)
        var end = try cache.end(of: row.session, db)
        var placement: MessagePlacement?
        /// Whether a message was placed before others.
        var hasPlaced = false
        /// Whether a user's message was placed before others: it may be the first one.
        var needsPreview = false
        /// Whether the batch was only appended. Then the row is up to date without reading it again.
        var isPlain = true
        for (offset, message) in messages.enumerated() {
            let held = try cache.pending.find(message.id, in: row, db, derivedID: cache.derivedID)
            let adopted = try held.flatMap { try adoptable($0, in: row, db) }
            if held?.scope == row.scope {
                result.outcome.alreadyStored += 1
            } else if options.sameRole == .drop, SameRolePolicy.repeats(adopted ?? message, after: row.lastRole) {
                result.outcome.dropped += 1
                result.dropped.append(message.id)
            } else if let held, let adopted {
                try assign(held.sequence, to: row, db)
                row.feed.last = try db.lastSequence()
                row.lastRole = adopted.role
                row.lastTime = try ScopeRow.lastTime(of: row.scope, db)
                end = try SessionEnd(of: row.session, db)
                placement = nil
                isPlain = false
                result.outcome.alreadyStored += 1
            } else {
                let key = MessageSortKey(
                    time: max(row.lastTime ?? .min, message.timestamp.millisecondsSince1970), agentId: agentId)
                var position: Position?
                if let end, !end.isBefore(key, of: row.scope) {
                    var finder = try placement ?? MessagePlacement(in: row.session, of: row.scope, db)
                    position = try finder.position(of: key, count: messages.count - offset, db)
                    if finder.hasMovedMessages {
                        row.feed.last = try db.lastSequence()
                        row.windowStart = try ScopeRow.windowStart(of: row.scope, db)
                        isPlain = false
                    }
                    placement = finder
                    hasPlaced = true
                    needsPreview = needsPreview || message.role == .user
                }
                if position == nil { end = SessionEnd(key, row.scope) }
                row.feed.last = row.feed.last.next
                try MessageRow.insert(
                    message, sequence: row.feed.last, session: row.session, scope: row.scope, position: position,
                    time: key.time, with: cache.insertion.ready(db))
                row.lastTime = key.time
                try AttachmentUse.insert(message, sequence: row.feed.last, db)
                cache.pending.add(message.id, scope: row.scope, sequence: row.feed.last)
                row.lastRole = message.role
                result.outcome.added += 1
            }
        }
        if hasPlaced {
            try SessionRow.backdate(row.session, db)
            if needsPreview { try Preview.set(row.session, db) }
        }
        if wasRead, result.outcome.added > 0 {
            try db.run("UPDATE session SET read_through = ? WHERE id = ?", row.feed.last, row.session)
        }
        // Messages saved before leave a discarded session where it is.
        if row.isDiscarded, result.outcome.added > 0 || !isPlain {
            try SessionRow.restore(row.session, db)
            row.feed = try FeedState(db)
            isPlain = false
        }
        if try trim(&row, &result, db) { isPlain = false }
        if row.feed.pending > DerivedData.limit {
            try DerivedData.update(db)
            row.feed = try FeedState(db)
        }
        if isPlain { cache.insert(row, of: scope, end: end, db) } else { cache.dropRows() }
        return result
    }

    /// Returns a message without an agent if this batch may adopt it.
    private func adoptable(_ held: HeldMessage, in row: ScopeRow, _ db: Database) throws -> ConversationMessage? {
        guard options.claimsUnassigned, held.scope != row.scope else { return nil }
        return try MessageQueries.message(held.sequence, db)
    }

    /// Moves the window's start until the window fits the limit. Deletes the older rows only under the retention
    /// `window`. Returns whether rows were deleted.
    @discardableResult
    private func trim(_ row: inout ScopeRow, _ result: inout Result, _ db: Database) throws -> Bool {
        guard let size = MessageWindow.size(for: options.maxMessages) else { return false }
        let start: Position
        if size == 0 {
            guard
                let last: Position = try db.value(
                    "SELECT position FROM message WHERE scope_row_id = ? ORDER BY position DESC LIMIT 1", row.scope)
            else { return false }
            start = last + 1
            row.lastRole = nil
        } else {
            // Counted from the end: the cost depends on the window's size, not on the scope's length.
            guard
                let first: Position = try db.value(
                    "SELECT position FROM message WHERE scope_row_id = ? ORDER BY position DESC LIMIT 1 OFFSET ?",
                    row.scope, size - 1)
            else { return false }
            start = first
        }
        guard start > row.windowStart else { return false }
        try db.run("UPDATE scope SET window_start = ? WHERE id = ?", start, row.scope)
        row.windowStart = start
        guard retention == .window else { return false }
        result.orphans += try MessageDeletion.deleteTrimmed(scope: row.scope, before: start, db)
        return true
    }

    /// Assigns a message without an agent to the scope, and records the change in the feed. A UI without agents saves under the
    /// empty agent ID, possibly before the agent's orchestrator saves the same message.
    ///
    /// The message keeps its position in the session if it is after the last message of its new scope and not
    /// before the start of the window. Otherwise it moves to the end of the session, because the order of a scope
    /// is the order of saving.
    private func assign(_ sequence: SequenceNumber, to row: ScopeRow, _ db: Database) throws {
        let position = try MessageQueries.position(of: sequence, db) ?? .min
        let last: Position? = try db.value("SELECT max(position) FROM message WHERE scope_row_id = ?", row.scope)
        let keepsPosition = position >= row.windowStart && position > last ?? .min
        try SearchIndex.reindexing([sequence], db) {
            try MessageMoves.setScope(row.scope, of: sequence, db)
            // The time of its key is the latest one of its new scope.
            try db.run(
                "UPDATE message SET placed_at = nullif(max(timestamp, ifnull(?, timestamp)), timestamp) WHERE sequence = ?",
                row.lastTime, sequence)
            if !keepsPosition { try MessageMoves.putLast([sequence], db) }
        }
        try db.recordChange(.messageEdited, of: sequence, in: scope.session)
        guard !keepsPosition else { return }
        try Preview.set(row.session, db)
        try db.recordChange(.sessionRearranged, scope.session)
    }
}
