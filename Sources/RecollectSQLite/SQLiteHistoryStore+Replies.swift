import GRDB
import RecollectCore

extension SQLiteHistoryStore {
    /// Begins a streaming reply: see `HistoryStore`.
    ///
    /// With a history on disk, this process holds a lock file in `writers/` beside the database until its last
    /// streaming reply has ended. iOS kills a suspended process if it holds a lock in a shared container (of an app
    /// group). Interrupt replies before suspension, or store the history in the app's own container.
    public func beginReply(
        _ message: ConversationMessage, in scope: Scope, maxMessages: Int?
    ) async throws -> StreamingReply {
        StreamingReply(
            message, scope: scope, writer: try await saveReply(message, in: scope, maxMessages: maxMessages))
    }

    /// Saves the first increment of a reply and returns the writer of later increments.
    func saveReply(
        _ message: ConversationMessage, in scope: Scope, maxMessages: Int? = nil
    ) async throws -> HistoryReplyWriter {
        try message.checkSavable()
        var message = message
        message.isStreaming = false
        let (writer, saved) = try await write { [message, recovery, connection] db, cache in
            let saved = try Self.prepareToBegin(for: message, in: scope, recovery, db, cache)
            let lock = try connection.replyWriters?.enter()
            let reply = try StreamingReplies.begin(message, in: scope, writer: lock?.writer ?? "", db)
            let writer = HistoryReplyWriter(
                history: self, reply: reply, scope: scope, maxMessages: maxMessages, lock: lock)
            return (writer, saved)
        }
        saved.forEach(events.post)
        return writer
    }

    /// Saves an interrupted reply of the message's ID. Throws `invalidArgument` if a living process still writes the
    /// reply, or if the end of this one would replace content: that of a complete reply, of an interrupted one not
    /// continued by this one, or of a message of another role, of this agent or of none.
    private static func prepareToBegin(
        for message: ConversationMessage, in scope: Scope, _ recovery: ReplyRecovery?, _ db: Database,
        _ cache: WriterCache
    ) throws -> [StoreEvent] {
        let saved = try saveAbandoned(message.id, in: scope, recovery, db, cache)
        let unassigned = scope.session.scope(agentId: "")
        guard
            let row = try ScopeRow.find(scope, db, with: cache.lookUp)
                ?? ScopeRow.find(unassigned, db, with: cache.lookUp),
            let held = try cache.pending.find(message.id, in: row, db, derivedID: cache.derivedID),
            let known = try MessageQueries.message(held.sequence, db)
        else { return saved }
        try message.checkBeginsReply(beside: known, in: scope)
        return saved
    }

    /// Saves a streaming reply of an ended process as an interrupted one.
    /// - Throws: `invalidArgument` if a living process still writes it.
    private static func saveAbandoned(
        _ id: String, in scope: Scope, _ recovery: ReplyRecovery?, _ db: Database, _ cache: WriterCache
    ) throws -> [StoreEvent] {
        guard let session = try MessageQueries.number(of: scope.session, db) else { return [] }
        let writers = try StreamingReplies.writers(ofReply: id, scope.agentId, in: [session], db)
        guard !writers.isEmpty else { return [] }
        let saved = try recovery?.run(for: writers, db, cache) ?? []
        guard try StreamingReplies.writers(ofReply: id, scope.agentId, in: [session], db).isEmpty else {
            throw StreamingReply.alreadyStreaming
        }
        return saved
    }

    /// Turns a streaming reply into a message and trims its scope. Returns the message as saved, if no saved message had
    /// the content of the reply already, and as given.
    func endReply(
        _ reply: ReplyRowID, begunIn scope: Scope, as message: ConversationMessage, isAppended: Bool, maxMessages: Int?
    ) async throws -> [SavedReply] {
        let kept = try await savingAttachments(of: [message])
        return try await write(keeping: kept) { [retention = configuration.retention] messages, db, cache in
            let ending = EndReplyOperation(
                reply: reply, message: messages[0], isAppended: isAppended, scope: scope, maxMessages: maxMessages,
                retention: retention)
            let result = try ending.run(db, cache)
            return ([result.saved, result.given].compactMap { $0 }, result.orphans)
        }
    }

    /// Returns the streaming replies of a session: see `HistoryStore`. Interrupted replies are saved as messages
    /// first. While the disk is full or read-only, they are returned instead, and saved later.
    public func streamingReplies(
        in session: SessionKey
    ) async throws -> [AgentMessage] {
        var rows = try await read { try StreamingReplies.all(of: session, $0) }
        do {
            if try await saveAbandoned(rows) {
                rows = try await read { try StreamingReplies.all(of: session, $0) }
            }
        } catch let error as RecollectError where [.diskFull, .readOnly, .permissionDenied].contains(error.code) {
            configuration.logger.warning("interrupted replies will be saved later: \(error)")
        }
        return rows.map { row in
            var message = row.message
            message.isStreaming = true
            return AgentMessage(agentId: row.scope.agentId, message: message)
        }
    }

    /// Saves the interrupted replies among the given streaming replies. Returns whether there were any.
    private func saveAbandoned(_ rows: [StreamingReplies.Row]) async throws -> Bool {
        guard let recovery, !rows.isEmpty else { return false }
        // Locks are checked before a write: most writers live, and a write for each check would cost too much.
        let ended = try await blocking {
            Set(rows.map(\.writer)).filter { recovery.writers.hasEnded($0) }
        }
        guard !ended.isEmpty else { return false }
        try await write { try recovery.run(for: ended, $0, $1) }.forEach(events.post)
        return true
    }

    /// Saves the streaming replies of a session begun by some writers, living or ended, after their turns have lost its lease.
    /// Returns the events to post after the commit.
    func saveReplies(
        of session: SessionKey, begunBy writers: Set<String>, _ db: Database, _ cache: WriterCache
    ) throws -> [StoreEvent] {
        guard let recovery, !writers.isEmpty else { return [] }
        return try StreamingReplies.all(of: session, db).filter { writers.contains($0.writer) }
            .flatMap { try recovery.save($0, db, cache) }
    }

    private var recovery: ReplyRecovery? {
        connection.replyWriters.map {
            ReplyRecovery(writers: $0, attachments: attachments, retention: configuration.retention)
        }
    }
}
