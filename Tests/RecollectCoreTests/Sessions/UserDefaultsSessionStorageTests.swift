import Foundation
import Testing

@testable import RecollectCore

@Suite("Sessions in user defaults")
struct UserDefaultsSessionStorageTests {
    private let suite = DefaultsSuite()
    private let chats = ["one", "two", "three"].map { ChatMessage(role: .user, content: $0) }

    @Test("Concurrent storages of one suite lose nothing of each other's sessions")
    func oneSuite() async throws {
        let storages = [suite.storage(), suite.storage()]
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask { [chats] in
                    try await storages[number % 2].updateSessionMessages(id: "\(number)", messages: chats)
                    try await storages[(number + 1) % 2].updateSessionId(oldId: "\(number)", newId: "\(number / 4)!")
                }
            }
            try await group.waitForAll()
        }
        let sessions = try await suite.storage().getAllSessions()
        #expect(Set(sessions.map(\.id)) == ["0!", "1!", "2!", "3!", "4!"])
        #expect(sessions.allSatisfy { $0.messages == chats })
    }

    @Test("Calls of one actor run in their order")
    @MainActor
    func callOrder() async throws {
        let storage = suite.storage()
        for round in 0..<4 {
            let saves = (0..<100).map { number in
                let entry = ChatMessage(role: .user, content: "\(round) \(number)")
                return Task { try await storage.updateSessionMessages(id: "s", messages: [entry]) }
            }
            for save in saves { try await save.value }
            #expect(try await storage.getSession(id: "s")?.messages.map(\.content) == ["\(round) 99"])
        }
    }

    @Test("A save writes only the key of its session, and a storage writes no foreign key")
    func keys() async throws {
        suite.set("mine", forKey: "recollect")
        let storage = suite.storage()
        try await storage.updateSessionMessages(id: "a", messages: chats)
        try await storage.updateSessionMessages(id: "a.b/c", messages: chats)
        let before = suite.defaults.data(forKey: "recollect.session/a")
        try await storage.updateSessionMessages(id: "a.b/c", messages: [])
        #expect(suite.defaults.data(forKey: "recollect.session/a") == before)
        #expect(suite.defaults.data(forKey: "recollect.session/a%2Eb%2Fc") != nil)
        try await storage.deleteAllSessions()
        #expect(suite.defaults.dictionaryRepresentation().keys.filter { $0.hasPrefix("recollect") } == ["recollect"])
    }

    @Test("Unknown data of a newer version in a session and its messages survives a save")
    func foreignMessages() async throws {
        let storage = suite.storage()
        try await storage.updateSessionMessages(id: "s", messages: chats)
        let text = String(decoding: try #require(suite.defaults.data(forKey: "recollect.session/s")), as: UTF8.self)
        let newer = text.replacing("{\"createdAt\"", with: "{\"colour\":\"blue\",\"createdAt\"", maxReplacements: 1)
            .replacing("\"role\":\"user\"", with: "\"mood\":[1],\"role\":\"user\"")
        suite.set(Data(newer.utf8), forKey: "recollect.session/s")
        var edited = chats
        edited[1].content = "TWO"
        try await storage.updateSessionMessages(id: "s", messages: edited)
        let after = String(decoding: try #require(suite.defaults.data(forKey: "recollect.session/s")), as: UTF8.self)
        #expect(after.contains("\"colour\":\"blue\""))
        #expect(after.components(separatedBy: "\"mood\":[1]").count == 4)
        #expect(try await storage.getSession(id: "s")?.messages == edited)
    }

    @Test("Listing reads no messages, so that a damaged transcript does not affect the list")
    func listing() async throws {
        let storage = suite.storage()
        try await storage.updateSessionMessages(id: "s", messages: chats)
        try damage { $0.replacing("\"two\"", with: "\"tw") }
        let listed = try await storage.getAllSessions()
        #expect(listed.map(\.firstUserMessage) == ["one"])
        #expect(asideKeys.isEmpty)
        let read = await Task.detached { listed[0].messages }.value
        #expect(read == [chats[0], chats[2]])
        #expect(asideKeys.count == 1)
        #expect(storage.events.takeUndelivered().map(\.recoveredMessages) == [2])
    }

    @Test("A damaged transcript is set aside and salvaged, and deleting its session erases both values")
    func damagedTranscript() async throws {
        let storage = suite.storage()
        try await storage.saveSession(id: "s", firstMessage: "hello")
        try await storage.updateSessionMessages(id: "s", messages: chats)
        try damage { $0.replacing("\"two\"", with: "\"tw") }
        let damaged = suite.defaults.data(forKey: "recollect.session/s")
        let session = try #require(try await storage.getSession(id: "s"))
        #expect(session.messages == [chats[0], chats[2]] && session.firstUserMessage == "hello")
        #expect(asideKeys.map { suite.defaults.data(forKey: $0) } == [damaged])
        #expect(storage.events.takeUndelivered().map(\.kind) == [.salvaged])
        try await storage.updateSessionMessages(id: "s", messages: chats)
        #expect(try await storage.getSession(id: "s")?.messages == chats)
        try await storage.updateSessionId(oldId: "s", newId: "t")
        #expect(asideKeys.count == 1)
        try await storage.deleteSession(id: "t")
        #expect(asideKeys.isEmpty)
    }

    @Test(
        "A value that is not a session is set aside, and the list still works", arguments: ["", "\n", "{}\n[]", "["])
    func damagedSession(_ text: String) async throws {
        let storage = suite.storage()
        try await storage.updateSessionMessages(id: "good", messages: chats)
        suite.set(Data(text.utf8), forKey: "recollect.session/s")
        suite.set("no data", forKey: "recollect.session/t")
        #expect(Set(try await storage.getAllSessions().map(\.id)) == ["good", "s", "t"])
        #expect(asideKeys.count == 2)
        try await storage.updateSessionMessages(id: "s", messages: chats)
        #expect(try await suite.storage().getSession(id: "s")?.messages == chats)
    }

    @Test("If the first line of a value is damaged, the messages and the first user message are still read")
    func damagedFirstLine() async throws {
        let storage = suite.storage()
        try await storage.updateSessionMessages(id: "s", messages: chats)
        try damage { String($0.dropFirst(10)) }
        let session = try #require(try await storage.getSession(id: "s"))
        #expect(session.messages == chats && session.firstUserMessage == "one")
        #expect(session.createdAt == chats[0].timestamp)
    }

    private var asideKeys: [String] {
        suite.defaults.dictionaryRepresentation().keys.filter { $0.hasPrefix("recollect.aside/recollect.session/") }
    }

    private func damage(_ change: (String) -> String) throws {
        let data = try #require(suite.defaults.data(forKey: "recollect.session/s"))
        suite.set(Data(change(String(decoding: data, as: UTF8.self)).utf8), forKey: "recollect.session/s")
    }
}
