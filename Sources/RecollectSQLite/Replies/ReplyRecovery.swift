import GRDB
import RecollectCore

/// Saves the replies whose writer has ended, as far as they had come and marked as interrupted, inside a write transaction. A message
/// that holds as much already stays as it is.
struct ReplyRecovery: Sendable {
    let writers: ReplyWriters
    let attachments: any AttachmentKeeping
    let retention: Retention

    /// Saves the drafts of those among `names` who have ended. Returns what happened, for after the commit.
    func run(for names: some Sequence<String>, _ db: Database, _ unsettled: UnsettledIDs) throws -> [StoreEvent] {
        var events: [StoreEvent] = []
        for writer in names where writers.hasEnded(writer) {
            for draft in try Drafts.all(of: writer, db) {
                let message = try draft.message.asInterrupted.keepingAttachments(in: attachments)
                if try isSaved(message, in: draft.scope.conversation, db) { continue }
                let ending = ReplyEnding(
                    number: draft.number, message: message, scope: draft.scope, maxMessages: nil, retention: retention)
                // Nothing is trimmed, so nothing loses its last use.
                _ = try ending.run(db, unsettled)
                events.append(StoreEvent(kind: .interruptedReply, scope: draft.scope, messageId: draft.message.id))
            }
            try Drafts.delete(writer: writer, db)
            try writers.remove(writer)
        }
        return events
    }

    /// Whether the session holds the reply already, with at least as much text and all other parts: a UI may have saved it whole
    /// just before the end.
    private func isSaved(_ reply: ConversationMessage, in conversation: ConversationID, _ db: Database) throws -> Bool {
        try Settling.settle(db)
        guard let held = try MessageQueries.one(reply.id, in: conversation, db)?.message else { return false }
        return held.text.utf8.starts(with: reply.text.utf8)
            && held.parts.filter { $0.text == nil }.starts(with: reply.parts.filter { $0.text == nil })
    }

    /// Everyone who has a draft or a lock file.
    func everyone(_ db: Database) throws -> Set<String> {
        Set(try Drafts.writers(db) + writers.all())
    }
}
