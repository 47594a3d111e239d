/// Brings all that a history has of a user into another history: conversations with all their agents' messages in the order of
/// saving, attachments, titles, tags and what else is known of them; the source is only read.
///
/// One conversation at a time is appended page by page, read back and compared, the one that was accessed first before all
/// others. A conversation that the target already has is completed: its own messages, title and so on stay, what it lacks is
/// appended. Reading is all that is done to one that is there already, so a migration that was interrupted is run again
/// until it is done; nothing comes twice.
///
/// Discarded conversations and their branches stay discarded. A branch becomes an archived conversation, whose metadata tells under `branchOf`
/// (`sessionId`, `messageId`) where it left. A reply in flight comes with a later run, when it is a message. Windows are not
/// moved: an agent sees all its messages until its next save trims.
///
/// Cancelling ends it before the next page.
/// - Parameters:
///   - userId: whose conversations to bring; they stay this user's.
///   - source: where they are.
///   - target: where they are brought.
///   - progress: is called after each conversation and each page, on any thread.
/// - Throws: `conflict` where the target holds other content under a message's id; such conversations are left as they are,
///   all others are moved first. `notKept`, at once, where the target gives back something else than was saved. What the
///   histories throw.
@discardableResult
public func migrate(
    user userId: String, from source: any HistoryStore, to target: any HistoryStore,
    progress: @Sendable (MigrationProgress) -> Void = { _ in }
) async throws -> MigrationReport {
    var report = MigrationReport()
    var conflicts = MigrationConflicts()
    var state = try await MigrationProgress.beginning(user: userId, in: source)
    try await source.forEachConversation(of: userId) { conversation, isDiscarded in
        let before = state.messages
        let moved = try await conflicts.collecting(sessionId: conversation.id.sessionId) {
            var migration = ConversationMigration(
                conversation, isDiscarded: isDiscarded, from: source, to: target)
            return try await migration.run { count in
                state.messages = before + count
                progress(state)
            }
        }
        if let moved { report = report + moved }
        state.sessions += 1
        state.messages = before + conversation.messageCount
        progress(state)
    }
    try conflicts.tell()
    return report
}

extension MigrationProgress {
    /// The progress before the first of a user's conversations is moved.
    static func beginning(user userId: String, in source: any HistoryStore) async throws -> MigrationProgress {
        var (sessions, messages) = (0, 0)
        try await source.forEachConversation(of: userId) { conversation, _ in
            sessions += 1
            messages += conversation.messageCount
        }
        return MigrationProgress(sessionsTotal: sessions, messagesTotal: messages)
    }
}

extension HistoryStore {
    /// Goes through a user's conversations, discarded ones and branches too, by pages: the one that was accessed first before
    /// all others, a branch before the conversation that it left.
    /// - Parameter body: Gets each conversation and whether it, or the conversation of the branch, is discarded.
    func forEachConversation(
        of userId: String, _ body: (_ conversation: Conversation, _ isDiscarded: Bool) async throws -> Void
    ) async throws {
        for isDiscarded in [true, false] {
            let query = ConversationQuery(
                userId: userId, order: .lastAccess, isReversed: true, isDiscarded: isDiscarded)
            var request = PageRequest<ConversationCursor>(limit: 200)
            while true {
                let page = try await conversations(query, page: request)
                for conversation in page.elements { try await visit(conversation, isDiscarded, body) }
                guard let next = page.next else { break }
                request = PageRequest(limit: 200, after: next)
            }
        }
    }

    private func visit(
        _ conversation: Conversation, _ isDiscarded: Bool, _ body: (Conversation, Bool) async throws -> Void
    ) async throws {
        for branch in try await branches(of: conversation.id) { try await visit(branch, isDiscarded, body) }
        try Task.checkCancellation()
        try await body(conversation, isDiscarded)
    }
}
