extension SessionStorageProtocol {
    /// Copies all sessions with their messages to another session store. This store is only read.
    ///
    /// One session at a time is read, written, read back and compared field by field, the least recently accessed
    /// first. The target sets its own dates, so this order makes it list the sessions in the source's order. An
    /// existing session of the target is completed: its messages stay, and missing ones are inserted at their positions
    /// in the source. Complete sessions are only read, so an interrupted migration can be repeated until it is
    /// complete; no message is copied twice.
    ///
    /// `SessionStorageProtocol` cannot set a session's `createdAt`, `workingDirectory` and `branchName`. A migration
    /// between two histories (`HistoryStore.migrate(user:to:progress:)`) copies them.
    ///
    /// The method and the calls of the stores run in the caller's isolation. Cancellation ends the migration before
    /// the next session.
    /// - Parameters:
    ///   - target: The store to write.
    ///   - progress: Called after each session.
    /// - Throws: `conflict` if the target has different content under a message's ID. Such sessions are left unchanged;
    ///   the error is thrown after all others are copied. `verificationFailed`, immediately, if the target returns different
    ///   content than was saved. Errors of the stores.
    @discardableResult
    public nonisolated(nonsending) func migrate(
        to target: any SessionStorageProtocol,
        progress: (MigrationProgress) -> Void = { _ in }
    ) async throws -> MigrationReport {
        let migration = SessionMigration(source: self, target: target)
        var report = MigrationReport()
        var conflicts = MigrationConflicts()
        let ids = try await migration.sessionIds()
        for (number, id) in ids.enumerated() {
            try Task.checkCancellation()
            let moved = try await conflicts.collecting(sessionId: id) { try await migration.move(id) }
            if let moved, let moved {
                report.count(messages: moved.messages, added: moved.added, isMoved: moved.isMoved)
            }
            progress(MigrationProgress(sessions: number + 1, sessionsTotal: ids.count, messages: report.messageCount))
        }
        try conflicts.throwIfAny()
        return report
    }
}

/// The steps of a migration between two session stores.
private struct SessionMigration {
    let source: any SessionStorageProtocol
    let target: any SessionStorageProtocol

    /// Returns the IDs of the source's sessions, the least recently accessed first.
    nonisolated(nonsending) func sessionIds() async throws -> [String] {
        // Only IDs and dates stay in memory, because a store may list sessions with all their messages.
        let listed = try await source.getAllSessions().enumerated().map { ($0, $1.id, $1.lastAccessedAt) }
        return listed.sorted { ($0.2, $1.0) < ($1.2, $0.0) }.map(\.1)
    }

    /// Copies one session; returns `nil` if it was deleted in the meantime.
    nonisolated(nonsending) func move(
        _ id: String
    ) async throws -> (messages: Int, added: Int, isMoved: Bool)? {
        guard var session = try await source.getSession(id: id) else { return nil }
        session.messages = session.messages.eachIdOnce()
        let known = try await target.getSession(id: id)
        let merged = try merge(session, into: known?.messages ?? [])
        let isMoved = known == nil || merged.added > 0
        if known == nil { try await target.saveSession(id: id, firstMessage: session.firstUserMessage) }
        if merged.added > 0 { try await target.updateSessionMessages(id: id, messages: merged.messages) }
        if isMoved { try await verify(session, isNew: known == nil, saved: merged.messages) }
        return (session.messages.count, merged.added, isMoved)
    }

    /// Returns the new transcript: the target's messages, with each missing one after its predecessor in the
    /// source.
    private func merge(
        _ session: StoredSession, into known: [ChatMessage]
    ) throws -> (messages: [ChatMessage], added: Int) {
        let positions = Dictionary(known.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        var additions: [Int: [ChatMessage]] = [:]
        var previous = -1
        for message in session.messages {
            guard let position = positions[message.id] else {
                additions[previous, default: []].append(message)
                continue
            }
            if let field = MessageDifference.field(message, known[position]) {
                throw RecollectError.conflict(session: session.id, message: message.id.uuidString, field: field)
            }
            previous = position
        }
        let merged = known.enumerated().reduce(into: additions[-1] ?? []) { merged, entry in
            merged.append(entry.element)
            merged += additions[entry.offset] ?? []
        }
        return (merged, merged.count - known.count)
    }

    /// Reads a session back and compares it with the saved one.
    private nonisolated(nonsending) func verify(
        _ session: StoredSession, isNew: Bool, saved: [ChatMessage]
    ) async throws {
        guard let kept = try await target.getSession(id: session.id) else {
            throw RecollectError.verificationFailed(
                session: session.id, "it is missing in the target after it was saved")
        }
        if isNew, !kept.firstUserMessage.hasSameBytes(as: session.firstUserMessage) {
            throw RecollectError.verificationFailed(
                session: session.id, "its `firstUserMessage` was changed by the target")
        }
        var rest = kept.messages[...]
        for message in saved {
            let id = message.id.uuidString
            guard let position = rest.firstIndex(where: { $0.id == message.id }) else {
                throw RecollectError.verificationFailed(
                    session: session.id, "message \(id) is missing or out of order after it was saved")
            }
            if let field = MessageDifference.field(message, rest[position]) {
                throw RecollectError.verificationFailed(session: session.id, message: id, field: field)
            }
            rest = rest[(position + 1)...]
        }
    }
}
