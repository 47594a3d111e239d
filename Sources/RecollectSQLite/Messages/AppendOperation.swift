import Foundation
import GRDB
import RecollectCore

/// Appends a batch to a scope, inside a write transaction.
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
        let wasRead = try options.staysRead && !SessionRow.isUnread(row.session, db)
        /// Whether the batch was only appended. Then the row is up to date without reading it again.
        var isPlain = true
        for message in messages {
            let held = try cache.pending.find(message.id, in: row, db, derivedID: cache.derivedID)
            let adopted = try held.flatMap { try adoptable($0, in: row, db) }
            if held?.scope == row.scope {
                result.outcome.alreadyStored += 1
            } else if options.sameRole == .drop, SameRolePolicy.repeats(adopted ?? message, after: row.lastRole) {
                result.outcome.dropped += 1
                result.dropped.append(message.id)
            } else if let held, let adopted {
                try Adoption.adopt(held.sequence, into: row, of: scope, db)
                row.feed.last = try db.lastSequence()
                row.lastRole = adopted.role
                isPlain = false
                result.outcome.alreadyStored += 1
            } else {
                row.feed.last = row.feed.last.next
                try MessageRow.insert(
                    message, sequence: row.feed.last, session: row.session, scope: row.scope,
                    with: cache.insertion.ready(db))
                try AttachmentUse.insert(message, sequence: row.feed.last, db)
                cache.pending.add(message.id, scope: row.scope, sequence: row.feed.last)
                row.lastRole = message.role
                result.outcome.added += 1
            }
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
        if isPlain { cache.insert(row, of: scope, db) } else { cache.dropRows() }
        return result
    }

    /// Returns a message without an agent if this batch may adopt it.
    private func adoptable(_ held: HeldMessage, in row: ScopeRow, _ db: Database) throws -> ConversationMessage? {
        guard options.adoptsUnassigned, held.scope != row.scope else { return nil }
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
}
