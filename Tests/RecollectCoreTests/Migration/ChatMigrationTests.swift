import Foundation
import Testing

@testable import RecollectCore

@Suite("Migration between chat storages")
struct ChatMigrationTests {
    private let folder: TemporaryFolder
    private let files: FileChatStorage

    init() throws {
        folder = try TemporaryFolder()
        files = FileChatStorage(baseURL: folder.url, durability: .relaxed, sameRole: .keep)
    }

    @Test("A file storage lists all of its scopes, whatever their IDs, and no foreign files")
    func scopes() async throws {
        #expect(try await FileChatStorage(baseURL: folder.url.appendingPathComponent("none")).scopes() == [])
        let long = String(repeating: "long ", count: 80)
        let ids = ["", "Bob", "bob", "a/b", "..", "\u{0}", "\u{E9}", "e\u{301}", long]
        let expected = ids.flatMap { user in ids.map { Scope(userId: user, sessionId: $0, agentId: user) } }
        for scope in expected {
            try await files.save(turn(1), agent: scope.agentId, session: scope.sessionId, user: scope.userId)
        }
        try Data("note".utf8).write(to: folder.url.appendingPathComponent("note.json"))
        #expect(Set(try await files.scopes()) == Set(expected))
        #expect(try await files.scopes(of: "\u{E9}").count == ids.count)
        #expect(try await files.scopes(of: "nobody") == [])
    }

    @Test("Scopes arrive complete and in order; a second run saves nothing, and the target's own messages stay")
    func moves() async throws {
        let target = InMemoryChatStorage()
        for user in ["u", "v"] {
            try await files.save(turns(0..<20), agent: "a", user: user)
            try await files.save(turns(30..<35), agent: "b", user: user)
        }
        let scopes = try await files.scopes()
        let steps = Locked<[MigrationProgress]>([])
        let report = try await files.migrate(scopes, to: target) { step in steps.withLock { $0.append(step) } }
        #expect((report.sessionCount, report.messageCount, report.addedMessageCount) == (4, 100, 100))
        #expect(steps.withLock { $0.map(\.messages) } == [40, 50, 90, 100])
        for scope in scopes {
            let expected = try await files.load(agent: scope.agentId, user: scope.userId)
            #expect(try await target.load(agent: scope.agentId, user: scope.userId) == expected)
        }
        try await target.save(turn(99))
        try await files.save(turn(20))
        let again = try await files.migrate(scopes, to: target)
        #expect((again.movedSessionCount, again.addedMessageCount) == (1, 2))
        #expect(try await target.load() == turns(0..<20) + turn(99) + turn(20))
    }

    @Test("Numbers of every size and sign move from memory to files and back")
    func numbers() async throws {
        let numbers: [JSONValue] = [-0.0, 1, 0x1p53, 1e17, -1e18, 1e19, 1e300].map { .number($0) }
        let messages = numbers.enumerated().map { index, number in
            ConversationMessage(
                id: "\(index)", role: .user, parts: [.toolResult(id: "t", content: number)], metadata: ["n": number])
        }
        let memory = InMemoryChatStorage(sameRole: .keep)
        try await memory.save(messages)
        let scope = Scope(userId: "u", sessionId: "s", agentId: "a")
        #expect(try await memory.migrate([scope], to: files).addedMessageCount == numbers.count)
        #expect(try await memory.migrate([scope], to: files).addedMessageCount == 0)
        #expect(try await files.load() == messages)
        let back = InMemoryChatStorage(sameRole: .keep)
        #expect(try await files.migrate([scope], to: back).addedMessageCount == numbers.count)
    }

    @Test("A target that drops a repeated role throws an error with a remedy")
    func sameRole() async throws {
        let twice = [turn(0)[0], turn(1)[0]]
        try await files.save(twice)
        let scopes = try await files.scopes()
        let error = await #expect(throws: RecollectError.self) {
            try await files.migrate(scopes, to: InMemoryChatStorage())
        }
        #expect(error?.code == .verificationFailed)
        #expect(error?.message.contains("sameRole: .keep") == true)
    }

    @Test("Different content under an ID stays in the target and throws; other scopes are moved")
    func conflict() async throws {
        let target = InMemoryChatStorage()
        try await files.save(turn(1), session: "s1")
        try await files.save(turn(1), session: "s2")
        try await target.save(turn(1).map { $0.mappingText { _ in "other" } }, session: "s1")
        let scopes = try await files.scopes()
        let error = await #expect(throws: RecollectError.self) { try await files.migrate(scopes, to: target) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("session s1") == true)
        #expect(try await target.load(session: "s1").first?.text == "other")
        #expect(try await target.load(session: "s2") == turn(1))
    }

    @Test("A duplicate ID in the source stops only its own scope, before anything is saved")
    func idTwice() async throws {
        let target = InMemoryChatStorage()
        try await files.save(turn(1), session: "s1")
        try await files.save(turn(1), session: "s2")
        let file = folder.url.appendingPathComponent("u/s1/a.json")
        let ids = turn(1).map { "\"id\":\"\($0.id)\"" }
        let text = try String(contentsOf: file, encoding: .utf8)
        try #require(text.contains(ids[1]))
        try text.replacing(ids[1], with: ids[0]).write(to: file, atomically: true, encoding: .utf8)
        let source = FileChatStorage(baseURL: folder.url, durability: .relaxed, sameRole: .keep)
        let scopes = try await source.scopes()
        let error = await #expect(throws: RecollectError.self) { try await source.migrate(scopes, to: target) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("session s1") == true)
        #expect(try await target.load(session: "s1").isEmpty)
        #expect(try await target.load(session: "s2") == turn(1))
    }

    @Test("Reading a folder of chats repairs nothing: damage is reported with the readable messages")
    func damageIsLeft() async throws {
        try await files.save(turns(0..<3))
        let whole = try Data(contentsOf: folder.file())
        let torn = whole.prefix(whole.count - 40)
        try torn.write(to: folder.file())
        let session = SessionKey(userId: "u", sessionId: "s")
        let chats = try ChatFolder(path: folder.url.path).chats(of: session, maxBytes: 1 << 20)
        #expect(chats.map(\.isDamaged) == [true])
        #expect(chats.first?.messages == Array(turns(0..<3).dropLast()))
        #expect(try Data(contentsOf: folder.file()) == torn)
        #expect(try folder.names() == ["a.json"])
        #expect(throws: RecollectError.self) {
            try ChatFolder(path: folder.url.path).chats(of: session, maxBytes: 10)
        }
    }
}
