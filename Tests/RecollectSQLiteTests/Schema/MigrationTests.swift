import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Databases of other versions")
struct MigrationTests {
    @Test("A database from before 0.1.0 is refused with a clear error and left unchanged", arguments: [1, 3])
    func beforeTheFirstRelease(schema: Int) async throws {
        let folder = try TemporaryFolder()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/schema-\(schema)", withExtension: nil))
        let copy = folder.file("history")
        try FileManager.default.copyItem(at: fixture, to: copy)
        let bytes = try Data(contentsOf: copy.appendingPathComponent("history.sqlite"))
        let history = SQLiteHistoryStore(directory: copy)
        let error = await #expect(throws: RecollectError.self) {
            try await history.sessions(of: "local", page: PageRequest(limit: 10))
        }
        #expect(error?.code == .foreignStore && error?.message.contains("before 0.1.0") == true)
        #expect(try Data(contentsOf: copy.appendingPathComponent("history.sqlite")) == bytes)
        #expect(history.events.takeUndelivered().isEmpty)
    }

    @Test(
        "A database of the first migration is opened with its messages and changes, and deletions then name their messages"
    )
    func firstMigration() async throws {
        let folder = try TemporaryFolder()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/migration-1", withExtension: nil))
        let copy = folder.file("history")
        try FileManager.default.copyItem(at: fixture, to: copy)
        let history = SQLiteHistoryStore(directory: copy)
        let session = SessionKey(userId: "ann", sessionId: "S")
        let stored = try await history.messages(of: session, agentId: nil, page: PageRequest(limit: 10)).elements
        #expect(stored.map(\.message.text) == ["one", "edited"])
        #expect(stored.map(\.additionCursor?.sequence) == [1, 3])
        #expect(try await history.session(session)?.title == "Whales")
        try await history.deleteMessages(["1"], in: session)
        let changes = try await history.changes(after: .beginning, limit: 10)
        #expect(
            changes.map(\.kind) == [.messageAdded, .messageDeleted, .messageEdited, .sessionUpdated, .messageDeleted])
        #expect(changes.map(\.additionCursor?.sequence) == [3, nil, nil, nil, 1])
        #expect(try await history.search(SearchQuery(userId: "ann", text: "edited", limit: 10)).elements.count == 1)
        #expect(try await history.check().problems.isEmpty)
        #expect(history.events.takeUndelivered().allSatisfy { $0.kind == .erased })
        await history.close()
        #expect(try await SQLiteHistoryStore(directory: copy).latestChangeCursor() == changes.last?.cursor)
    }

    @Test("A database of the second migration is opened with its messages, and they can be compacted")
    func secondMigration() async throws {
        let folder = try TemporaryFolder()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/migration-2", withExtension: nil))
        let copy = folder.file("history")
        try FileManager.default.copyItem(at: fixture, to: copy)
        let history = SQLiteHistoryStore(directory: copy)
        let scope = Scope(userId: "u", sessionId: "s", agentId: "a")
        let messages = try await history.compactedMessages(of: scope).messages
        #expect(messages.map(\.id) == ["w-0-q", "w-0-a", "w-1-q", "w-1-a"])
        let made = try await history.compact(
            Array(messages.prefix(2)), of: scope, into: "summary", by: "writer", after: nil)
        await history.close()
        let reopened = SQLiteHistoryStore(directory: copy)
        #expect(try await reopened.compactedMessages(of: scope).compaction == made)
        #expect(try await reopened.check().problems.isEmpty)
    }

    @Test(
        "A database of the third migration is sorted by timestamp, with its windows and its sessions of one agent unchanged"
    )
    func thirdMigration() async throws {
        let folder = try TemporaryFolder()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/migration-3", withExtension: nil))
        let copy = folder.file("history")
        try FileManager.default.copyItem(at: fixture, to: copy)
        let history = SQLiteHistoryStore(directory: copy)
        let session = SessionKey(userId: "local", sessionId: "s1")
        func ids(_ session: SessionKey) async throws -> [String] {
            try await history.messages(of: session, agentId: nil, page: PageRequest(limit: 10)).elements.map(
                \.message.id)
        }
        #expect(
            try await ids(session)
                == ["m1", "m2", "m3", "a1", "b1", "a2", "b2", "m4"])
        #expect(try await history.session(session)?.agentIds == ["claude", "a", "b"])
        #expect(
            try await history.window(of: session.scope(agentId: "claude"), maxMessages: nil).map(\.id)
                == ["m1", "m2", "m3", "m4"])
        let solo = SessionKey(userId: "local", sessionId: "solo")
        #expect(try await ids(solo) == ["x1", "x2"])
        #expect(try await history.check().problems.isEmpty)
        // m3 counts as of the time of m2, before it.
        let late = ConversationMessage(
            id: "c", role: .user, text: "late", timestamp: Date(millisecondsSince1970: 1_772_359_209_000))
        try await history.append([late], to: session.scope(agentId: "c"))
        #expect(try await ids(session).prefix(3) == ["m1", "c", "m2"])
    }
}
