import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Concurrent and killed processes with one session library.
@Suite("Processes that share a session library", .needs(.processes)) struct SessionProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private let id = SessionKey(userId: "u", sessionId: "s")

    /// The texts of a session's messages, followed by those of its branches.
    private func texts(_ history: SQLiteHistoryStore) async throws -> [String] {
        var texts = try await LibraryReplica.messages(of: id, in: history).map(\.message.text)
        for branch in try await history.branches(of: id) {
            texts += try await LibraryReplica.messages(of: branch.id, in: history).map(\.message.text)
        }
        return texts
    }

    /// Expects derived data equal to rebuilt data, and no orphaned rows.
    private func expectWhole(_ history: SQLiteHistoryStore) async throws {
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.read { try DerivedTables.orphans($0) } == [])
        let derived = try await history.write { try DerivedTables(settling: $0) }
        let anew = try await history.write { try DerivedTables(rebuilding: $0) }
        #expect(derived.differences(from: anew) == [])
    }

    @Test("Two processes that save transcripts to one session and rename it lose and duplicate nothing")
    func twoProcesses() async throws {
        let count = 60
        let workers = try ["a", "b"].map { try Worker(["sessions", folder.url.path, $0, "\(count)"]) }
        for worker in workers {
            #expect(await worker.finish().count == count)
            #expect(worker.endedWell)
        }
        let history = folder.history()
        try await history.moveSession(SessionKey(userId: "u", sessionId: "t"), to: "s")
        let stored = try await texts(history)
        for writer in ["a", "b"] {
            for number in 0..<count {
                #expect(stored.count { $0 == "\(writer) \(number)" } == 2, "turn \(number) of \(writer)")
            }
        }
        try await expectWhole(history)
    }

    @Test("A kill during saves and renames leaves every save complete or absent, and loses no acknowledged save")
    func killedSaving() async throws {
        for round in 0..<8 {
            let writer = "w\(round)"
            let worker = try Worker(["sessions", folder.url.path, writer, "100000"])
            _ = await worker.wait(forLines: 1 + round * 5 % 23)
            worker.kill()
            let saved = await worker.finish().count
            let history = folder.history()
            try await history.moveSession(SessionKey(userId: "u", sessionId: "t"), to: "s")
            let stored = try await texts(history)
            for number in 0...saved {
                let count = stored.count { $0 == "\(writer) \(number)" }
                #expect(count == 2 || number == saved && count == 0, "turn \(number) of \(writer)")
            }
            try await expectWhole(history)
            await history.close()
        }
    }

    @Test("A kill while a branch is made or restored leaves the state before or after, and loses nothing")
    func killedBranching() async throws {
        var acknowledged = 0
        for round in 0..<8 {
            let worker = try Worker(["branches", folder.url.path])
            _ = await worker.wait(forLines: 1 + round * 7 % 19)
            worker.kill()
            acknowledged += await worker.finish().count
            let history = folder.history()
            let stored = try await texts(history)
            #expect(stored.count.isMultiple(of: 2))
            #expect(stored.count / 2 >= acknowledged && stored.count / 2 <= acknowledged + round + 1)
            try await expectWhole(history)
            await history.close()
        }
    }
}
