import Foundation
import Testing

@testable import RecollectCore

@Suite("Deeply nested values")
struct DepthTests {
    /// A value with the given number of nested arrays and objects.
    private static func nested(_ levels: Int) -> JSONValue {
        (0..<levels).reduce("bottom") { value, level in level.isMultiple(of: 2) ? [value] : ["in": value] }
    }

    /// A message for each position that can hold such a value.
    private static func messages(_ levels: Int) -> [ConversationMessage] {
        let deep = nested(levels)
        return [
            ConversationMessage(id: "1", role: .user, parts: [.toolCall(id: "t", name: "dig", arguments: deep)]),
            ConversationMessage(id: "2", role: .user, parts: [.text("x"), .toolResult(id: "t", content: deep)]),
            ConversationMessage(id: "3", role: .user, parts: [.unknown(deep)]),
            ConversationMessage(id: "4", role: .user, text: "x", metadata: ["a": 1, "deep": deep]),
            ConversationMessage(id: "5", role: .user, parts: [.text("x")], unknownFields: ["deep": deep]),
        ]
    }

    @Test(
        "Values nested up to 496 levels are saved, and deeper values throw, at every position",
        arguments: SimpleStore.all)
    func chatStorages(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.keep)
        let deepest = Self.messages(496)
        try await store.save(deepest)
        #expect(try await store.load() == deepest)
        for message in Self.messages(497) {
            let batch = [ConversationMessage(id: "n", role: .user, text: "n"), message.with(id: "deep")]
            let error = await #expect(throws: RecollectError.self) { try await store.save(batch) }
            #expect(error?.code == .tooLarge)
        }
        #expect(try await store.load() == deepest)
        withExtendedLifetime(keep) {}
    }

    @Test("Session storages save values nested up to 496 levels and throw for deeper values")
    func sessionStorages() async throws {
        let suite = DefaultsSuite()
        let storages: [any SessionStorageProtocol] = [
            InMemorySessionStorage(), UserDefaultsSessionStorage(suiteName: suite.name),
        ]
        for storage in storages {
            var entry = ChatMessage(role: .assistant, content: "x", metadata: ["deep": Self.nested(496)])
            try await storage.updateSessionMessages(id: "s", messages: [entry])
            let saved = try await storage.getSession(id: "s")
            #expect(saved?.messages == [entry])
            entry.metadata = ["deep": Self.nested(497)]
            let error = await #expect(throws: RecollectError.self) {
                try await storage.updateSessionMessages(id: "s", messages: [entry])
            }
            #expect(error?.code == .tooLarge)
            #expect(try await storage.getSession(id: "s") == saved)
        }
    }
}
