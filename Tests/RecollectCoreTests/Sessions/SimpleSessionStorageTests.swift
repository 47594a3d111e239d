import Foundation
import Logging
import RecollectTestSupport
import Testing

@testable import RecollectCore

/// A kind of storage that every test of this file runs on; `make` creates a new one with the test's clock.
struct SimpleSessionStorage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let make: @Sendable (Clock) -> (storage: any SessionStorageProtocol & Sendable, keep: AnyObject & Sendable)

    static let all = [
        SimpleSessionStorage(testDescription: "memory") { clock in
            (InMemorySessionStorage(now: { clock.now }), clock)
        },
        SimpleSessionStorage(testDescription: "user defaults") { clock in
            let suite = DefaultsSuite()
            return (suite.storage { clock.now }, suite)
        },
        SimpleSessionStorage(testDescription: "remembered") { clock in
            (CachedSessionStorage(wrapping: InMemorySessionStorage(now: { clock.now })), clock)
        },
        SimpleSessionStorage(testDescription: "logged") { clock in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return (LoggingSessionStorage(wrapping: InMemorySessionStorage(now: { clock.now }), logger: logger), clock)
        },
    ]

    /// A clock that stands still until it is set.
    final class Clock: Sendable {
        private let date = Locked(Date(millisecondsSince1970: 1_700_000_000_000))

        var now: Date {
            get { date.withLock { $0 } }
            set { date.withLock { $0 = newValue } }
        }
    }
}

/// A suite of user defaults that is removed with its last reference.
final class DefaultsSuite: Sendable {
    let name = "recollect-\(UUID().uuidString)"

    func storage(now: @escaping @Sendable () -> Date = { Date() }) -> UserDefaultsSessionStorage {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return UserDefaultsSessionStorage(suiteName: name, logger: logger, now: now)
    }

    /// Opened again for each access, as by another part of an app.
    var defaults: UserDefaults {
        let defaults = UserDefaults(suiteName: name) ?? .standard
        defaults.synchronize()
        return defaults
    }

    /// Sets a value as another part of an app would.
    func set(_ value: Any, forKey key: String) {
        defaults.set(value, forKey: key)
        defaults.synchronize()
    }

    deinit { UserDefaults.standard.removePersistentDomain(forName: name) }
}

@Suite("Simple session storages")
struct SimpleSessionStorageTests {
    private let clock = SimpleSessionStorage.Clock()

    @Test(
        "A session's first user message is stored whole, from the first transcript that contains one",
        arguments: SimpleSessionStorage.all)
    func firstUserMessage(_ kind: SimpleSessionStorage) async throws {
        let (storage, keep) = kind.make(clock)
        let text = "a\u{0}b  c\n" + String(repeating: "long ", count: 100)
        let transcript = [ChatMessage(role: .assistant, content: "hi"), ChatMessage(role: .user, content: text)]
        try await storage.updateSessionMessages(id: "made", messages: transcript)
        try await storage.updateSessionMessages(id: "empty", messages: [])
        #expect(try await storage.getSession(id: "empty")?.firstUserMessage == "")
        try await storage.updateSessionMessages(id: "empty", messages: transcript)
        for id in ["made", "empty"] {
            try await storage.updateSessionMessages(id: id, messages: [ChatMessage(role: .user, content: "other")])
            #expect(try await storage.getSession(id: id)?.firstUserMessage == text)
        }
        #expect(try await storage.getAllSessions().map(\.firstUserMessage) == [text, text])
        withExtendedLifetime(keep) {}
    }

    @Test(
        "A session keeps its first message, and the session opened last is first in the list",
        arguments: SimpleSessionStorage.all)
    func listing(_ kind: SimpleSessionStorage) async throws {
        let (storage, keep) = kind.make(clock)
        for id in ["a", "b", "c"] { try await storage.saveSession(id: id, firstMessage: "first of \(id)") }
        #expect(try await storage.getAllSessions().map(\.id) == ["c", "b", "a"])
        try await storage.saveSession(id: "a", firstMessage: "another")
        #expect(try await storage.getAllSessions().map(\.id) == ["a", "c", "b"])
        clock.now -= 3600
        try await storage.updateLastAccessed(id: "b")
        let sessions = try await storage.getAllSessions()
        #expect(sessions.map(\.id) == ["b", "a", "c"])
        #expect(sessions.map(\.firstUserMessage) == ["first of b", "first of a", "first of c"])
        #expect(zip(sessions, sessions.dropFirst()).allSatisfy { $0.lastAccessedAt > $1.lastAccessedAt })
        let opened = try #require(try await storage.getSession(id: "a"))
        #expect(opened.createdAt == Date(millisecondsSince1970: 1_700_000_000_000))
        try await storage.updateLastAccessed(id: "nobody")
        #expect(try await storage.getAllSessions().count == 3)
        withExtendedLifetime(keep) {}
    }

    @Test(
        "A transcript is read back with every field, saving it again changes nothing, and edits are saved",
        arguments: SimpleSessionStorage.all)
    func transcripts(_ kind: SimpleSessionStorage) async {
        await Seeds.run(5) { seed in
            let (storage, keep) = kind.make(clock)
            try await storage.saveSession(id: "s", firstMessage: "hello")
            var random = RandomJSON(seed: seed)
            var chats = (0..<40).map { _ in random.chat() }
            for _ in 0..<2 {
                try await storage.updateSessionMessages(id: "s", messages: chats)
                #expect(try await storage.getSession(id: "s")?.messages == chats)
                #expect(try await storage.getAllSessions().map(\.messages) == [chats])
            }
            chats[3] = random.edited(chats[3])
            chats.remove(at: 20)
            chats.insert(random.chat(), at: 10)
            try await storage.updateSessionMessages(id: "s", messages: chats + [chats[0]])
            #expect(try await storage.getSession(id: "s")?.messages == chats)
            try await storage.updateSessionMessages(id: "s", messages: [])
            #expect(try await storage.getSession(id: "s")?.messages == [])
            withExtendedLifetime(keep) {}
        }
    }

