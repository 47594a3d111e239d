import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite struct DeviceChatStorageTests {
    @Test func savesAndFetchesInMemory() async throws {
        let store = try DeviceChatStorage(userId: "ann", inMemory: true)
        let question = ConversationMessage(role: .user, text: "hello\0there")
        let answer = ConversationMessage(role: .assistant, text: "hi")
        try await store.saveMessages([question, answer], userId: "ann", sessionId: "s", agentId: "a", maxMessages: 100)
        #expect(
            try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil) == [question, answer])
        #expect(try await store.fetchAllChats(userId: "ann", sessionId: "s").map(\.text) == ["hello\0there", "[a] hi"])
        try await store.clear()
        #expect(try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil).isEmpty)
    }

    @Test func aReopenedFolderHoldsWhatWasSaved() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let message = ConversationMessage(role: .user, text: "keep me")
        do {
            let store = try DeviceChatStorage(userId: "ann", baseURL: folder)
            try await store.save(message, userId: "ann", sessionId: "s", agentId: "a", maxMessages: 100)
        }
        let store = try DeviceChatStorage(userId: "ann", baseURL: folder)
        #expect(try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: 100) == [message])
    }
}
