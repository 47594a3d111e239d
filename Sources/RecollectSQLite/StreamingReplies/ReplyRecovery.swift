import GRDB
import RecollectCore

/// Saves interrupted replies as messages with their last saved increment, marked as interrupted, inside a write
/// transaction. A saved message with at least the same content stays unchanged.
struct ReplyRecovery: Sendable {
    let writers: ReplyWriterLocks
    let attachments: any AttachmentSaving
    let retention: Retention

    /// Saves the streaming replies of the ended writers among `names`. Returns the events to post after the commit.
    func run(for names: some Sequence<String>, _ db: Database, _ cache: WriterCache) throws -> [StoreEvent] {
        var events: [StoreEvent] = []
        for writer in names where writers.hasEnded(writer) {
            for row in try StreamingReplies.all(of: writer, db) { events += try save(row, db, cache) }
            try StreamingReplies.delete(writer: writer, db)
            try db.run("DELETE FROM turn_lease WHERE writer = ?", writer)
            try writers.remove(writer)
        }
        return events
    }

    /// Saves a streaming reply. Returns the event to post after the commit.
    func save(_ row: StreamingReplies.Row, _ db: Database, _ cache: WriterCache) throws -> [StoreEvent] {
        let message = try row.message.asInterrupted.savingAttachments(in: attachments)
        let ending = EndReplyOperation(
            reply: row.id, message: message, isAppended: true, scope: row.scope, maxMessages: nil,
            retention: retention)
        // Nothing is trimmed, so no attachment loses its last use.
        return try ending.run(db, cache).saved.map {
            [StoreEvent(kind: .interruptedReply, scope: row.scope, messageId: $0.message.id)]
        } ?? []
    }

    /// Returns the names of all writers with a streaming reply or a lock file.
    func everyone(_ db: Database, hasStreamingReplies: Bool) throws -> Set<String> {
        try Set(hasStreamingReplies ? StreamingReplies.writers(db) : []).union(writers.all())
    }
}
