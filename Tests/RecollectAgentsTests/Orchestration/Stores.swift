import Foundation
import RecollectCore
import RecollectSQLite
import Testing

/// The stores that every turn must leave complete, each of them new.
enum AnyStore: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case fourMethods, memory, file, defaults, deviceInMemory, device

    var testDescription: String { rawValue }

    /// Makes a store, passes it and a way to reopen it to `body`, and removes its data.
    func with(
        _ body: (any ChatStorage, _ reopen: @Sendable () throws -> any ChatStorage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        let suite = folder.lastPathComponent
        defer {
            try? FileManager.default.removeItem(at: folder)
            if self == .defaults { UserDefaults.standard.removePersistentDomain(forName: suite) }
        }
        let saved: any ChatStorage =
            switch self {
            case .memory: InMemoryChatStorage()
            case .deviceInMemory: try DeviceChatStorage(userId: "user", inMemory: true)
            default: FourMethods()
            }
        let open: @Sendable () throws -> any ChatStorage = {
            switch self {
            case .fourMethods, .memory, .deviceInMemory: saved
            case .file: FileChatStorage(baseURL: folder)
            case .defaults: UserDefaultsChatStorage(suiteName: suite)
            case .device: try DeviceChatStorage(userId: "user", baseURL: folder)
            }
        }
        try await body(open(), open)
    }
}

/// A store written from the guide alone: four methods, the two helpers, nothing else.
actor FourMethods: ChatStorage {
    private var scopes: [Scope: [ConversationMessage]] = [:]

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        return trimToEvenPairs(scopes[scope] ?? [], maxMessages: maxMessages)
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
        try Task.checkCancellation()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        var stored = scopes[scope] ?? []
        for message in messages where !isConsecutiveSameRole(stored, message) { stored.append(message) }
        scopes[scope] = trimToEvenPairs(stored, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let session = SessionKey(userId: userId, sessionId: sessionId)
        return mergedChats(
            scopes.filter { $0.key.session == session }.map {
                AgentMessages(agentId: $0.key.agentId, messages: $0.value)
            })
    }
}

/// A store that does not support leases: turns of several orchestrators in one session run concurrently.
struct LeaselessStorage: ChatStorage {
    let storage: any ChatStorage

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages {
        try await storage.compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        try await storage.compact(
            messages, into: summary, by: author, after: previousId, userId: userId, sessionId: sessionId,
            agentId: agentId)
    }

    func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await storage.compactions(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool {
        try await storage.removeCompaction(id, userId: userId, sessionId: sessionId, agentId: agentId)
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await storage.save(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await storage.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
    }

    func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        try await storage.beginReply(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func streamingReplies(userId: String, sessionId: String) async throws -> [AgentMessage] {
        try await storage.streamingReplies(userId: userId, sessionId: sessionId)
    }

    func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await storage.version(userId: userId, sessionId: sessionId)
    }

    var preservesContent: Bool { storage.preservesContent }
}

extension ChatStorage {
    /// The store without leases.
    var withoutLeases: any ChatStorage { LeaselessStorage(storage: self) }
}
