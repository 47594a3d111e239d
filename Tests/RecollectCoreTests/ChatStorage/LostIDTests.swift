import Foundation
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore

/// The file beside a hashed name contains the original ID.
@Suite("Lost ID files")
struct LostIDTests {
    private let folder: TemporaryFolder
    private let long = String(repeating: "\u{1F9E0}", count: 100)

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Loss: String, CaseIterable {
        case missing, empty, longer, other, enormous, folder, link

        /// Whether the file may be overwritten by a save.
        var isRepaired: Bool { self != .folder && self != .link }

        func happen(to file: URL) throws {
            let id = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            switch self {
            case .missing: break
            case .empty: try Data().write(to: file)
            case .longer: try (id + id).write(to: file)
            case .other: try Data("a".utf8).write(to: file)
            case .enormous:
                try id.write(to: file)
                let handle = try FileHandle(forWritingTo: file)
                try handle.truncate(atOffset: 300 << 30)
                try handle.close()
            case .folder: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            case .link: try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "a.json")
            }
        }
    }

    @Test(
        "A lost agent ID is reported once, hides no other agent, and returns with the agent's next save",
        arguments: Loss.allCases)
    func agent(_ loss: Loss) async throws {
        let first = FileChatStorage(baseURL: folder.url)
        try await first.save(turn(1), agent: long)
        try await first.save(turn(2))
        let file = folder.url.appendingPathComponent("u/s/\(NameEscaping.hashed(long)).id")
        try loss.happen(to: file)

        let store = FileChatStorage(baseURL: folder.url)
        for _ in 0..<2 {
            #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").map(\.id) == ["2-q", "2-a"])
        }
        let events = store.events.takeUndelivered()
        #expect(events.map(\.kind) == [.missingFile] && events.first?.scope?.sessionId == "s")
        #expect((events.first?.failure as? RecollectError)?.code == .damaged)
        #expect(try await store.scopes() == [Scope(userId: "u", sessionId: "s", agentId: "a")])
        #expect(store.events.takeUndelivered().map(\.kind) == [.missingFile])

        try await store.save(turn(3), agent: long)
        #expect(try await store.load(agent: long) == turn(1) + turn(3))
        let again = FileChatStorage(baseURL: folder.url)
        let all = try await again.fetchAllChats(userId: "u", sessionId: "s").map(\.id)
        #expect(all == (loss.isRepaired ? ["1-q", "1-a", "2-q", "2-a", "3-q", "3-a"] : ["2-q", "2-a"]))
        #expect(try await again.scopes().count == (loss.isRepaired ? 2 : 1))
        #expect(again.events.takeUndelivered().isEmpty == loss.isRepaired)
        if loss == .folder { #expect(try FileManager.default.contentsOfDirectory(atPath: file.path).isEmpty) }
        if loss == .link { #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == "a.json") }
    }

    @Test("Two writers that find an ID missing at the same time both save it")
    func savedTogether() throws {
        let (name, path) = (NameEscaping.hashed(long), folder.url.path)
        let folder = try OpenFolder(path: path)
        let (hasBegun, isOver, failures) = (Locked(false), Locked(false), Locked<[any Error]>([]))
        @Sendable func save() {
            do {
                try FolderNames([]).save(long, of: name, in: folder)
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        let other = DispatchGroup()
        DispatchQueue.global().async(group: other) {
            hasBegun.withLock { $0 = true }
            while !isOver.withLock({ $0 }) { save() }
        }
        while !hasBegun.withLock({ $0 }) { sched_yield() }
        for _ in 0..<1000 {
            unlink("\(path)/\(name).id")
            save()
        }
        isOver.withLock { $0 = true }
        other.wait()
        #expect(failures.withLock { $0 }.isEmpty)
        #expect(try FolderNames([name]).id(of: name, in: folder) == long)
    }

    @Test("A lost user or session ID returns with the next save", arguments: Loss.allCases)
    func folders(_ loss: Loss) async throws {
        let scope = Scope(userId: long, sessionId: long, agentId: "a")
        try await FileChatStorage(baseURL: folder.url).save(turn(1), session: long, user: long)
        let user = folder.url.appendingPathComponent(NameEscaping.hashed(long))
        try loss.happen(to: user.appendingPathComponent("\(NameEscaping.hashed(long)).id"))
        let store = FileChatStorage(baseURL: folder.url)
        #expect(try await store.scopes() == [])
        #expect(store.events.takeUndelivered().map(\.kind) == [.missingFile])
        try loss.happen(to: folder.url.appendingPathComponent("\(NameEscaping.hashed(long)).id"))
        #expect(try await store.scopes() == [])
        #expect(store.events.takeUndelivered().map(\.kind) == [.missingFile])
        #expect(try await store.load(session: long, user: long) == turn(1))
        let again = FileChatStorage(baseURL: folder.url)
        try await again.save(turn(2), session: long, user: long)
        #expect(try await again.scopes() == (loss.isRepaired ? [scope] : []))
        #expect(try await again.load(session: long, user: long) == turns(1...2))
    }

    @Test(
        "A foreign name that only resembles a hashed name is ignored and not reported",
        arguments: ["#recycle", "#\(String(repeating: "g", count: 64))"])
    func foreignMessages(_ name: String) async throws {
        let store = FileChatStorage(baseURL: folder.url)
        try await store.save(turn(1))
        try Data("[]".utf8).write(to: folder.url.appendingPathComponent("u/s/\(name).json"))
        #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").count == 2)
        #expect(try await store.scopes().count == 1)
        #expect(store.events.takeUndelivered().isEmpty)
    }
}
