import GRDB
import RecollectCore

/// Turns a streaming reply into a message, inside a write transaction. Every end of a streaming reply uses it, by
/// its writer or by a recovery.
struct EndReplyOperation {
    /// The number of the streaming reply.
    let number: Int64
    /// The final message, with attachments stored by hash.
    let message: ConversationMessage
    /// The scope at the start of the reply. Its session may have another session ID since.
    let scope: Scope
    /// The budget for trimming the window at the end. `nil` trims no messages.
    let maxMessages: Int?
    let retention: Retention

    /// Returns the hashes of unused attachments.
    func run(_ db: Database, _ cache: WriterCache) throws -> [String] {
        guard let (scope, id) = try location(db) else {
            throw RecollectError(
                .notFound, "the session of this reply was deleted while the reply was in flight; it was not saved")
        }
        try StreamingReplies.remove(number, db)
        return try save(message.with(id: id), in: scope, db, cache)
    }

    /// Appends the message, or edits a known one with its ID. A known message of another role is no reply: then the
    /// message is saved beside it under an ID derived from its own.
    private func save(
        _ message: ConversationMessage, in scope: Scope, _ db: Database, _ cache: WriterCache
    ) throws -> [String] {
        let appending = AppendOperation(
            messages: [message], scope: scope,
            options: AppendOptions(maxMessages: maxMessages, adoptsUnassigned: true), retention: retention)
        let appended = try appending.run(db, cache)
        guard appended.outcome.known > 0 else { return appended.orphans }
        try DerivedData.update(db)
        let known = try MessageQueries.one(message.id, in: scope.session, agentId: scope.agentId, db)
        if let known, known.message.role != message.role {
            return try appended.orphans
                + save(message.with(id: message.copyId(from: scope.agentId)), in: scope, db, cache)
        }
        let edited = try MessageEdits.edit([message], in: scope.session, agentId: scope.agentId, db)
        return appended.orphans + edited.orphans
    }

    /// Returns the scope and the ID of the message, or `nil` after a deletion of the session.
    private func location(_ db: Database) throws -> (scope: Scope, id: String)? {
        if let draft = try StreamingReplies.one(number, db) { return (draft.scope, draft.message.id) }
        // The lock file of a living process was removed, and its reply was saved as an interrupted one.
        try DerivedData.update(db)
        // In a session deleted and created again, a message with that ID is a different one.
        let saved = try MessageQueries.one(message.id, in: scope.session, agentId: scope.agentId, db)
        return saved?.message.isInterrupted == true ? (scope, message.id) : nil
    }
}
