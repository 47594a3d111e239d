import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Deletion") struct DeletionTests {
    /// The names of all files in a folder, at any depth, that contain a word in their raw bytes.
    private func files(in folder: TemporaryFolder, holding word: String) throws -> [String] {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        return try all.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.file(name).path, isDirectory: &isFolder)
            guard !isFolder.boolValue else { return false }
            return try Data(contentsOf: folder.file(name)).range(of: Data(word.utf8)) != nil
        }
    }

    @Test("No file contains deleted content", arguments: ["message", "session", "user"])
    func leavesNoBytes(what: String) async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let secret = ConversationMessage(id: "secret", role: .user, text: "the code is quetzalcoatl")
        try await history.append(messages(0..<200) + [secret], to: scope)
        try await history.append(messages(0..<200), to: Scope(userId: "bob", sessionId: "s", agentId: "a"))
        let query = SearchQuery(userId: "ann", text: "quetzalcoatl")
        #expect(try await history.search(query).elements.map(\.messageId) == ["secret"])
        #expect(try !files(in: folder, holding: "quetzalcoatl").isEmpty)
        switch what {
        case "message": #expect(try await history.deleteMessages(["secret", "unknown"], in: scope.session) == 1)
        case "session": #expect(try await history.deleteSession(scope.session))
        default: try await history.deleteUser("ann")
        }
        #expect(try await history.search(query).elements.isEmpty)
        #expect(try await history.erasesAll())
        #expect(try files(in: folder, holding: "quetzalcoatl").isEmpty)
        #expect(
            try await history.window(of: Scope(userId: "bob", sessionId: "s", agentId: "a"), maxMessages: nil).count
                == 200)
        let left = try await history.session(scope.session)?.messageCount
        #expect(left == (what == "message" ? 200 : nil))
    }

    @Test("`clear()` erases files that were set aside, and keeps the sessions of other users")
    func clear() async throws {
        let folder = try TemporaryFolder()
        try Data("this is not a database at all, but it has been here before".utf8).write(
            to: folder.file("history.sqlite"))
        let store = try DeviceChatStorage(userId: "ann", baseURL: folder.url)
        try await store.save(messages(0..<1)[0], userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(try folder.names.contains { $0.hasPrefix("history.damaged-") })
        let other = try DeviceChatStorage(userId: "bob", baseURL: folder.url)
        try await other.save(messages(0..<1)[0], userId: "bob", sessionId: "s", agentId: "a", maxMessages: nil)
        try await store.clear()
        let history = try #require(store.history as? SQLiteHistoryStore)
        #expect(try await history.erasesAll())
        #expect(try !folder.names.contains { $0.hasPrefix("history.damaged-") })
        #expect(try await store.fetchAllChats(userId: "ann", sessionId: "s").isEmpty)
        #expect(try await other.fetchAllChats(userId: "bob", sessionId: "s").count == 1)
    }
}
