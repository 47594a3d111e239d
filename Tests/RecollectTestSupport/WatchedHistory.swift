import Foundation
import RecollectCore

/// A history that records reads and can hold back the results of lists, sessions, edits and updates. It ignores cancellation, as any history may.
package final class WatchedHistory: HistoryStore {
    package enum Read: Hashable, Sendable {
        case list(text: String)
        case session(String)
        case messages
        case search(String)
        case latestChangeCursor
        case changes
        case message(String)
        case edit
        case update
    }

    private struct State {
        var reads: [Read] = []
        var held: Set<Read> = []
        var waiting: [Read: [CheckedContinuation<Void, Never>]] = [:]
        var watchers: [AsyncStream<Void>.Continuation] = []
        var failure: RecollectError?
    }

    private let base: any HistoryStore
    private let state = Locked(State())

    package init(_ base: any HistoryStore) {
        self.base = base
    }

    package var events: StoreEvents { base.events }

    /// Returns the reads since the last call.
    package func takeReads() -> [Read] {
        state.withLock { state in
            defer { state.reads = [] }
            return state.reads
        }
    }

    /// Makes every list throw from now on; `nil` ends that.
    package func fail(_ error: RecollectError?) {
        state.withLock { $0.failure = error }
    }

    /// Holds back the current result of such a read until `letGo`.
    package func hold(_ read: Read) {
        _ = state.withLock { $0.held.insert(read) }
    }

    /// Waits until such a read is held back.
    package func waitForHeld(_ read: Read) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        state.withLock { $0.watchers.append(continuation) }
        continuation.yield()
        for await _ in stream where state.withLock({ $0.waiting[read] != nil }) { return }
    }

    package func letGo(_ read: Read) {
        let waiting = state.withLock { state in
            state.held.remove(read)
            return state.waiting.removeValue(forKey: read) ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    private func holdBack(_ read: Read) async {
        await withCheckedContinuation { continuation in
            let watchers: [AsyncStream<Void>.Continuation]? = state.withLock { state in
                guard state.held.contains(read) else { return nil }
                state.waiting[read, default: []].append(continuation)
                return state.watchers
            }
            if watchers == nil { continuation.resume() }
            for watcher in watchers ?? [] { watcher.yield() }
        }
    }

    private func note(_ read: Read) {
        state.withLock { $0.reads.append(read) }
    }

    // MARK: Recorded calls

    package func sessions(
        _ query: SessionQuery, page: PageRequest<SessionCursor>
    ) async throws -> Page<Session, SessionCursor> {
        note(.list(text: query.text))
        if let failure = state.withLock({ $0.failure }) { throw failure }
        let found = try await Task { try await base.sessions(query, page: page) }.value
        await holdBack(.list(text: query.text))
        return found
    }

    package func session(_ session: SessionKey) async throws -> Session? {
        note(.session(session.sessionId))
        let found = try await Task { try await base.session(session) }.value
        await holdBack(.session(session.sessionId))
        return found
    }

    package func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        note(.search(query.text))
        return try await Task { try await base.search(query) }.value
    }

    package func latestChangeCursor() async throws -> ChangeCursor {
        note(.latestChangeCursor)
        return try await base.latestChangeCursor()
    }

    package func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        note(.changes)
        return base.changes(after: cursor)
    }

    // MARK: Forwarded calls

    package func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome {
        try await base.append(messages, to: scope, options: options)
    }

    package func update(
        _ session: SessionKey, with details: SessionDetails, createIfMissing: Bool
    ) async throws -> Bool {
        let isThere = try await Task { try await base.update(session, with: details, createIfMissing: createIfMissing) }
            .value
        await holdBack(.update)
        return isThere
    }

    package func fork(
        _ session: SessionKey, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws {
        try await base.fork(session, at: messageId, agentId: agentId, into: newSessionId)
    }

    package func edit(_ messages: [ConversationMessage], in session: SessionKey) async throws -> Int {
        try await base.edit(messages, in: session)
    }

    package func edit(_ edits: [MessageEdit], in session: SessionKey) async throws -> [MessageEdit] {
        let made = try await Task { try await base.edit(edits, in: session) }.value
        await holdBack(.edit)
        return made
    }

    package func moveSession(_ session: SessionKey, to newSessionId: String) async throws -> Bool {
        try await base.moveSession(session, to: newSessionId)
    }

    package func branch(
        _ session: SessionKey, from messageId: String, agentId: String?
    ) async throws -> SessionKey {
        try await base.branch(session, from: messageId, agentId: agentId)
    }

    package func branches(of session: SessionKey) async throws -> [Session] {
        try await base.branches(of: session)
    }

    package func restoreBranch(_ branch: SessionKey, in session: SessionKey) async throws {
        try await base.restoreBranch(branch, in: session)
    }

    package func discardSession(_ session: SessionKey) async throws -> Bool {
        try await base.discardSession(session)
    }

    package func restoreSession(_ session: SessionKey) async throws -> Bool {
        try await base.restoreSession(session)
    }

    package func beginReply(
        _ message: ConversationMessage, in scope: Scope, maxMessages: Int?
    ) async throws -> StreamingReply {
        try await base.beginReply(message, in: scope, maxMessages: maxMessages)
    }

    package func streamingReplies(
        in session: SessionKey
    ) async throws -> [AgentMessage] {
        try await base.streamingReplies(in: session)
    }

    package func deleteMessages(_ ids: [String], in session: SessionKey) async throws -> Int {
        try await base.deleteMessages(ids, in: session)
    }

    package func delete(
        _ messages: [ConversationMessage], in session: SessionKey
    ) async throws -> [ConversationMessage] {
        try await base.delete(messages, in: session)
    }

    package func deleteSession(_ session: SessionKey) async throws -> Bool {
        try await base.deleteSession(session)
    }

    package func deleteUser(_ userId: String) async throws {
        try await base.deleteUser(userId)
    }

    package func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await base.window(of: scope, maxMessages: maxMessages)
    }

    package func windowOfWholeExchanges(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await base.windowOfWholeExchanges(of: scope, maxMessages: maxMessages)
    }

    package func compact(
        _ messages: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
        after previousId: String?
    ) async throws -> Compaction {
        try await base.compact(messages, of: scope, into: summary, by: author, after: previousId)
    }

    package func compactedMessages(of scope: Scope) async throws -> CompactedMessages {
        try await base.compactedMessages(of: scope)
    }

    package func compactions(of scope: Scope) async throws -> [Compaction] {
        try await base.compactions(of: scope)
    }

    package func removeCompaction(_ id: String, of scope: Scope) async throws -> Bool {
        try await base.removeCompaction(id, of: scope)
    }

    package func windows(
        of session: SessionKey
    ) async throws -> [AgentMessages] {
        try await base.windows(of: session)
    }

    package func sessions(
        of userId: String, sessionIdPrefix prefix: String, limit: Int
    ) async throws -> [Session] {
        try await base.sessions(of: userId, sessionIdPrefix: prefix, limit: limit)
    }

    package func messages(
        of session: SessionKey, agentId: String?, page: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        let found = try await Task { try await base.messages(of: session, agentId: agentId, page: page) }.value
        await holdBack(.messages)
        return found
    }

    package func message(_ id: String, in session: SessionKey, agentId: String?) async throws -> StoredMessage? {
        note(.message(id))
        return try await base.message(id, in: session, agentId: agentId)
    }

    package func attachment(sha256: String, userId: String) async throws -> Data {
        try await base.attachment(sha256: sha256, userId: userId)
    }

    package func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        try await base.changes(after: cursor, limit: limit)
    }
}