    @Test(
        "Messages of an unknown session create it, and its first user message is set as soon as it is known",
        arguments: SimpleSessionStorage.all)
    func unknownSession(_ kind: SimpleSessionStorage) async throws {
        let (storage, keep) = kind.make(clock)
        #expect(try await storage.getSession(id: "s") == nil)
        try await storage.updateSessionMessages(id: "s", messages: [ChatMessage(role: .user, content: "asked")])
        #expect(try await storage.getSession(id: "s")?.firstUserMessage == "asked")
        try await storage.updateSessionMessages(id: "t", messages: [ChatMessage(role: .assistant, content: "said")])
        try await storage.saveSession(id: "t", firstMessage: "told")
        #expect(try await storage.getSession(id: "t")?.firstUserMessage == "told")
        #expect(try await storage.getSession(id: "t")?.messages.count == 1)
        withExtendedLifetime(keep) {}
    }

    @Test(
        "A new session ID takes the messages along, and merges them with those of an existing session",
        arguments: SimpleSessionStorage.all)
    func renaming(_ kind: SimpleSessionStorage) async throws {
        let (storage, keep) = kind.make(clock)
        let chats = ["one", "two", "three"].map { ChatMessage(role: .user, content: $0) }
        try await storage.saveSession(id: "old", firstMessage: "hello")
        try await storage.updateSessionMessages(id: "old", messages: chats)
        try await storage.updateSessionId(oldId: "old", newId: "new")
        try await storage.updateSessionId(oldId: "old", newId: "new")
        try await storage.updateSessionId(oldId: "new", newId: "new")
        #expect(try await storage.getSession(id: "old") == nil)
        let moved = try #require(try await storage.getSession(id: "new"))
        #expect(moved.messages == chats && moved.firstUserMessage == "hello")

        var edited = chats[1]
        edited.content = "TWO"
        let other = ChatMessage(role: .user, content: "four")
        try await storage.updateSessionMessages(id: "newer", messages: [chats[0], edited, other])
        try await storage.updateSessionId(oldId: "new", newId: "newer")
        let joined = try #require(try await storage.getSession(id: "newer")).messages
        #expect(joined.map(\.content) == ["one", "TWO", "two", "three", "four"])
        #expect(joined.map(\.id) == [chats[0].id, chats[1].id, joined[2].id, chats[2].id, other.id])
        #expect(Set(joined.map(\.id)).count == 5)
        #expect(try await storage.getAllSessions().map(\.id) == ["newer"])
        withExtendedLifetime(keep) {}
    }

    @Test("A deleted session is gone, others stay, and any string is a valid ID", arguments: SimpleSessionStorage.all)
    func deleting(_ kind: SimpleSessionStorage) async throws {
        let (storage, keep) = kind.make(clock)
        let ids = ["", "_", "a", "A", "a/b", "a.b", "\u{e9}", "e\u{301}", "a\u{0}", "%41", "a/", "漢"]
        for id in ids {
            try await storage.updateSessionMessages(id: id, messages: [ChatMessage(role: .user, content: "of \(id)")])
        }
        #expect(try await storage.getAllSessions().count == ids.count)
        for (count, id) in ids.enumerated() {
            let session = try #require(try await storage.getSession(id: id))
            #expect(session.id.hasSameBytes(as: id) && session.messages[0].content.hasSameBytes(as: "of \(id)"))
            try await storage.deleteSession(id: id)
            #expect(try await storage.getSession(id: id) == nil)
            #expect(try await storage.getAllSessions().count == ids.count - count - 1)
        }
        try await storage.deleteSession(id: "nobody")
        for id in ids { try await storage.saveSession(id: id, firstMessage: id) }
        try await storage.deleteAllSessions()
        #expect(try await storage.getAllSessions().isEmpty)
        withExtendedLifetime(keep) {}
    }

    @Test("Concurrent calls lose nothing", arguments: SimpleSessionStorage.all)
    func concurrency(_ kind: SimpleSessionStorage) async throws {
        let (storage, keep) = kind.make(clock)
        let chats = (0..<30).map { ChatMessage(role: .user, content: "message \($0)") }
        try await withThrowingTaskGroup { group in
            for (number, chat) in chats.enumerated() {
                group.addTask {
                    try await storage.updateSessionMessages(id: "\(number)", messages: [chat])
                    try await storage.saveSession(id: "\(number)", firstMessage: "later")
                    try await storage.updateSessionId(oldId: "\(number)", newId: "all")
                }
                group.addTask { _ = try await storage.getAllSessions() }
                group.addTask { _ = try await storage.getSession(id: "all") }
            }
            try await group.waitForAll()
        }
        let all = try #require(try await storage.getSession(id: "all"))
        #expect(Set(all.messages) == Set(chats) && all.messages.count == chats.count)
        #expect(try await storage.getAllSessions().map(\.id) == ["all"])
        withExtendedLifetime(keep) {}
    }
}
