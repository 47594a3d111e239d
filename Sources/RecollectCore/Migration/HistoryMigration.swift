extension HistoryStore {
    /// Copies all data of a user to another history. This history is only read.
    ///
    /// The copy includes sessions with all agents' messages in order, attachments, titles, tags and other
    /// details. One session at a time is appended page by page, read back and compared, the least recently accessed
    /// first. An existing session of the target is completed: its messages and details stay, and missing ones are
    /// added. Complete sessions are only read, so an interrupted migration can be repeated until it is complete; no
    /// message is copied twice.
    ///
    /// Discarded sessions and their branches stay discarded. A branch becomes an archived session with its branch point
    /// in the metadata under `branchPoint` (`sessionId`, `messageId`). A streaming reply is copied by a later migration,
    /// after it has become a message. Windows and compactions are not copied: an agent gets all its messages until its next
    /// save trims them, or until they are summarized again.
    ///
    /// A later migration copies the changes of the source during this one. If a copied message was edited in the source,
    /// it throws `conflict`.
    ///
    /// Cancellation ends the migration before the next page.
    /// - Parameters:
    ///   - userId: The owner of the sessions, in both histories.
    ///   - target: The history to write.
    ///   - progress: Called after each session and each page, on any thread.
    /// - Throws: `conflict` if the target has different content under a message's ID. Such sessions are left unchanged;
    ///   the error is thrown after all others are copied. `verificationFailed`, immediately, if the target returns different
    ///   content than was saved. Errors of the histories.
    @discardableResult
    public func migrate(
        user userId: String, to target: any HistoryStore,
        progress: @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws -> MigrationReport {
        var report = MigrationReport()
        var conflicts = MigrationConflicts()
        var state = try await MigrationProgress.beginning(user: userId, in: self)
        try await forEachSession(of: userId) { session, isDiscarded in
            let before = state.messages
            let moved = try await conflicts.collecting(sessionId: session.id.sessionId) {
                var migration = HistorySessionMigration(
                    session, isDiscarded: isDiscarded, from: self, to: target)
                return try await migration.run { count in
                    state.messages = before + count
                    progress(state)
                }
            }
            if let moved { report = report + moved }
            state.sessions += 1
            state.messages = before + session.messageCount
            progress(state)
        }
        try conflicts.throwIfAny()
        return report
    }
}

extension MigrationProgress {
    /// Returns the progress before the migration of a user's first session.
    static func beginning(user userId: String, in source: any HistoryStore) async throws -> MigrationProgress {
        var (sessions, messages) = (0, 0)
        try await source.forEachSession(of: userId) { session, _ in
            sessions += 1
            messages += session.messageCount
        }
        return MigrationProgress(sessionsTotal: sessions, messagesTotal: messages)
    }
}

extension HistoryStore {
    /// Calls `body` for each session of a user, including discarded ones and branches.
    ///
    /// Sessions that are discarded come first. Each group is read by pages, the least recently accessed session
    /// first, and a branch comes before its session.
    /// - Parameter body: Gets each session and whether it, or the session of the branch, is discarded.
    func forEachSession(
        of userId: String, _ body: (_ session: Session, _ isDiscarded: Bool) async throws -> Void
    ) async throws {
        for isDiscarded in [true, false] {
            let query = SessionQuery(
                userId: userId, order: .lastAccess, isReversed: true, isDiscarded: isDiscarded)
            try await forEachPage(of: query) { page in
                for session in page { try await visit(session, isDiscarded, body) }
            }
        }
    }

    private func visit(
        _ session: Session, _ isDiscarded: Bool, _ body: (Session, Bool) async throws -> Void
    ) async throws {
        for branch in try await branches(of: session.id) { try await visit(branch, isDiscarded, body) }
        try Task.checkCancellation()
        try await body(session, isDiscarded)
    }
}
