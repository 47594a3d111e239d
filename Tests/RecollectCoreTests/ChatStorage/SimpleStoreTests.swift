import Foundation
import Testing

@testable import RecollectCore

/// A kind of store that every test of this file runs on; `make` creates a new one.
struct SimpleStore: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let make: @Sendable (SameRolePolicy) throws -> (store: any ChatStorage, keep: AnyObject & Sendable)

    static let all = [
        SimpleStore(testDescription: "memory") { (InMemoryChatStorage(sameRole: $0), Token()) },
        SimpleStore(testDescription: "file") {
            let folder = try TemporaryFolder()
            return (FileChatStorage(baseURL: folder.url, sameRole: $0), folder)
        },
        SimpleStore(testDescription: "user defaults") {
            let suite = DefaultsSuite()
            return (UserDefaultsChatStorage(suiteName: suite.name, sameRole: $0), suite)
        },
    ]

    final class Token: Sendable {}
}

@Suite("Simple stores")
struct SimpleStoreTests {
    @Test("Messages are returned in the order of their saves, whatever their dates", arguments: SimpleStore.all)
    func order(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        let saved = turn(5) + turn(1) + turn(9)
        for message in saved {
            try await store.save(message, userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        }
        #expect(try await store.load() == saved)
        #expect(try await store.load(budget: 3) == saved.suffix(2))
        withExtendedLifetime(keep) {}
    }

    @Test("Scopes are separate, whatever their IDs", arguments: SimpleStore.all)
    func scopes(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        let ids = [
            "", "_", "a", "A", "a.b", "a/b", "..", "\u{e9}", "e\u{301}", "a\u{0}", "%41",
            String(repeating: "é", count: 300),
        ]
        for user in ids {
            for session in ids {
                let id = "\(user)|\(session)"
                try await store.save(
                    [ConversationMessage(id: id, role: .user, text: id)], agent: session, session: session, user: user)
            }
        }
        for user in ids {
            for session in ids {
                let texts = try await store.load(agent: session, session: session, user: user).map(\.text)
                #expect(texts.count == 1 && texts[0].hasSameBytes(as: "\(user)|\(session)"))
                #expect(try await store.fetchAllChats(userId: user, sessionId: session).count == 1)
            }
        }
        #expect(try await store.load(agent: "other", session: "a", user: "a").isEmpty)
        withExtendedLifetime(keep) {}
    }

    @Test("A save with a budget trims, and trimmed IDs may be saved again", arguments: SimpleStore.all)
    func trims(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        for number in 0..<40 {
            try await store.save(turn(number, text: String(repeating: "x", count: 400)), budget: 5)
            #expect(try await store.load().map(\.id) == turns(max(0, number - 1)...number).map(\.id))
        }
        try await store.save(turn(0), budget: 5)
        #expect(try await store.load().map(\.id) == (turn(39) + turn(0)).map(\.id))
        try await store.save([], budget: 2)
        #expect(try await store.load().map(\.id) == turn(0).map(\.id))
        try await store.save([], budget: 1)
        #expect(try await store.load().isEmpty)
        try await store.save(turn(7), budget: 0)
        #expect(try await store.load().isEmpty)
        try await store.save(turns(8...9))
        #expect(try await store.load() == turns(8...9))
        withExtendedLifetime(keep) {}
    }

    @Test("A repeated role is dropped by default, but never a tool exchange", arguments: SimpleStore.all)
    func sameRole(_ kind: SimpleStore) async throws {
        let call = ConversationMessage(
            id: "c", role: .assistant, parts: [.toolCall(id: "1", name: "n", arguments: [:])])
        let batch = [
            ConversationMessage(id: "1", role: .user, text: "a"), ConversationMessage(id: "2", role: .user, text: "b"),
            ConversationMessage(id: "3", role: .assistant, text: "c"), call,
            ConversationMessage(id: "4", role: .assistant, text: "d"),
        ]
        let (dropping, first) = try kind.make(.drop)
        try await dropping.save(batch)
        try await dropping.save([ConversationMessage(id: "5", role: .assistant, text: "e")])
        #expect(try await dropping.load().map(\.id) == ["1", "3", "c"])
        let (keeping, second) = try kind.make(.keep)
        try await keeping.save(batch)
        #expect(try await keeping.load() == batch)
        withExtendedLifetime((first, second)) {}
    }

    @Test(
        "A known ID keeps its first content in its scope; other agents and sessions have their own",
        arguments: SimpleStore.all)
    func identity(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        try await store.save(turn(1))
        try await store.save(turn(1, text: "other"))
        for agent in ["b", "c"] { try await store.save(turn(1), agent: agent) }
        try await store.save(turn(1, text: "again"), agent: "c")
        try await store.save(turn(1, text: "elsewhere"), session: "t")
        try await store.save([turn(2)[0], turn(2, text: "twice")[0], turn(2)[1]])
        #expect(try await store.load() == turns(1...2))
        for agent in ["b", "c"] { #expect(try await store.load(agent: agent) == turn(1)) }
        #expect(try await store.load(session: "t") == turn(1, text: "elsewhere"))
        withExtendedLifetime(keep) {}
    }

    @Test("`fetchAllChats` returns every agent of the session and no other session", arguments: SimpleStore.all)
    func merged(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        try await store.save(turn(2), agent: "Tech")
        try await store.save(turn(1), agent: "tech")
        try await store.save(turn(3), session: "s.t")
        let all = try await store.fetchAllChats(userId: "u", sessionId: "s")
        #expect(all.map(\.id) == turns(1...2).map(\.id))
        #expect(all.map(\.text) == ["text 1?", "[tech] text 1!", "text 2?", "[Tech] text 2!"])
        withExtendedLifetime(keep) {}
    }

    @Test("Concurrent saves keep batches together and lose none", arguments: SimpleStore.all)
    func concurrency(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 { group.addTask { try await store.save(turn(number)) } }
            try await group.waitForAll()
        }
        let ids = try await store.load().map(\.id)
        #expect(Set(ids) == Set(turns(0..<40).map(\.id)) && ids.count == 80)
        for index in stride(from: 0, to: 80, by: 2) {
            #expect(ids[index].dropLast() == ids[index + 1].dropLast())
        }
        withExtendedLifetime(keep) {}
    }

    @Test("A canceled task saves nothing", arguments: SimpleStore.all)
    func cancellation(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.drop)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.save(turn(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store.load().isEmpty)
        withExtendedLifetime(keep) {}
    }
}

@Suite("InMemoryChatStorage")
struct InMemoryChatStorageTests {
    private let seed = [
        ConversationMessage(id: "s1", role: .user, text: "hi"),
        ConversationMessage(id: "s2", role: .assistant, text: "hello"),
    ]

