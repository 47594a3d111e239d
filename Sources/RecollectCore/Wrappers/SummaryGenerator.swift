import Foundation

/// The generator of summaries for a `SummarizingChatStorage`, with at most one summary in progress for each scope.
final class SummaryGenerator: Sendable {
    /// The maximum number of turns in one call of the summarizer.
    static let maxTurnsPerCall = 100

    /// The recorded state of a scope. It may be out of date because of other writers; a summary then starts a turn
    /// early or late.
    private struct Known {
        /// The number of turns without a summary.
        var turns: Int
        var hasFailed = false
    }

    private struct State {
        /// The latch for each summary in progress, opened at its end or after the longest waiting time.
        var making: [Scope: Latch] = [:]
        var known: [Scope: Known] = [:]
    }

    private let storage: any ChatStorage
    private let triggerAt: Int
    private let keepLast: Int
    private let events: StoreEvents
    private let pause: @Sendable () async throws -> Void
    private let summarizer: ChatSummarizer
    private let state = Locked(State())

    init(
        storage: any ChatStorage, triggerAt: Int, keepLast: Int, events: StoreEvents,
        pause: @escaping @Sendable () async throws -> Void, summarizer: @escaping ChatSummarizer
    ) {
        self.storage = storage
        self.keepLast = min(max(keepLast, 1), 1 << 30)
        self.triggerAt = min(max(triggerAt, self.keepLast), 1 << 30)
        self.events = events
        self.pause = pause
        self.summarizer = summarizer
    }

    /// Returns a scope as given to agents, after waiting for a due summary to be saved, fail or time out.
    func chat(of scope: Scope) async throws -> SummarizedChat {
        let chat = try await stored(scope)
        remember(chat.turns.count, of: scope)
        guard chat.turns.count - (chat.turns.isLastUnanswered ? 1 : 0) > triggerAt, !hasFailed(in: scope) else {
            return chat
        }
        try await begin(scope).wait()
        return try await stored(scope)
    }

    /// Counts saved messages, and begins a summary if one is due.
    func note(_ messages: [ConversationMessage], in scope: Scope) {
        let said = messages.count { $0.role == .user && !$0.belongsToToolExchange }
        let turns = state.withLock { state in
            state.known[scope]?.turns += said
            return state.known[scope]?.turns ?? 0
        }
        if said > 0, turns > triggerAt { _ = begin(scope) }
    }

    /// Starts a summary in a separate task, unaffected by cancellation of callers, unless one is in progress.
    private func begin(_ scope: Scope) -> Latch {
        let (latch, isNew) = state.withLock { state in
            if let latch = state.making[scope] { return (latch, false) }
            let latch = Latch()
            state.making[scope] = latch
            return (latch, true)
        }
        guard isNew else { return latch }
        Task {
            // Ends early only by the cancellation below; the latch is then opened in any case.
            let maxWait = Task { [pause] in
                try await pause()
                latch.open()
            }
            let error = await failure { try await self.summarize(scope) }
            maxWait.cancel()
            self.state.withLock { state in
                state.making[scope] = nil
                state.known[scope]?.hasFailed = error != nil
            }
            if let error {
                self.events.post(StoreEvent(kind: .summaryFailed, scope: scope, failure: error))
            }
            latch.open()
        }
        return latch
    }

    /// Summarizes all turns but the last `keepLast`, if there are more than `triggerAt`.
    private func summarize(_ scope: Scope) async throws {
        var chat = try await stored(scope)
        guard chat.turns.count > triggerAt else { return }
        while let input = chat.summaryInput(keepingLast: keepLast, atMost: Self.maxTurnsPerCall) {
            let text = try await summarizer(chat.summary?.message.text, Array(input.covered))
            guard text.contains(where: { !$0.isWhitespace }) else {
                throw RecollectError(.unreadable, "the summarizer returned an empty summary; the previous one is kept")
            }
            let summary = StoredSummary(
                text: text, after: chat.summary, covering: input.covered, leaving: input.left)
            // If another process has saved a summary in the meantime, its coverage must not shrink.
            let isOvertaken = try await self.summary(of: scope)?.message.id != chat.storedId
            // Messages deleted in the meantime, perhaps with their session, must not come back in a summary.
            guard summary.uncovered(of: try await stored(scope).turns.messages) != nil else { break }
            if !isOvertaken { try await save(summary, of: scope, insteadOf: chat.storedId) }
            chat = try await stored(scope)
            guard input.isPart || (isOvertaken && chat.turns.count > triggerAt) else { break }
        }
        remember(chat.turns.count, of: scope)
    }

    private func save(_ summary: StoredSummary, of scope: Scope, insteadOf before: String?) async throws {
        let summaryScope = StoredSummary.scope(of: scope)
        try await storage.saveMessages(
            summary.batch, userId: summaryScope.userId, sessionId: summaryScope.sessionId,
            agentId: summaryScope.agentId, maxMessages: 2)
        // With a store that changes saved messages, every summary would be paid for and none used.
        let kept = try await self.summary(of: scope)?.message.id
        guard kept != nil, kept != before else {
            throw RecollectError(
                .verificationFailed,
                "the store returned a different summary than was saved; it must store system messages unchanged")
        }
    }

    /// Returns the stored state of a scope. The summary is read first, so the messages read after it include all it
    /// covers.
    private func stored(_ scope: Scope) async throws -> SummarizedChat {
        let summary = try await summary(of: scope)
        // Usually enough messages. All are read only if these do not reach back to the summary.
        let enough = 4 * min(triggerAt + keepLast, 1 << 20)
        var messages = try await messages(of: scope, last: enough)
        if messages.count >= enough, summary?.reaches(into: messages) != true {
            messages = try await self.messages(of: scope, last: nil)
        }
        return SummarizedChat(summary: summary, messages: messages)
    }

    private func summary(of scope: Scope) async throws -> StoredSummary? {
        StoredSummary(in: try await messages(of: StoredSummary.scope(of: scope), last: 2))
    }

    private func messages(of scope: Scope, last count: Int?) async throws -> [ConversationMessage] {
        try await storage.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: count)
    }

    /// The maximum number of recorded scopes. A removed scope is recorded again by its next fetch.
    private static let capacity = 1024

    private func remember(_ turns: Int, of scope: Scope) {
        state.withLock { state in
            if state.known[scope] == nil, state.known.count >= Self.capacity { state.known = [:] }
            state.known[scope, default: Known(turns: turns)].turns = turns
        }
    }

    private func hasFailed(in scope: Scope) -> Bool {
        state.withLock { $0.known[scope]?.hasFailed ?? false }
    }
}

/// Returns the error thrown by `work`; `nil` if there is none.
private func failure(of work: () async throws -> Void) async -> (any Error)? {
    do {
        try await work()
        return nil
    } catch {
        return error
    }
}
