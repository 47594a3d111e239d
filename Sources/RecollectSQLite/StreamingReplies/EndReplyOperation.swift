import Foundation
import GRDB
import RecollectCore

/// Turns a streaming reply into a message, inside a write transaction. Every end of a streaming reply uses it, by
/// its writer or by a recovery.
struct EndReplyOperation {
    let reply: ReplyRowID
    /// The final message, with attachments stored by hash.
    let message: ConversationMessage
    /// The scope at the start of the reply. Its session may have another session ID since.
    let scope: Scope
    /// The budget for trimming the window at the end. `nil` trims no messages.
    let maxMessages: Int?
    let retention: Retention

    /// The ID of the saved message, and the hashes of unused attachments.
    struct Result {
        /// `nil` if a saved message had the content of the reply already.
        let saved: String?
        let orphans: [String]
    }

    func run(_ db: Database, _ cache: WriterCache) throws -> Result {
        guard let (scope, id) = try location(db) else {
            throw RecollectError(
                .notFound, "the session of this reply was deleted while the reply was in flight; it was not saved")
        }
        try StreamingReplies.remove(reply, db)
        var message = message.with(id: id)
        if message.isInterrupted, let held = try held(id, in: scope, db), held.role == message.role {
            let isLonger = !held.text.utf8.starts(with: message.text.utf8) && message.hasContent(of: held)
            if !isLonger {
                if held.hasContent(of: message) {
                    // The reply's agent adopts a message without an agent.
                    return Result(saved: nil, orphans: try save(held, in: scope, db, cache))
                }
                // A UI has saved another text as complete, or this was another attempt.
                let session = try MessageQueries.number(of: scope.session, db).map { [$0] } ?? []
                let free = try StreamingReplies.freeID(from: id, scope.agentId, scope.session, in: session, db)
                message = message.with(id: free)
            }
        }
        return Result(saved: message.id, orphans: try save(message, in: scope, db, cache))
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
        if let draft = try StreamingReplies.one(reply, db) { return (draft.scope, draft.message.id) }
        // The lock file of a living process was removed, and its reply was saved as an interrupted one.
        try DerivedData.update(db)
        // In a session deleted and created again, a message with that ID is a different one.
        let saved = try MessageQueries.one(message.id, in: scope.session, agentId: scope.agentId, db)
        return saved?.message.isInterrupted == true ? (scope, message.id) : nil
    }
}

extension ConversationMessage {
    /// Whether the message begins with the text of another one, apart from blank text around it, and with all its other
    /// parts. UIs may trim texts.
    fileprivate func hasContent(of other: ConversationMessage) -> Bool {
        func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
        return trimmed(text).utf8.starts(with: trimmed(other.text).utf8)
            && parts.filter { $0.text == nil }.starts(with: other.parts.filter { $0.text == nil })
    }
}
