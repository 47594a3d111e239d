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
        var message = message.with(id: begun.id)
        let given = SavedReply(message: message, scope: scope)
        if isAppended || message.isInterrupted {
            // A UI may have saved a longer increment.
            message.parts = message.parts.keepingLongerText(of: begun.parts)
        }
        if message.isInterrupted, let held = try held(begun.id, in: scope, db), held.role == message.role {
            let merged = message.keepingDetails(of: held, since: begun)
            let isLonger = !(held.text.utf8.starts(with: message.text.utf8) && held.hasParts(of: message))
            if !isLonger || !merged.hasContent(of: held) {
                if held.hasContent(of: message) {
                    // The reply's agent adopts a message without an agent.
                    var whole = held
                    whole.metadata.merge(begun.metadata) { held, _ in held }
                    let orphans = try save(whole, since: held, in: scope, db, cache).orphans
                    return Result(saved: nil, given: given, orphans: orphans)
                }
                // A UI has saved another text as complete, or this was another attempt.
                let session = try MessageQueries.number(of: scope.session, db).map { [$0] } ?? []
                let free = try StreamingReplies.freeID(from: begun.id, scope.agentId, scope.session, in: session, db)
                message = message.with(id: free)
            }
        }
        let saved = try save(message, since: begun, in: scope, db, cache)
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
    /// - Parameter begun: An earlier state of the message. Other writers may have changed it since.
    /// - Returns: The message without fields added by a UI.
    private func save(
        _ message: ConversationMessage, since begun: ConversationMessage, in scope: Scope, _ db: Database,
        _ cache: WriterCache
    ) throws -> (message: ConversationMessage, orphans: [String]) {
        let appending = AppendOperation(
            messages: [message], scope: scope,
            options: AppendOptions(maxMessages: maxMessages, adoptsUnassigned: true), retention: retention)
        let appended = try appending.run(db, cache)
        guard appended.outcome.alreadyStored > 0 else { return (message, appended.orphans) }
        try DerivedData.update(db)
        let known = try MessageQueries.one(message.id, in: scope.session, agentId: scope.agentId, db)
        if let known, known.message.role != message.role {
            let copy = message.with(id: message.copyId(from: scope.agentId))
            let saved = try save(copy, since: begun, in: scope, db, cache)
            return (saved.message, appended.orphans + saved.orphans)
        }
        var message = message
        if let known = known?.message, isAppended, known.isProse, !known.isInterrupted {
            // A UI has saved a longer text as complete: no complete reply had the ID at the beginning.
            message.parts = message.parts.keepingLongerText(of: known.parts)
        }
        let whole = known.map { message.keepingDetails(of: $0.message, since: begun) } ?? message
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

extension ConversationMessage {
    /// Returns the message with the attachments, metadata and flags that a UI has added to the reply's entry.
    /// - Parameters:
    ///   - held: The message saved by the UI.
    ///   - begun: An earlier state of this message.
    fileprivate func keepingDetails(
        of held: ConversationMessage, since begun: ConversationMessage
    ) -> ConversationMessage {
        let (shown, known) = (held.chatMessages(), begun.chatMessages())
        // An interrupted message with another text is that of an earlier attempt.
        let isEarlierAttempt = held.isInterrupted && !hasText(of: held)
        guard shown.count == 1, !isEarlierAttempt else { return self }
        let before = known.first { $0.isSameKind(as: shown[0]) }
        var edits = ChatMessageEdits(self)
        edits.addDetails(
            ChatMessageChange(
                shown[0], keptAs: shown[0],
                from: before.map { KnownChatMessage(hash: ChatMessageHash($0), entry: $0) }))
        return edits.edited ?? self
    }

    /// Whether the message is one text.
    fileprivate var isProse: Bool { parts.count == 1 && parts[0].text != nil }

    /// Whether the message begins with the text of another one, apart from white space, and has all its other parts.
    func hasContent(of other: ConversationMessage) -> Bool {
        hasText(of: other) && hasParts(of: other)
    }

    /// Whether the message has all parts of another one, except for texts.
    fileprivate func hasParts(of other: ConversationMessage) -> Bool {
        other.parts.allSatisfy { $0.text != nil || parts.contains($0) }
    }

    /// Whether the message begins with the text of another one, apart from white space.
    private func hasText(of other: ConversationMessage) -> Bool { text.continues(other.text) }
}
