/// Brings scopes of one chat storage into another: what `fetch` gives of them; the source is only read.
///
/// A chat storage cannot list what it holds, so the scopes are named: `FileChatStorage.scopes(of:)` tells its own. One
/// scope at a time is read, saved in one batch, read back and compared. A scope that the target already has is completed:
/// its own messages stay, what it lacks is appended. A migration that was interrupted is run again until it is done; nothing
/// comes twice.
///
/// A target that drops messages of a repeated role does so here too, which is then told as `notKept`: make it with
/// `sameRole: .keep`.
///
/// Cancelling ends it before the next scope.
/// - Parameters:
///   - scopes: what to bring; each once.
///   - source: where they are.
///   - target: where they are brought.
///   - progress: is called after each scope, on any thread; it counts scopes as sessions.
/// - Throws: `conflict` where the target holds other content under a message's id; such scopes are left as they are, all
///   others are moved first. `notKept`, at once, where the target gives back something else than was saved. What the
///   storages throw.
@discardableResult
public func migrate(
    _ scopes: [Scope], from source: any ChatStorage, to target: any ChatStorage,
    progress: @Sendable (MigrationProgress) -> Void = { _ in }
) async throws -> MigrationReport {
    let migration = ChatMigration(target: target)
    var report = MigrationReport()
    var conflicts = MigrationConflicts()
    for (number, scope) in scopes.enumerated() {
        try Task.checkCancellation()
        let messages = try await source.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
        let added = try await conflicts.collecting(sessionId: scope.sessionId) {
            try await migration.move(messages, to: scope)
        }
        if let added { report.count(messages: messages.count, added: added, isMoved: added > 0) }
        progress(MigrationProgress(sessions: number + 1, sessionsTotal: scopes.count, messages: report.messages))
    }
    try conflicts.tell()
    return report
}

/// Brings all conversations of a user out of a history into a chat storage, the one that was accessed first before all others;
/// the history is only read.
///
/// Every message moves, with the bytes of its attachments, also those that have left an agent's window; details, tags and
/// branches have no place in a chat storage. Otherwise as `migrate(_:from:to:progress:)`; one scope at a time is in memory.
@discardableResult
public func migrate(
    user userId: String, from source: any HistoryStore, to target: any ChatStorage,
    progress: @Sendable (MigrationProgress) -> Void = { _ in }
) async throws -> MigrationReport {
    let migration = ChatMigration(target: target)
    var report = MigrationReport()
    var conflicts = MigrationConflicts()
    var state = try await MigrationProgress.beginning(user: userId, in: source)
    try await source.forEachConversation(of: userId) { conversation, _ in
        var (messages, added) = (0, 0)
        for agentId in conversation.agents {
            let stored = try await source.allMessages(of: conversation.id, agentId: agentId)
            added +=
                try await conflicts.collecting(sessionId: conversation.id.sessionId) {
                    try await migration.move(stored, to: conversation.id.scope(agentId: agentId))
                } ?? 0
            messages += stored.count
        }
        report.count(messages: messages, added: added, isMoved: added > 0)
        state.sessions += 1
        state.messages += messages
        progress(state)
    }
    try conflicts.tell()
    return report
}

/// Saves one scope's messages and compares what the storage then has.
private struct ChatMigration {
    let target: any ChatStorage

    /// Moves messages to a scope; how many of them are new there.
    func move(_ messages: [ConversationMessage], to scope: Scope) async throws -> Int {
        let known = try await kept(in: scope)
        let missing = try messages.filter { message in
            guard let kept = known[ByteString(message.id)] else { return true }
            if let field = MessageDifference.field(message, kept) {
                throw RecollectError.conflict(session: scope.sessionId, message: message.id, field: field)
            }
            return false
        }
        guard !missing.isEmpty else { return 0 }
        try Task.checkCancellation()
        try await target.saveMessages(
            missing, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
        let saved = try await kept(in: scope)
        for message in missing {
            guard let kept = saved[ByteString(message.id)] else {
                throw RecollectError.notKept(
                    session: scope.sessionId,
                    "message \(message.id) is missing after it was saved; a storage that drops messages of a repeated "
                        + "role is made with `sameRole: .keep` for this")
            }
            if let field = MessageDifference.field(message, kept) {
                throw RecollectError.notKept(session: scope.sessionId, message: message.id, field: field)
            }
        }
        return missing.count
    }

    private func kept(in scope: Scope) async throws -> [ByteString: ConversationMessage] {
        let messages = try await target.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
        return Dictionary(messages.map { (ByteString($0.id), $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension HistoryStore {
    /// All messages of one agent of a conversation, read by pages, with the bytes of their attachments.
    fileprivate func allMessages(of id: ConversationID, agentId: String) async throws -> [ConversationMessage] {
        var all: [ConversationMessage] = []
        var request = PageRequest<MessageCursor>(limit: 500)
        while true {
            let page = try await messages(of: id, agentId: agentId, page: request)
            all += try await restoringAttachments(of: page.elements.map(\.message))
            guard let next = page.next else { return all }
            request = PageRequest(limit: 500, after: next)
        }
    }
}
