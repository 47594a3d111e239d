import Foundation
import Testing

@testable import RecollectCore

@Suite("Transforming chat storage")
struct TransformingChatStorageTests {
    private static let scrub: MessageTransform = { message in
        message.mappingText { $0.replacingOccurrences(of: "SECRET", with: "[…]") }
    }

    @Test("Text removed by the transform is in no file, whichever method saved it")
    func nothingRawReachesTheDisk() async throws {
        let folder = try TemporaryFolder()
        let storage = TransformingChatStorage(wrapping: FileChatStorage(baseURL: folder.url), transform: Self.scrub)
        try await storage.save(turn(0, text: "SECRET") + turn(1, text: "a SECRET b"))
        try await storage.save(
            turn(2, text: "SECRET")[0], userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(try await storage.load().map(\.text) == ["[…] 0?", "[…] 0!", "a […] b 1?", "a […] b 1!", "[…] 2?"])
        let files = try #require(FileManager.default.enumerator(at: folder.url, includingPropertiesForKeys: nil))
        for case let file as URL in files where !file.hasDirectoryPath {
            #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("SECRET"))
        }
    }

    @Test("A message with a nil transform is omitted, and an empty batch still trims")
    func dropping() async throws {
        let storage = TransformingChatStorage(wrapping: InMemoryChatStorage()) { $0.text.contains("1") ? nil : $0 }
        try await storage.save(turns(0..<3))
        #expect(try await storage.load() == turn(0) + turn(2))
        try await storage.save(turn(1), budget: 2)
        #expect(try await storage.load() == turn(2))
    }

    @Test("A throwing transform fails the save with its error, and nothing of the batch is saved")
    func throwing() async throws {
        let below = WatchedChatStorage()
        let storage = TransformingChatStorage(wrapping: below) { message in
            if message.id == "1-a" { throw RecollectError(.tooLarge, "no") }
            return message
        }
        try await storage.save(turn(0))
        await #expect { try await storage.save(turns(1..<3)) } throws: { ($0 as? RecollectError)?.code == .tooLarge }
        #expect(try await storage.load() == turn(0))
        #expect(below.saves == 1)
    }

    @Test("A transform cannot change a message's ID, so that a retry is harmless; all else may change")
    func identity() async throws {
        let storage = TransformingChatStorage(wrapping: InMemoryChatStorage()) { message in
            ConversationMessage(role: message.role, text: "changed", metadata: ["by": "transform"])
        }
        for _ in 0..<2 { try await storage.save(turn(0)) }
        let saved = try await storage.load()
        #expect(saved.map(\.id) == ["0-q", "0-a"])
        #expect(saved.allSatisfy { $0.text == "changed" && $0.metadata == ["by": "transform"] })
    }

    @Test("No reply is saved while it streams, and streaming replies of other writers are returned")
    func drafts() async throws {
        let below = DraftingMemory()
        let storage = TransformingChatStorage(wrapping: below, transform: Self.scrub)
        func begin(_ store: any ChatStorage) async throws -> StreamingReply? {
            try await store.beginReply(turn(0)[1], userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        }
        #expect(try await begin(storage) == nil)
        #expect(try await storage.streamingReplies(userId: "u", sessionId: "s").isEmpty)
        let draft = try await begin(below)
        #expect(try await storage.streamingReplies(userId: "u", sessionId: "s").map(\.message.id) == [draft?.id])
        try await draft?.finish()
    }
}
