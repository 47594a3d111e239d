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

    @Test("A window by tokens has its attachments' bytes, and they are not counted")
    func tokenWindow() async throws {
        let folder = try TemporaryFolder()
        let store = DeviceChatStorage(history: folder.history(), userId: "ann")
        let picture = Attachment(mediaType: "a/b", content: .inline(Data(count: 5000)))
        let saved = ConversationMessage(role: .user, parts: [.attachment(picture)])
        try await store.save(saved, userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        let counter = TokenCounter { message in
            message.parts.reduce(1) { count, part in
                guard case .attachment(let attachment) = part, case .inline(let bytes) = attachment.content else {
                    return count
                }
                return count + bytes.count
            }
        }
        let window = try await store.window(userId: "ann", sessionId: "s", agentId: "a", tokens: 10, counter: counter)
        #expect(window == [saved])
    }

    @Test("A streaming reply has its attachments' bytes, is saved after any role, and trims the window")
    func keepsReplies() async throws {
        let folder = try TemporaryFolder()
        let store = DeviceChatStorage(history: folder.history(), userId: "ann")
        let bytes = Data([1, 2, 3])
        let picture = Attachment(mediaType: "a/b", content: .inline(bytes))
        let saved = ConversationMessage(role: .assistant, parts: [.attachment(picture)])
        for message in [ConversationMessage(role: .user, text: "look"), saved] {
            try await store.save(message, userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        }
        var found = picture
        found.content = .stored(sha256: Attachment.sha256(of: bytes), byteCount: bytes.count)
        let begun = ConversationMessage(id: "r", role: .assistant, parts: [.attachment(found)])
        let reply = try #require(
            try await store.beginReply(begun, userId: "ann", sessionId: "s", agentId: "a", maxMessages: 2))
        let shown = try await store.streamingReplies(userId: "ann", sessionId: "s")
        #expect(shown.map(\.agentId) == ["a"])
        #expect(shown.map(\.message.parts) == [[.attachment(picture)]])
        #expect(shown.map(\.message.isStreaming) == [true])
        reply.append("here")
        try await reply.finish()
        let window = try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(window.map(\.id) == [saved.id, "r"])
        #expect(window.last?.parts == [.attachment(picture), .text("here")])
        #expect(try await store.streamingReplies(userId: "ann", sessionId: "s").isEmpty)
    }
}
