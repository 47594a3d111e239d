import GRDB
import RecollectCore

/// Makes a reply in flight a message, inside a write transaction: the one way in which a draft ends, whoever ends it.
struct ReplyEnding {
    /// The draft's number.
    let number: Int64
    /// What the reply has become, its attachments kept by hash.
    let message: ConversationMessage
    /// Where it was begun; its conversation may have been given another session id since.
    let scope: Scope
    /// The budget that its window is trimmed to then; `nil` moves nothing.
    let maxMessages: Int?
    let retention: Retention

    /// Returns the hashes of attachments that nothing uses any more.
    func run(_ db: Database, _ cache: WriterCache) throws -> [String] {
        guard let (scope, id) = try place(db) else {
            throw RecollectError(
                .notFound, "the conversation of this reply was deleted while the reply was in flight; it was not saved")
        }
        try Drafts.remove(number, db)
        let message = message.with(id: id)
        let appending = Appending(
            messages: [message], scope: scope,
            options: AppendOptions(maxMessages: maxMessages, adoptsUnassigned: true), retention: retention)
        let appended = try appending.run(db, cache)
        guard appended.outcome.known > 0 else { return appended.orphans }
        let edited = try MessageEdits.edit([message], in: scope.conversation, agentId: scope.agentId, db)
        return appended.orphans + edited.orphans
    }

    /// The scope and the id of the message; `nil` after a deletion of the conversation.
    private func place(_ db: Database) throws -> (scope: Scope, id: String)? {
        if let draft = try Drafts.one(number, db) { return (draft.scope, draft.message.id) }
        // Somebody removed the lock file of a living process: its reply was saved as an interrupted one.
        try Settling.settle(db)
        // In a conversation that was deleted and made anew, a message of that id is another one.
        let saved = try MessageQueries.one(message.id, in: scope.conversation, agentId: scope.agentId, db)
        return saved?.message.isInterrupted == true ? (scope, message.id) : nil
    }
}
