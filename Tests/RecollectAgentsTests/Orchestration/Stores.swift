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