    @Test("Seeded messages begin every scope, and appear once, without a prefix, in the merged view")
    func seeded() async throws {
        let store = InMemoryChatStorage(seed)
        #expect(try await store.load(agent: "new") == seed)
        try await store.save(turn(1))
        try await store.save(turn(2), agent: "b")
        #expect(try await store.load() == seed + turn(1))
        #expect(try await store.load(agent: "b") == seed + turn(2))
        let all = try await store.fetchAllChats(userId: "u", sessionId: "s")
        #expect(all.map(\.text) == ["hi", "hello", "text 1?", "[a] text 1!", "text 2?", "[b] text 2!"])
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "none") == seed)
    }

    @Test("A trim removes seeded messages first, only in its scope; their IDs and roles count")
    func seededRules() async throws {
        let store = InMemoryChatStorage(seed)
        try await store.save([ConversationMessage(role: .assistant, text: "dropped"), seed[0]] + turn(1), budget: 2)
        #expect(try await store.load() == turn(1))
        #expect(try await store.load(agent: "b") == seed)
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").prefix(2).map(\.text) == ["hi", "hello"])
    }

    @Test("A dropped message posts an event")
    func events() async throws {
        let store = InMemoryChatStorage()
        let dropped = ConversationMessage(id: "x", role: .user, text: "again")
        try await store.save([turn(1)[0], dropped])
        let event = await store.events.stream().first { _ in true }
        #expect(event?.kind == .droppedSameRole && event?.messageId == "x" && event?.scope?.agentId == "a")
    }
}

@Suite("UserDefaultsChatStorage")
struct UserDefaultsChatStorageTests {
    private let suite = DefaultsSuite()
    private let key = "recollect.chat/u/s/a"

