import Foundation

/// Makes and keeps the summaries behind a `SummarizingChatStorage`: for each scope once at a time, whoever asks.
final class SummaryFolding: Sendable {
    /// How many turns a summarizer is given at once.
    static let longestFold = 100

    /// What is known of a scope. It may be wrong where others write; then a summary is begun a turn earlier or later.
    private struct Known {
        /// How many turns no summary covers.
        var turns: Int
        var hasFailed = false
    }

    private struct State {
        /// For each scope whose summary is being made, what opens when it is made or has taken too long.
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

    /// A scope as agents are given it, once a summary that is due has been made, has failed, or has taken too long.
    func chat(of scope: Scope) async throws -> SummarizedChat {
        let chat = try await stored(scope)
        remember(chat.turns.count, of: scope)
        guard chat.turns.count - (chat.turns.isLastUnanswered ? 1 : 0) > triggerAt, !hasFailed(in: scope) else {
            return chat
        }
        try await begin(scope).wait()
        return try await stored(scope)
    }

    /// Counts what was saved, and begins a summary if it is due.
    func note(_ messages: [ConversationMessage], in scope: Scope) {
        let said = messages.count { $0.role == .user && !$0.belongsToToolExchange }
        let turns = state.withLock { state in
            state.known[scope]?.turns += said
            return state.known[scope]?.turns ?? 0
        }
        if said > 0, turns > triggerAt { _ = begin(scope) }
    }

    /// Makes a summary in a task of its own, which no caller's cancellation reaches, unless one is being made.
    private func begin(_ scope: Scope) -> Latch {
        let (latch, isNew) = state.withLock { state in
            if let latch = state.making[scope] { return (latch, false) }
            let latch = Latch()
            state.making[scope] = latch
            return (latch, true)
        }
        guard isNew else { return latch }
        Task {
            // Ends early only by the cancellation below: the latch is open then in any case.
            let patience = Task { [pause] in
                try await pause()
                latch.open()
            }
            let error = await failure { try await self.fold(scope) }
            patience.cancel()
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

    /// Folds all turns but the last into the summary, if there are more than `triggerAt`.
    private func fold(_ scope: Scope) async throws {
        var chat = try await stored(scope)
        guard chat.turns.count > triggerAt else { return }
        while let fold = chat.fold(keepingLast: keepLast, atMost: Self.longestFold) {
            let text = try await summarizer(chat.summary?.message.text, Array(fold.folded))
            guard text.contains(where: { !$0.isWhitespace }) else {
                throw RecollectError(.unreadable, "the summarizer gave an empty summary; the last one stays")
            }
            let summary = StoredSummary(text: text, covering: fold.folded, leaving: fold.left)
            // Another process may have been quicker; what it covers must not be taken back.
            let isOvertaken = try await self.summary(of: scope)?.message.id != chat.storedId
            if !isOvertaken { try await save(summary, of: scope, insteadOf: chat.storedId) }
            chat = try await stored(scope)
            guard fold.isPart || (isOvertaken && chat.turns.count > triggerAt) else { break }
        }
        remember(chat.turns.count, of: scope)
    }

    private func save(_ summary: StoredSummary, of scope: Scope, insteadOf before: String?) async throws {
        let place = StoredSummary.scope(of: scope)
        try await storage.saveMessages(
            summary.batch, userId: place.userId, sessionId: place.sessionId, agentId: place.agentId, maxMessages: 2)
        // A storage that changes what it keeps would have every summary paid for and none given.
        let kept = try await self.summary(of: scope)?.message.id
        guard kept != nil, kept != before else {
            throw RecollectError(
                .notKept,
                "the storage did not keep a summary as it was saved; let it keep messages of the role system whole")
        }
    }

    /// A scope as it is stored. The summary is read first: what is read after it holds all that it covers.
    private func stored(_ scope: Scope) async throws -> SummarizedChat {
        let summary = try await summary(of: scope)
        // Enough for what is given, most of the time; all only where that does not reach back to the summary.
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

    /// How many scopes are remembered: what is forgotten is known again after the next fetch.
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

/// The error that work throws, if it does.
private func failure(of work: () async throws -> Void) async -> (any Error)? {
    do {
        try await work()
        return nil
    } catch {
        return error
    }
}
