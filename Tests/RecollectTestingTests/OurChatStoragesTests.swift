import Foundation
import Recollect
import RecollectTestSupport
import RecollectTesting
import Testing

/// The chat storages of Recollect, with their declared capabilities.
@Suite("Conformance of Recollect's chat storages", .needs(.time))
struct OurChatStoragesTests {
    @Test("InMemoryChatStorage conforms", arguments: ChatStorageConformance.checks)
    func memory(_ check: ChatStorageCheck) async throws {
        try await check.run { InMemoryChatStorage() }
    }

    @Test(
        "InMemoryChatStorage with repeated roles conforms to every other rule", arguments: ChatStorageConformance.checks
    )
    func memoryOfEveryRole(_ check: ChatStorageCheck) async throws {
        try await check.run(capabilities: .standard.subtracting(.dropsSameRole)) {
            InMemoryChatStorage(sameRole: .keep)
        }
    }

    @Test("FileChatStorage conforms", arguments: ChatStorageConformance.checks)
    func file(_ check: ChatStorageCheck) async throws {
        try await check.run(on: .inFolders { FileChatStorage(baseURL: $0) })
    }

    @Test("FileChatStorage with relaxed durability conforms", arguments: ChatStorageConformance.checks)
    func relaxedFile(_ check: ChatStorageCheck) async throws {
        try await check.run(on: .inFolders { FileChatStorage(baseURL: $0, durability: .relaxed) })
    }

    @Test("UserDefaultsChatStorage conforms", arguments: ChatStorageConformance.checks)
    func userDefaults(_ check: ChatStorageCheck) async throws {
        // The system writes user defaults at any time, so they are not durable.
        let fixture = StoreFixture<any ChatStorage>(
            capabilities: .all.subtracting(.durable), location: { "recollect-\(UUID().uuidString)" },
            open: { UserDefaultsChatStorage(suiteName: $0) },
            remove: { UserDefaults.standard.removePersistentDomain(forName: $0) })
        try await check.run(on: fixture)
    }

    @Test("DeviceChatStorage in memory conforms", arguments: ChatStorageConformance.checks)
    func deviceInMemory(_ check: ChatStorageCheck) async throws {
        try await check.run {
            let history = SQLiteHistoryStore.inMemory()
            return PerUserChatStorage { DeviceChatStorage(history: history, userId: $0) }
        }
    }

    @Test("DeviceChatStorage on disk conforms", arguments: ChatStorageConformance.checks)
    func device(_ check: ChatStorageCheck) async throws {
        let fixture = StoreFixture<any ChatStorage>.inFolders { folder in
            PerUserChatStorage { try DeviceChatStorage(userId: $0, baseURL: folder) }
        }
        try await check.run(on: fixture)
    }

    @Test("DeviceChatStorage over a shared history conforms", arguments: ChatStorageConformance.checks)
    func deviceOverAHistory(_ check: ChatStorageCheck) async throws {
        let fixture = StoreFixture<any ChatStorage>.inFolders { folder in
            let history = SQLiteHistoryStore(directory: folder)
            return PerUserChatStorage { DeviceChatStorage(history: history, userId: $0) }
        }
        try await check.run(on: fixture)
    }

    @Test("PerUserChatStorage forwards streaming replies and versions to the user's store")
    func perUser() async throws {
        let history = SQLiteHistoryStore.inMemory()
        let storage = PerUserChatStorage { DeviceChatStorage(history: history, userId: $0) }
        let before = try await storage.version(userId: "u", sessionId: "s")
        let draft = try await storage.beginReply(
            ConversationMessage(id: "r", role: .assistant, text: ""), userId: "u", sessionId: "s", agentId: "a",
            maxMessages: nil)
        draft?.append("well")
        #expect(try await storage.streamingReplies(userId: "u", sessionId: "s").map(\.message.id) == ["r"])
        #expect(try await storage.streamingReplies(userId: "v", sessionId: "s").isEmpty)
        try await draft?.finish()
        let saved = try await storage.fetch(userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(saved.map(\.text) == ["well"])
        let after = try await storage.version(userId: "u", sessionId: "s")
        #expect(before != nil && after != nil && before != after)

        let plain = PerUserChatStorage { _ in UserDefaultsChatStorage(suiteName: "unused") }
        let none = try await plain.beginReply(
            ConversationMessage(role: .assistant, text: ""), userId: "u", sessionId: "s", agentId: "a", maxMessages: nil
        )
        #expect(none == nil)
    }
}

extension StoreFixture {
    /// Returns a fixture of stores in temporary folders, removed after each check.
    static func inFolders(
        capabilities: StoreCapabilities = .all, open: @escaping @Sendable (URL) async throws -> Store
    ) -> StoreFixture {
        StoreFixture(
            capabilities: capabilities,
            location: {
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "recollect-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                return folder
            },
            open: open,
            remove: { try? FileManager.default.removeItem(at: $0) })
    }
}