    @Test("A new store reads the saved messages")
    func reopens() async throws {
        try await UserDefaultsChatStorage(suiteName: suite.name).save(turn(1))
        #expect(try await UserDefaultsChatStorage(suiteName: suite.name).load() == turn(1))
    }

    @Test("Stored messages are never encoded again")
    func foreignMessages() async throws {
        let text = #"[ {"timestamp":1.0e3, "id":"x","role":"\u0075ser","parts":[],"new":[1.50]} ]"#
        suite.set(Data(text.utf8), forKey: key)
        try await UserDefaultsChatStorage(suiteName: suite.name).save([turn(1)[1]])
        let data = try #require(suite.defaults.data(forKey: key))
        #expect(String(decoding: data, as: UTF8.self).contains(text.dropFirst(2).dropLast(2)))
    }

    @Test("A damaged value is set aside, and its readable messages stay")
    func damage() async throws {
        let store = UserDefaultsChatStorage(suiteName: suite.name)
        try await store.save(turns(1...2))
        let torn = try #require(suite.defaults.data(forKey: key)).dropLast(3)
        suite.set(Data(torn), forKey: key)
        #expect(try await store.load().map(\.id) == turns(1...2).dropLast().map(\.id))
        let aside = suite.defaults.dictionaryRepresentation().first { $0.key.hasPrefix("recollect.aside/\(key)/") }
        #expect(aside?.value as? Data == Data(torn))
        let event = await store.events.stream().first { _ in true }
        #expect(event?.kind == .salvaged && event?.recoveredMessages == 3)
    }

    @Test("Values of the guide's sample store are found, merged and continued, and stay unchanged")
    func guideKeys() async throws {
        let defaults = try #require(UserDefaults(suiteName: suite.name))
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        let written = try encoder.encode(turns(1...2))
        defaults.set(written, forKey: "AgentSquad.u.s.a")
        defaults.set(try encoder.encode(turn(3)), forKey: "AgentSquad.u.s.tech-agent")
        // This key is ambiguous: user `v`, session `x.s`, or user `v.x`, session `s`.
        defaults.set(try encoder.encode(turn(4)), forKey: "AgentSquad.v.x.s.a")
        defaults.set("mine", forKey: "AgentSquad.u.s.b")
        defaults.synchronize()
        let store = UserDefaultsChatStorage(suiteName: suite.name)
        #expect(try await store.load() == turns(1...2))
        #expect(try await store.load(budget: 2) == turn(2))
        #expect(try await store.load(agent: "b") == [])
        #expect(try await store.load(session: "x.s", user: "v") == [])
        #expect(try await store.load(session: "s", user: "v.x") == [])
        let all = try await store.fetchAllChats(userId: "u", sessionId: "s")
        #expect(all.map(\.id) == turns(1...3).map(\.id))
        #expect(all.last?.text == "[tech-agent] text 3!")
        try await store.save(turn(2) + turn(5), budget: 4)
        #expect(try await UserDefaultsChatStorage(suiteName: suite.name).load() == turn(2) + turn(5))
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").count == 6)
        #expect(defaults.data(forKey: "AgentSquad.u.s.a") == written)
    }

    @Test("Damage in a value of the guide's sample store is reported once, although the value stays")
    func damagedGuideValue() async throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        let torn = try encoder.encode(turns(1...2)).dropLast(3)
        suite.set(Data(torn), forKey: "AgentSquad.u.s.a")
        let store = UserDefaultsChatStorage(suiteName: suite.name)
        for _ in 0..<2 { #expect(try await store.load().count == 3) }
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").count == 3)
        #expect(store.events.takeUndelivered().map(\.recoveredMessages) == [3])
        suite.set(Data(torn.dropLast(60)), forKey: "AgentSquad.u.s.a")
        for _ in 0..<2 { #expect(try await store.load().count < 4) }
        #expect(store.events.takeUndelivered().map(\.kind) == [.salvaged])
    }

    @Test("A foreign value stays unchanged")
    func foreign() async throws {
        suite.set("mine", forKey: key)
        let store = UserDefaultsChatStorage(suiteName: suite.name)
        let error = await #expect(throws: RecollectError.self) { try await store.save(turn(1)) }
        #expect(error?.code == .foreignStore)
        #expect(suite.defaults.string(forKey: key) == "mine")
    }
}
