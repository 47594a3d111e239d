import Foundation
import RecollectCore

/// A history that notes what was read and can hold lists and conversations back. It never looks whether its caller still wants to
/// know, which no history has to.
package final class WatchedHistory: HistoryStore {
    package enum Read: Hashable, Sendable {
        case list(text: String)
        case conversation(String)
        case search(String)
        case latestChange
        case changes
        case message(String)
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

    /// What was read since this was asked for last.
    package func takeReads() -> [Read] {
        state.withLock { state in
            defer { state.reads = [] }
            return state.reads
        }
    }

    /// Fails every list from now on; `nil` ends that.
    package func fail(_ error: RecollectError?) {
        state.withLock { $0.failure = error }
    }

    /// Holds back what such a read has found, as it is now, until it is let go.
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

    // MARK: What is watched

    package func conversations(
        _ query: ConversationQuery, page: PageRequest<ConversationCursor>
    ) async throws -> Page<Conversation, ConversationCursor> {
        note(.list(text: query.text))
        if let failure = state.withLock({ $0.failure }) { throw failure }
        let found = try await Task { try await base.conversations(query, page: page) }.value
        await holdBack(.list(text: query.text))
        return found
    }

    package func conversation(_ conversation: ConversationID) async throws -> Conversation? {
        note(.conversation(conversation.sessionId))
        let found = try await Task { try await base.conversation(conversation) }.value
        await holdBack(.conversation(conversation.sessionId))
        return found
    }

    package func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        note(.search(query.text))
        return try await Task { try await base.search(query) }.value
    }

    package func latestChange() async throws -> ChangeCursor {
        note(.latestChange)
        return try await base.latestChange()
    }

    package func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        note(.changes)
        return base.changes(after: cursor)
    }

    // MARK: What is passed on

    package func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome {
        try await base.append(messages, to: scope, options: options)
    }

    package func update(
        _ conversation: ConversationID, with details: ConversationDetails, makesNew: Bool
    ) async throws -> Bool {
        try await base.update(conversation, with: details, makesNew: makesNew)
    }

    package func fork(
        _ conversation: ConversationID, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws {
        try await base.fork(conversation, at: messageId, agentId: agentId, into: newSessionId)
    }

    package func edit(_ messages: [ConversationMessage], in conversation: ConversationID) async throws -> Int {
        try await base.edit(messages, in: conversation)
    }

    package func moveConversation(_ conversation: ConversationID, to newSessionId: String) async throws -> Bool {
        try await base.moveConversation(conversation, to: newSessionId)
    }

    package func branch(
        _ conversation: ConversationID, from messageId: String, agentId: String?
    ) async throws -> ConversationID {
        try await base.branch(conversation, from: messageId, agentId: agentId)
    }

    package func branches(of conversation: ConversationID) async throws -> [Conversation] {
        try await base.branches(of: conversation)
    }

    package func restoreBranch(_ branch: ConversationID, in conversation: ConversationID) async throws {
        try await base.restoreBranch(branch, in: conversation)
    }

    package func discardConversation(_ conversation: ConversationID) async throws -> Bool {
        try await base.discardConversation(conversation)
    }

    package func restoreConversation(_ conversation: ConversationID) async throws -> Bool {
        try await base.restoreConversation(conversation)
    }

    package func beginReply(
        _ message: ConversationMessage, in scope: Scope, maxMessages: Int?
    ) async throws -> ReplyDraft {
        try await base.beginReply(message, in: scope, maxMessages: maxMessages)
    }

    package func repliesInFlight(
        in conversation: ConversationID
    ) async throws -> [(agentId: String, message: ConversationMessage)] {
        try await base.repliesInFlight(in: conversation)
    }

    package func deleteMessages(_ ids: [String], in conversation: ConversationID) async throws -> Int {
        try await base.deleteMessages(ids, in: conversation)
    }

    package func deleteConversation(_ conversation: ConversationID) async throws -> Bool {
        try await base.deleteConversation(conversation)
    }

    package func deleteUser(_ userId: String) async throws {
        try await base.deleteUser(userId)
    }

    package func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await base.window(of: scope, maxMessages: maxMessages)
    }

    package func wholeWindow(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await base.wholeWindow(of: scope, maxMessages: maxMessages)
    }

    package func windows(
        of conversation: ConversationID
    ) async throws -> [(agentId: String, messages: [ConversationMessage])] {
        try await base.windows(of: conversation)
    }

    package func conversations(
        of userId: String, sessionIdPrefix prefix: String, limit: Int
    ) async throws -> [Conversation] {
        try await base.conversations(of: userId, sessionIdPrefix: prefix, limit: limit)
    }

    package func messages(
        of conversation: ConversationID, agentId: String?, page: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        try await base.messages(of: conversation, agentId: agentId, page: page)
    }

    package func message(_ id: String, in conversation: ConversationID, agentId: String?) async throws -> StoredMessage?
    {
        note(.message(id))
        return try await base.message(id, in: conversation, agentId: agentId)
    }

    package func attachment(sha256: String) async throws -> Data {
        try await base.attachment(sha256: sha256)
    }

    package func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        try await base.changes(after: cursor, limit: limit)
    }
}
