import Foundation
import GRDB
import RecollectCore

/// A reply saved as a message. Fields added by a UI are not included.
struct SavedReply: Sendable {
    let message: ConversationMessage
    let scope: Scope
}

/// Turns a streaming reply into a message, inside a write transaction. Every end of a streaming reply uses it, by
/// its writer or by a recovery.
struct EndReplyOperation {
    let reply: ReplyRowID
    /// The final message, with attachments stored by hash.
    let message: ConversationMessage
    /// Whether the message has the content appended by its writer, and was not given at the end.
    let isAppended: Bool
    /// The scope at the start of the reply. Its session may have another session ID since.
    let scope: Scope
    /// The budget for trimming the window at the end. `nil` trims no messages.
    let maxMessages: Int?
    let retention: Retention

    /// The saved message, and the hashes of unused attachments.
    struct Result {
        /// The message with its scope, or `nil` if a saved message had the content of the reply already.
        let saved: SavedReply?
        /// The message as given by the writer, with its scope. The saved one may have a longer text by a UI.
        let given: SavedReply
        let orphans: [String]
    }

    func run(_ db: Database, _ cache: WriterCache) throws -> Result {
        guard let (scope, begun) = try location(db) else {
            // Files of a backup, or a new database in place of the removed one, may have the session without the reply.
            throw try RecollectError(
                .notFound,
                MessageQueries.number(of: scope.session, db) == nil
                    ? "the session of this reply was deleted while the reply was streaming; it was not saved"
                    : "while this reply was streaming, its session was deleted and created again, or the files of the history were "
                        + "replaced; the reply was not saved")
        }
        try StreamingReplies.remove(reply, db)
        let given = SavedReply(message: message.with(id: begun.id), scope: scope)
        var ending = FinalReply(message, of: begun, isAppended: isAppended)
        switch ending.resolution(beside: message.isInterrupted ? try held(begun.id, in: scope, db) : nil) {
        case .save: break
        case .keepStored(let stored):
            // The reply's agent adopts a message without an agent.
            let orphans = try save(stored, in: scope, db, cache).orphans
            return Result(saved: nil, given: given, orphans: orphans)
        case .useNewID:
            let session = try MessageQueries.number(of: scope.session, db).map { [$0] } ?? []
            let free = try StreamingReplies.freeID(from: begun.id, scope.agentId, scope.session, in: session, db)
            ending.use(id: free)
        }
        let saved = try save(ending, in: scope, db, cache)
        return Result(
            saved: SavedReply(message: saved.message, scope: scope), given: given, orphans: saved.orphans)
    }

    /// Returns the message with an ID of the scope, or else the one without an agent.
    private func held(_ id: String, in scope: Scope, _ db: Database) throws -> ConversationMessage? {
        try DerivedData.update(db)
        return try
            (MessageQueries.one(id, in: scope.session, agentId: scope.agentId, db)
            ?? MessageQueries.one(id, in: scope.session, agentId: "", db))?.message
    }

    /// Appends the message, or edits a known one with its ID. A known message of another role is no reply: then the
    /// message is saved beside it under an ID derived from its own.
    /// - Returns: The message without fields added by a UI.
    private func save(
        _ ending: FinalReply, in scope: Scope, _ db: Database, _ cache: WriterCache
    ) throws -> (message: ConversationMessage, orphans: [String]) {
        let appending = AppendOperation(
            messages: [ending.message], scope: scope,
            options: AppendOptions(maxMessages: maxMessages, claimsUnassigned: true), retention: retention)
        let appended = try appending.run(db, cache)
        guard appended.outcome.alreadyStored > 0 else { return (ending.message, appended.orphans) }
        try DerivedData.update(db)
        let known = try MessageQueries.one(ending.message.id, in: scope.session, agentId: scope.agentId, db)?.message
        if let known, known.role != ending.message.role {
            var copy = ending
            copy.use(id: ending.message.copyId(from: scope.agentId))
            let saved = try save(copy, in: scope, db, cache)
            return (saved.message, appended.orphans + saved.orphans)
        }
        let (message, whole) = ending.edit(of: known)
        let edited = try MessageEdits.edit([whole], in: scope.session, agentId: scope.agentId, db)
        return (message, appended.orphans + edited.orphans)
    }

    /// Returns the scope and the last saved increment, with the ID of the message, or `nil` after a deletion of the
    /// session.
    private func location(_ db: Database) throws -> (scope: Scope, begun: ConversationMessage)? {
        if let row = try StreamingReplies.one(reply, db) { return (row.scope, row.message) }
        // The lock file of a living process was removed, and its reply was saved as an interrupted one.
        try DerivedData.update(db)
        // In a session deleted and created again, a message with that ID is a different one.
        let saved = try MessageQueries.one(message.id, in: scope.session, agentId: scope.agentId, db)
        return saved.flatMap { $0.message.isInterrupted ? (scope, $0.message) : nil }
    }
}
