import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("FileChatStorage")
struct FileChatStorageTests {
    private let folder: TemporaryFolder
    private let store: FileChatStorage

    init() throws {
        folder = try TemporaryFolder()
        store = FileChatStorage(baseURL: folder.url)
    }

    /// The file, read by an independent parser.
    private func parsed(agent: String = "a") throws -> [[String: Any]] {
        let data = try Data(contentsOf: folder.file(agent: agent))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    @Test("After every save, the file is one JSON array of the stored messages")
    func validJSON() async throws {
        for number in 0..<30 {
            try await store.save(
                turn(number, text: String(repeating: "é", count: number * 60)), budget: number < 10 ? nil : 6)
            #expect(try parsed().map { $0["id"] as? String } == (try await store.load().map(\.id)))
        }
    }

    @Test("A new store reads the saved messages")
    func reopens() async throws {
        try await store.save(turns(1...3), budget: 4)
        let again = FileChatStorage(baseURL: folder.url)
        #expect(try await again.load() == turns(2...3))
        try await again.save(turn(3) + turn(4))
        #expect(try await store.load() == turns(2...4))
    }

    @Test("Files and folders are private to the user, whatever the umask")
    func permissions() async throws {
        let base = folder.url.appendingPathComponent("new/deep")
        try await FileChatStorage(baseURL: base).save(turn(1), agent: String(repeating: "é", count: 200))
        let manager = FileManager.default
        let paths = try #require(manager.enumerator(atPath: folder.url.path)).allObjects.compactMap { $0 as? String }
        #expect(paths.count == 6)
        for path in paths {
            let attributes = try manager.attributesOfItem(atPath: folder.url.appendingPathComponent(path).path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(path)")
        }
    }

    @Test("A read creates no files")
    func readingIsReading() async throws {
        #expect(try await store.load().isEmpty)
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("An empty save creates no file")
    func emptySave() async throws {
        try await store.save([], budget: 10)
        #expect(try folder.names().isEmpty)
    }

    @Test("The default folder is in the caches folder of the file manager")
    func defaultFolder() {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
        #expect(FileChatStorage().baseURL.path == caches.appendingPathComponent("AgentSquadChats").path)
    }

    @Test("An Agent Squad file remains the scope's file, with its bytes unchanged")
    func agentSquad() async throws {
        let session = folder.url.appendingPathComponent("Bob/Trip%201")
        try FileManager.default.createDirectory(at: session, withIntermediateDirectories: true)
        let text =
            #"[{"timestamp":1718000000123,"id":"x","role":"user","parts":[{"text":{"_0":"h\u0069"}}],"new":1.50}]"#
        try Data(text.utf8).write(to: session.appendingPathComponent("techAgent.json"))
        try await store.save([turn(1)[1]], agent: "techAgent", session: "Trip 1", user: "Bob")
        #expect(try await store.load(agent: "techAgent", session: "Trip 1", user: "Bob").map(\.id) == ["x", "1-a"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: session.path) == ["techAgent.json"])
        let file = try String(contentsOf: session.appendingPathComponent("techAgent.json"), encoding: .utf8)
        #expect(file.hasPrefix(text.dropLast()))
        // An ID that differs only in case belongs to another user, on every file system.
        try await store.save(turn(2), agent: "techagent", session: "trip 1", user: "bob")
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == ["Bob", "%62%6F%62"])
        #expect(try await store.load(agent: "techAgent", session: "Trip 1", user: "Bob").count == 2)
    }

    @Test("IDs too long for a file name are saved in a file beside it")
    func longIds() async throws {
        let long = String(repeating: "Ünï/", count: 300)
        try await store.save(turn(1), agent: long, session: long, user: long)
        let again = FileChatStorage(baseURL: folder.url)
        #expect(try await again.load(agent: long, session: long, user: long) == turn(1))
        #expect(try await again.fetchAllChats(userId: long, sessionId: long).last?.text == "[\(long)] text 1!")
    }

    @Test(
        "Saved messages stay readable when another program creates a file or folder with the plain name",
        arguments: 0..<3)
    func plainNameLater(level: Int) async throws {
        func fileURL(_ name: String) -> URL {
            let names = (0..<3).map { $0 == level ? name : ["u", "s", "a"][$0] }
            return folder.url.appendingPathComponent("\(names[0])/\(names[1])/\(names[2]).json")
        }
        let ids = (0..<3).map { $0 == level ? "bob" : ["u", "s", "a"][$0] }
        func make(_ name: String, _ message: String) throws {
            try FileManager.default.createDirectory(
                at: fileURL(name).deletingLastPathComponent(), withIntermediateDirectories: true)
            try JSONEncoder().encode([ConversationMessage(id: message, role: .user, text: "theirs")]).write(
                to: fileURL(name))
        }
        try make("Bob", "theirs")
        try await store.save(turn(1), agent: ids[2], session: ids[1], user: ids[0])
        try make("bob", "later")
        try await store.save(turn(2), agent: ids[2], session: ids[1], user: ids[0])
        let again = FileChatStorage(baseURL: folder.url)
        #expect(try await again.load(agent: ids[2], session: ids[1], user: ids[0]) == turns(1...2))
        let all = try await again.fetchAllChats(userId: ids[0], sessionId: ids[1])
        #expect(all.contains { $0.id == "2-q" } && !all.contains { $0.id == "later" })
        #expect(try await again.scopes().contains(Scope(userId: ids[0], sessionId: ids[1], agentId: ids[2])))
    }

    @Test("A trim moves only the window, and the file stays small")
    func staysSmall() async throws {
        for number in 0..<300 {
            try await store.save(turn(number, text: String(repeating: "x", count: 500)), budget: 10)
        }
        #expect(try await store.load().map(\.id) == turns(295..<300).map(\.id))
        let size = try #require(FileManager.default.attributesOfItem(atPath: folder.file().path)[.size] as? Int)
        #expect(size < 40_000)
        #expect(try folder.names() == ["a.json"])
    }

    @Test("A message of 50 MB and a batch of 10,000 messages are saved", .needs(.time))
    func large() async throws {
        let text = String(repeating: "0123456789", count: 5_000_000)
        try await store.save([ConversationMessage(id: "big", role: .user, text: text)])
        try await store.save(
            (0..<10_000).map { ConversationMessage(id: "\($0)", role: $0 % 2 == 0 ? .assistant : .user, text: "") })
        let again = FileChatStorage(baseURL: folder.url)
        #expect(try await again.load(budget: 2).map(\.id) == ["9998", "9999"])
        #expect(try await again.load()[0].text.utf8.count == text.utf8.count)
    }

    @Test("A foreign file in the way reads as empty and stays unchanged; a save throws an error that names it")
    func inTheWay() async throws {
        let manager = FileManager.default
        func expectForeign(_ path: String, _ url: URL) async throws {
            let fresh = FileChatStorage(baseURL: folder.url)
            for store in [store, fresh] {
                let error = await #expect(throws: RecollectError.self) { try await store.save(turn(1)) }
                #expect(
                    error?.code == .foreignStore && error?.message.contains(path) == true,
                    "\(path): \(String(describing: error))")
                #expect(try await store.load() == [])
                #expect(try await store.load(budget: 10) == [])
                #expect(try await store.fetchAllChats(userId: "u", sessionId: "s") == [])
                #expect(try await store.version(userId: "u", sessionId: "s") != nil)
            }
            let event = await fresh.events.stream().first { _ in true }
            #expect(event?.kind == .foreignFile && event?.setAsideURL == nil)
            #expect(manager.fileExists(atPath: url.path))
        }
        let user = folder.url.appendingPathComponent("u")
        try Data("mine".utf8).write(to: user)
        try await expectForeign(user.path, user)
        #expect(try Data(contentsOf: user) == Data("mine".utf8))
        try manager.removeItem(at: user)
        try manager.createDirectory(at: folder.file(), withIntermediateDirectories: true)
        try await expectForeign("a.json", folder.file())
        try manager.removeItem(at: folder.file())
        let elsewhere = folder.url.appendingPathComponent("elsewhere")
        try Data("[]".utf8).write(to: elsewhere)
        try manager.createSymbolicLink(at: folder.file(), withDestinationURL: elsewhere)
        try await expectForeign("a.json", elsewhere)
        #expect(try Data(contentsOf: elsewhere) == Data("[]".utf8))
        try manager.removeItem(at: folder.file())
        #expect(mkfifo(folder.file().path, 0o600) == 0)
        try await expectForeign("a.json", folder.file())
        let session = folder.file().deletingLastPathComponent()
        try manager.removeItem(at: session)
        let chats = folder.url.appendingPathComponent("chats")
        try manager.createDirectory(at: chats, withIntermediateDirectories: true)
        try manager.createSymbolicLink(at: session, withDestinationURL: chats)
        try await expectForeign("u/s", session)
        #expect(try manager.contentsOfDirectory(atPath: chats.path) == [])
    }

    @Test("A store with a file in place of its folder throws")
    func baseIsAFile() async throws {
        let file = folder.url.appendingPathComponent("file")
        try Data("mine".utf8).write(to: file)
        let error = await #expect(throws: RecollectError.self) {
            try await FileChatStorage(baseURL: file).save(turn(1))
        }
        #expect(error?.code == .foreignStore)
        #expect(try await FileChatStorage(baseURL: file).load() == [])
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test("Foreign files in a session's folder stay unchanged and do not affect the session")
    func foreignFilesBeside() async throws {
        try folder.write(Data("no chat".utf8), agent: "notes")
        try folder.write(Data("text".utf8), agent: "x.y")
        try FileManager.default.createDirectory(at: folder.file(agent: "folder"), withIntermediateDirectories: true)
        try await store.save(turn(1))
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").count == 2)
        #expect(try folder.names() == ["a.json", "folder.json", "notes.json", "x.y.json"])
        #expect(try Data(contentsOf: folder.file(agent: "notes")) == Data("no chat".utf8))
    }

    @Test("A folder removed during use is created again")
    func removedFolder() async throws {
        try await store.save(turn(1))
        try FileManager.default.removeItem(at: folder.url)
        #expect(try await store.load().isEmpty)
        try await store.save(turn(1))
        #expect(try await store.load() == turn(1))
    }

    @Test("A file replaced by another program is read again")
    func replacedFile() async throws {
        try await store.save(turns(1...3))
        try folder.write(JSONEncoder().encode(turns(7...9)))
        #expect(try await store.load().map(\.id) == turns(7...9).map(\.id))
        try await store.save(turn(1))
        #expect(try await store.load().map(\.id) == (turns(7...9) + turn(1)).map(\.id))
    }

    @Test("The next save removes temporary files of an ended process")
    func leftovers() async throws {
        try await store.save(turn(1))
        let session = folder.file().deletingLastPathComponent()
        try Data("half".utf8).write(to: session.appendingPathComponent(".recollect-\(UUID().uuidString)"))
        let theirs = [".recollect-\(UUID().uuidString)", ".recollect-x"].sorted()
        for name in theirs {
            try FileManager.default.createDirectory(
                at: session.appendingPathComponent(name), withIntermediateDirectories: false)
        }
        try Data("theirs".utf8).write(to: session.appendingPathComponent(".recollect-notes"))
        try await store.save(turn(2))
        #expect(try folder.names() == theirs.dropLast() + [".recollect-notes", ".recollect-x", "a.json"])
    }

    @Test("More sessions than the store remembers are saved and read")
    func manySessions() async throws {
        for round in 0..<2 {
            for session in 0..<200 {
                try await store.save(turn(round), session: "\(session)")
            }
        }
        for session in 0..<200 {
            #expect(try await store.load(session: "\(session)") == turns(0...1))
        }
    }
}
