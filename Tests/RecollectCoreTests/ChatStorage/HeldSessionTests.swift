import Foundation
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Sessions locked by another process")
struct HeldSessionTests {
    private let folder: TemporaryFolder
    private let store: FileChatStorage

    init() throws {
        folder = try TemporaryFolder()
        store = FileChatStorage(baseURL: folder.url, durability: .relaxed, maxWait: .seconds(600))
    }

    /// Locks a session as a hanging process does, until the result is released.
    private func hold(_ session: String) throws -> OpenFolder {
        let held = try OpenFolder(path: folder.url.appendingPathComponent("u/\(session)").path)
        try held.lock(exclusively: true)
        return held
    }

    @Test("A locked session delays only its own callers, whose calls continue in order after its release")
    func othersDoNotWait() async throws {
        let sessions = (0..<8).map { "held\($0)" }
        for session in sessions { try await store.save(turn(0), session: session) }
        var holders = try sessions.map(hold)
        let finished = Locked(0)
        let calls = sessions.map { session in
            Task {
                defer { finished.withLock { $0 += 1 } }
                try await store.save(turn(1), session: session)
                try await store.save(turn(2), session: session)
                return try await store.load(session: session)
            }
        }
        let reader = Task {
            defer { finished.withLock { $0 += 1 } }
            return try await store.load(session: sessions[0])
        }
        // More calls than threads, so that the calls of the locked sessions began long before the last.
        for number in 0..<40 {
            try await store.save(turn(number), session: "free", user: "other \(number)")
            #expect(try await store.load(session: "free", user: "other \(number)") == turn(number))
        }
        #expect(finished.withLock { $0 } == 0)
        holders = []
        for call in calls { #expect(try await call.value == turns(0...2)) }
        #expect(try await Array(reader.value.prefix(2)) == turn(0))
        withExtendedLifetime(holders) {}
    }

    @Test(
        "The first access to a session lists neither all users nor all sessions",
        .needs(.strace))
    func firstTouchListsNothing() async throws {
        let strace = try #require(strace)
        try await store.save(turn(0))
        let trace = folder.url.appendingPathComponent("trace").path
        let options = ["-f", "-qq", "-y", "-e", "trace=getdents64", "-o", trace]
        let worker = try Worker(["append", folder.url.path, "a", "w", "1", "0", "0"], under: [strace] + options)
        #expect(await worker.finish() == ["saved 0"])
        let listed = try String(contentsOfFile: trace, encoding: .utf8)
        #expect(listed.contains("\(folder.url.path)/u/s>"))
        #expect(!listed.contains("\(folder.url.path)>") && !listed.contains("\(folder.url.path)/u>"))
    }

    @Test("Names of every kind are found without a listing, and no two are equal on any file system")
    func namesWithoutListing() async throws {
        let names = ["a", "B", "%42", "ab", "Ab", "aB", "é", "e\u{301}", "x y", String(repeating: "z", count: 300)]
        for (number, session) in names.enumerated() {
            try await store.save(turn(number), session: session)
        }
        let again = FileChatStorage(baseURL: folder.url)
        for (number, session) in names.enumerated() {
            #expect(try await again.load(session: session) == turn(number))
        }
        // Agent Squad's names are found without a listing, too; a name that differs only in case is another user's.
        let base = folder.url.appendingPathComponent("Ann/S%20One")
        try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true)
        try Data("[]".utf8).write(to: base.appendingPathComponent("a.json"))
        try await again.save(turn(1), session: "S One", user: "Ann")
        try await again.save(turn(2), session: "S One", user: "ann")
        #expect(try FileManager.default.contentsOfDirectory(atPath: base.path) == ["a.json"])
        #expect(try await again.load(session: "S One", user: "Ann") == turn(1))
        let users = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(users.contains("Ann") && users.contains("%61%6E%6E") && !users.contains("ann"))
    }
}
