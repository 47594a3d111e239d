import Foundation

@testable import RecollectCore

/// A storage with only the four methods over another one. It counts reads, fails on demand, and can pause in a read.
final class WatchedChatStorage: ChatStorage {
    private struct State {
        var reads = 0
        var saves = 0
        var failure: (any Error & Sendable)?
        var afterReading: (@Sendable () async throws -> Void)?
    }

    private let below: any ChatStorage
    private let state = Locked(State())

    init(_ below: any ChatStorage = InMemoryChatStorage()) {
        self.below = below
    }

    var reads: Int { state.withLock { $0.reads } }
    var saves: Int { state.withLock { $0.saves } }

    /// Makes every save fail before it has saved.
    func failSaves(_ error: (any Error & Sendable)?) {
        state.withLock { $0.failure = error }
    }

    /// Sets a body that runs between a read and its return.
    func afterReading(_ body: (@Sendable () async throws -> Void)?) {
        state.withLock { $0.afterReading = body }
    }

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await read {
            try await below.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        let failure = state.withLock { state in
            state.saves += 1
            return state.failure
        }
        if let failure { throw failure }
        try await below.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await read { try await below.fetchAllChats(userId: userId, sessionId: sessionId) }
    }

    private func read(_ work: () async throws -> [ConversationMessage]) async throws -> [ConversationMessage] {
        let result = try await work()
        let afterReading = state.withLock { state in
            state.reads += 1
            return state.afterReading
        }
        try await afterReading?()
        return result
    }
}

/// A storage with streaming replies and versions.
final class DraftingMemory: ChatStorage {
    let below = InMemoryChatStorage(sameRole: .keep)
    private let drafts = Locked<[AgentMessage]>([])

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await below.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await below.save(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await below.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await below.fetchAllChats(userId: userId, sessionId: sessionId)
    }

    func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        drafts.withLock { $0.append(AgentMessage(agentId: agentId, message: message)) }
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        return StreamingReply(message, scope: scope, writer: Writer(storage: below, scope: scope))
    }

    func streamingReplies(
        userId: String, sessionId: String
    ) async throws -> [AgentMessage] {
        drafts.withLock { $0 }
    }

    func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await below.version(userId: userId, sessionId: sessionId)
    }

    private struct Writer: ReplyWriter {
        let storage: InMemoryChatStorage
        let scope: Scope

        func save(_ text: String?, behind parts: [ContentPart]?) async throws {}

        func finish(_ message: ConversationMessage, isAppended: Bool) async throws {
            try await storage.save(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
        }
    }
}
