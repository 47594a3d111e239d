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
    private let author: String
    private let events: StoreEvents
    private let pause: @Sendable () async throws -> Void
    private let summarizer: ChatSummarizer
    private let state = Locked(State())

    init(
        storage: any ChatStorage, triggerAt: Int, keepLast: Int, author: String, events: StoreEvents,
        pause: @escaping @Sendable () async throws -> Void, summarizer: @escaping ChatSummarizer
    ) {
        self.storage = storage
        self.keepLast = min(max(keepLast, 1), 1 << 30)
        self.triggerAt = min(max(triggerAt, self.keepLast), 1 << 30)
        self.author = author
        self.events = events
        self.pause = pause
        self.summarizer = summarizer
    }

    /// Returns a scope as given to agents, after waiting for a due summary to be saved, fail or time out.
    func chat(of scope: Scope) async throws -> CompactedMessages {
        let chat = try await stored(scope)
        let turns = TurnBoundaries(chat.messages)
        remember(turns.count, of: scope)
        guard turns.count - (turns.isLastUnanswered ? 1 : 0) > triggerAt, !hasFailed(in: scope) else { return chat }
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

    /// Summarizes all turns but the last `keepLast`, if there are more than `triggerAt`, in parts.
    private func summarize(_ scope: Scope) async throws {
        var chat = try await stored(scope)
        var turns = TurnBoundaries(chat.messages)
        var isStarted = false
        while turns.count > (isStarted ? keepLast : triggerAt) {
            let covered = Array(turns.first(min(turns.count - keepLast, Self.maxTurnsPerCall)))
            let text = try await summarizer(chat.compaction?.summary, covered)
            guard text.contains(where: { !$0.isWhitespace }) else {
                throw RecollectError(.unreadable, "the summarizer returned an empty summary; the previous one is kept")
            }
            do {
                try await storage.compact(
                    covered, into: text, by: author, after: chat.compaction?.id, userId: scope.userId,
                    sessionId: scope.sessionId, agentId: scope.agentId)
                isStarted = turns.count - keepLast > Self.maxTurnsPerCall
            } catch let error as RecollectError where error.code == .conflict || error.code == .notFound {
                // Another process has made a summary, or messages were edited or deleted meanwhile, perhaps with their session.
                isStarted = false
            }
            chat = try await stored(scope)
            let isDone = !isStarted && turns.count == TurnBoundaries(chat.messages).count
            turns = TurnBoundaries(chat.messages)
            if isDone { break }
        }
        remember(turns.count, of: scope)
    }

    private func stored(_ scope: Scope) async throws -> CompactedMessages {
        try await storage.compactedMessages(userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId)
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
