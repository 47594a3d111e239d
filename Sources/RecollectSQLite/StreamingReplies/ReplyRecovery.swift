import GRDB
import RecollectCore

/// Saves interrupted replies as messages with their last saved increment, marked as interrupted, inside a write
/// transaction. A message with at least the same content stays unchanged.
struct ReplyRecovery: Sendable {
    let writers: ReplyWriterLocks
    let attachments: any AttachmentKeeping
    let retention: Retention

    /// Saves the streaming replies of the ended writers among `names`. Returns the events to post after the commit.
    func run(for names: some Sequence<String>, _ db: Database, _ cache: WriterCache) throws -> [StoreEvent] {
        var events: [StoreEvent] = []
        for writer in names where writers.hasEnded(writer) {
            for draft in try StreamingReplies.all(of: writer, db) {
                let message = try draft.message.asInterrupted.keepingAttachments(in: attachments)
                let saved = try saved(message, in: draft.scope, db)
                let ending = EndReplyOperation(
                    number: draft.number, message: saved ?? message, scope: draft.scope, maxMessages: nil,
                    retention: retention)
                // Nothing is trimmed, so no attachment loses its last use.
                _ = try ending.run(db, cache)
                if saved == nil {
                    events.append(StoreEvent(kind: .interruptedReply, scope: draft.scope, messageId: draft.message.id))
                }
            }
            try StreamingReplies.delete(writer: writer, db)
            try writers.remove(writer)
        }
        return events
    }

    /// Returns the reply already saved by its agent or without an agent, if it has at least the same text and all
    /// other parts, or is a complete reply with another text: a UI may have saved it in full just before the end.
    private func saved(
        _ reply: ConversationMessage, in scope: Scope, _ db: Database
    ) throws -> ConversationMessage? {
        try DerivedData.update(db)
        let own = try MessageQueries.one(reply.id, in: scope.session, agentId: scope.agentId, db)
        guard
            let held = try (own ?? MessageQueries.one(reply.id, in: scope.session, agentId: "", db))?.message,
            held.role == reply.role
        else { return nil }
        let isContained =
            held.text.utf8.starts(with: reply.text.utf8)
            && held.parts.filter { $0.text == nil }.starts(with: reply.parts.filter { $0.text == nil })
        let isAnother = !held.isInterrupted && !reply.text.utf8.starts(with: held.text.utf8)
        return isContained || isAnother ? held : nil
    }

    /// Returns the names of all writers with a streaming reply or a lock file.
    func everyone(_ db: Database, hasStreamingReplies: Bool) throws -> Set<String> {
        try Set(hasStreamingReplies ? StreamingReplies.writers(db) : []).union(writers.all())
    }
}
