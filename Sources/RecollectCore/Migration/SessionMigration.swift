/// Brings all sessions of one session storage into another, with their messages; the source is only read.
///
/// One session at a time is read, written, read back and compared field by field, the one that was accessed first before all
/// others: so the target, which has dates of its own, lists them in the source's order. A session that the target already
/// has is completed: its own messages stay, and those that it lacks are put where the source has them. What is there
/// already costs reading it, so a migration that was interrupted is run again until it is done; nothing comes twice.
///
/// A session's `createdAt`, `workingDirectory` and `branchName` have no place in `SessionStorageProtocol`; they move along
/// between two histories (`migrate(user:from:to:)`).
///
/// Runs where it is called, and so do the storages. Cancelling ends it before the next session.
/// - Parameters:
///   - source: where the sessions are.
///   - target: where they are brought.
///   - progress: is called after each session.
/// - Throws: `conflict` where the target holds other content under a message's id; such sessions are left as they are, all
///   others are moved first. `notKept`, at once, where the target gives back something else than was saved. What the
///   storages throw.
@discardableResult
public nonisolated(nonsending) func migrate(
    from source: any SessionStorageProtocol, to target: any SessionStorageProtocol,
    progress: (MigrationProgress) -> Void = { _ in }
) async throws -> MigrationReport {
    let migration = SessionMigration(source: source, target: target)
    var report = MigrationReport()
    var conflicts = MigrationConflicts()
    let ids = try await migration.sessionIds()
    for (number, id) in ids.enumerated() {
        try Task.checkCancellation()
        let moved = try await conflicts.collecting(sessionId: id) { try await migration.move(id) }
        if let moved, let moved { report.count(messages: moved.messages, added: moved.added, isMoved: moved.isMoved) }
        progress(MigrationProgress(sessions: number + 1, sessionsTotal: ids.count, messages: report.messages))
    }
    try conflicts.tell()
    return report
}

/// The steps of a migration between two session storages.
private struct SessionMigration {
    let source: any SessionStorageProtocol
    let target: any SessionStorageProtocol

    /// The source's sessions, the one that was accessed first before all others.
    nonisolated(nonsending) func sessionIds() async throws -> [String] {
        // Only ids and dates are held on to: a storage may list sessions with all their messages.
        let listed = try await source.getAllSessions().enumerated().map { ($0, $1.id, $1.lastAccessedAt) }
        return listed.sorted { ($0.2, $1.0) < ($1.2, $0.0) }.map(\.1)
    }

    /// Moves one session; `nil` for one that is gone meanwhile.
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

    /// What the target is to hold: its own messages, and those that it lacks, each behind the one it follows in the source.
    private func merge(
        _ session: StoredSession, into known: [ChatMessage]
    ) throws -> (messages: [ChatMessage], added: Int) {
        let places = Dictionary(known.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        var additions: [Int: [ChatMessage]] = [:]
        var previous = -1
        for message in session.messages {
            guard let place = places[message.id] else {
                additions[previous, default: []].append(message)
                continue
            }
            if let field = MessageDifference.field(message, known[place]) {
                throw RecollectError.conflict(session: session.id, message: message.id.uuidString, field: field)
            }
            previous = place
        }
        let merged = known.enumerated().reduce(into: additions[-1] ?? []) { merged, entry in
            merged.append(entry.element)
            merged += additions[entry.offset] ?? []
        }
        return (merged, merged.count - known.count)
    }

    /// Reads a session back and compares it with what was saved.
    private nonisolated(nonsending) func verify(
        _ session: StoredSession, isNew: Bool, saved: [ChatMessage]
    ) async throws {
        guard let kept = try await target.getSession(id: session.id) else {
            throw RecollectError.notKept(session: session.id, "the target does not have it after it was saved")
        }
        if isNew, !kept.firstUserMessage.hasSameBytes(as: session.firstUserMessage) {
            throw RecollectError.notKept(session: session.id, "its `firstUserMessage` reads back as something else")
        }
        var rest = kept.messages[...]
        for message in saved {
            let id = message.id.uuidString
            guard let place = rest.firstIndex(where: { $0.id == message.id }) else {
                throw RecollectError.notKept(
                    session: session.id, "message \(id) is missing or out of order after it was saved")
            }
            if let field = MessageDifference.field(message, rest[place]) {
                throw RecollectError.notKept(session: session.id, message: id, field: field)
            }
            rest = rest[(place + 1)...]
        }
    }
}
