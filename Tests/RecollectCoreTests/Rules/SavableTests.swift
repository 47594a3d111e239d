import Foundation
import Testing

@testable import RecollectCore

@Suite("Values that cannot be read back")
struct SavableTests {
    /// A message for each position that can hold such a value.
    private static let messages: [ConversationMessage] =
        [Double.infinity, -.infinity, .nan].flatMap { number in
            let value: JSONValue = ["a": [1, .number(number)]]
            return [
                ConversationMessage(
                    id: "1", role: .user, parts: [.toolCall(id: "t", name: "measure", arguments: value)]),
                ConversationMessage(id: "2", role: .user, parts: [.text("x"), .toolResult(id: "t", content: value)]),
                ConversationMessage(id: "3", role: .user, parts: [.unknown(value)]),
                ConversationMessage(id: "4", role: .user, text: "x", metadata: ["n": value]),
                ConversationMessage(id: "5", role: .user, parts: [], unknownFields: ["n": value]),
            ]
        }
        + [
            ["text": ["_0": "x"]], ["thinking": ["_0": "x"]],
            ["toolCall": ["id": "c", "name": "n", "arguments": [:]]],
            ["attachment": ["mediaType": "image/png", "url": "u"]],
        ].map { ConversationMessage(id: "7", role: .user, parts: [.text("x"), .unknown($0)]) }
        + ["id", "role", "timestamp", "parts", "metadata"].map { name in
            ConversationMessage(id: "6", role: .user, parts: [], unknownFields: [name: "mine"])
        }

    @Test(
        "Infinite numbers, and unknown fields and parts like known ones, throw, and nothing of their batch is saved",
        arguments: SimpleStore.all)
    func refused(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.keep)
        try await store.save(turn(1))
        for message in Self.messages {
            let error = await #expect(throws: RecollectError.self) { try await store.save(turn(2) + [message]) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try await store.load() == turn(1))
        withExtendedLifetime(keep) {}
    }

    @Test("Session storages throw for infinite numbers and save nothing")
    func sessionStorages() async throws {
        let suite = DefaultsSuite()
        let storages: [any SessionStorageProtocol] = [
            InMemorySessionStorage(), UserDefaultsSessionStorage(suiteName: suite.name),
        ]
        for storage in storages {
            let entry = ChatMessage(role: .assistant, content: "x", metadata: ["n": .number(.infinity)])
            let error = await #expect(throws: RecollectError.self) {
                try await storage.updateSessionMessages(id: "s", messages: [entry])
            }
            #expect(error?.code == .invalidArgument)
            #expect(try await storage.getSession(id: "s") == nil)
        }
    }
}
