extension ChatStorage {
    /// Copies scopes, as returned by `fetch`, to another chat store. This store is only read.
    ///
    /// A chat store has no list of its scopes, so the caller names them; `FileChatStorage.scopes(of:)` returns those of
    /// a file store. One scope at a time is read, saved in one batch, read back and compared. An existing scope of the
    /// target is completed: its messages stay, and missing ones are appended. An interrupted migration can be repeated
    /// until it is complete; no message is copied twice.
    ///
    /// A target with the same-role rule also drops messages here, reported as `verificationFailed`; create it with `sameRole:
    /// .keep`.
    ///
    /// Cancellation ends the migration before the next scope.
    /// - Parameters:
    ///   - scopes: The scopes to copy, each once.
    ///   - target: The store to write.
    ///   - progress: Called after each scope, on any thread; scopes are counted as sessions.
    /// - Throws: `conflict` if the target has different content under a message's ID. Such scopes are left unchanged;
    ///   the error is thrown after all others are copied. `verificationFailed`, immediately, if the target returns different
    ///   content than was saved. Errors of the stores.
    @discardableResult
    public func migrate(
        _ scopes: [Scope], to target: any ChatStorage,
        progress: @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws -> MigrationReport {
        let migration = ChatMigration(target: target)
        var report = MigrationReport()
        var conflicts = MigrationConflicts()
        for (number, scope) in scopes.enumerated() {
            try Task.checkCancellation()
            let messages = try await fetch(
                userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
            let added = try await conflicts.collecting(sessionId: scope.sessionId) {
                try await migration.move(messages, to: scope)
            }
            if let added { report.count(messages: messages.count, added: added, isMoved: added > 0) }
            progress(
                MigrationProgress(sessions: number + 1, sessionsTotal: scopes.count, messages: report.messageCount))
        }
        try conflicts.throwIfAny()
        return report
    }
}

extension HistoryStore {
    /// Copies all sessions of a user to a chat store, the least recently accessed first. This history is
    /// only read.
    ///
    /// Every message is copied with the bytes of its attachments, including those outside an agent's window. Details,
    /// tags and branch points cannot be stored in a chat store. Otherwise the same as `ChatStorage.migrate(_:to:progress:)`;
    /// one scope at a time is in memory.
    @discardableResult
    public func migrate(
        user userId: String, to target: any ChatStorage,
        progress: @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws -> MigrationReport {
        let migration = ChatMigration(target: target)
        var report = MigrationReport()
        var conflicts = MigrationConflicts()
        var state = try await MigrationProgress.beginning(user: userId, in: self)
        try await forEachSession(of: userId) { session, _ in
            var (messages, added) = (0, 0)
            for agentId in session.agentIds {
                let stored = try await allMessages(of: session.id, agentId: agentId)
                added +=
                    try await conflicts.collecting(sessionId: session.id.sessionId) {
                        try await migration.move(stored, to: session.id.scope(agentId: agentId))
                    } ?? 0
                messages += stored.count
            }
            report.count(messages: messages, added: added, isMoved: added > 0)
            state.sessions += 1
            state.messages += messages
            progress(state)
        }
        try conflicts.throwIfAny()
        return report
    }
}

/// The migration of one scope at a time into a chat store, with a comparison after each save.
private struct ChatMigration {
    let target: any ChatStorage

    /// Copies messages to a scope and returns the number of new ones.
    func move(_ messages: [ConversationMessage], to scope: Scope) async throws -> Int {
        var known = try await kept(in: scope)
        var missing: [ConversationMessage] = []
        for message in messages {
            let id = ByteString(message.id)
            if let kept = known[id] {
                guard let field = MessageDifference.field(message, kept) else { continue }
                throw RecollectError.conflict(session: scope.sessionId, message: message.id, field: field)
            }
            known[id] = message
            missing.append(message)
        }
        guard !missing.isEmpty else { return 0 }
        try Task.checkCancellation()
        try await target.saveMessages(
            missing, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
        let saved = try await kept(in: scope)
        for message in missing {
            guard let kept = saved[ByteString(message.id)] else {
                throw RecollectError.verificationFailed(
                    session: scope.sessionId,
                    "message \(message.id) is missing after it was saved; if the store drops messages of a repeated "
                        + "role, create it with `sameRole: .keep`")
            }
            if let field = MessageDifference.field(message, kept) {
                throw RecollectError.verificationFailed(session: scope.sessionId, message: message.id, field: field)
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
    /// Returns all messages of an agent in a session, read by pages, with the bytes of their attachments.
    fileprivate func allMessages(of id: SessionKey, agentId: String) async throws -> [ConversationMessage] {
        var all: [ConversationMessage] = []
        try await forEachPage(of: id, agentId: agentId, pageSize: 500) { page in
            all += try await restoringAttachments(of: page.map(\.message), userId: id.userId)
        }
        return all
    }
}
