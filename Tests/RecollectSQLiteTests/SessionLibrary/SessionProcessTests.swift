import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Real processes on one session library: beside one another, and killed.
@Suite("Processes on one session library", .needs(.processes)) struct SessionProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private let id = SessionKey(userId: "u", sessionId: "s")

    /// The texts of all that a session has, those under its branches behind.
    private func texts(_ history: SQLiteHistoryStore) async throws -> [String] {
        var texts = try await LibraryReplica.messages(of: id, in: history).map(\.message.text)
        for branch in try await history.branches(of: id) {
            texts += try await LibraryReplica.messages(of: branch.id, in: history).map(\.message.text)
        }
        return texts
    }

    /// Everything that is derived is as it would be derived anew, and no row belongs to nothing.
    private func expectWhole(_ history: SQLiteHistoryStore) async throws {
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.read { try DerivedTables.orphans($0) } == [])
        let derived = try await history.write { try DerivedTables(settling: $0) }
        let anew = try await history.write { try DerivedTables(rebuilding: $0) }
        #expect(derived.differences(from: anew) == [])
    }

    @Test(
        "two processes that save transcripts into one session and rename it meanwhile lose nothing and save nothing twice"
    )
    func twoProcesses() async throws {
        let count = 60
        let workers = try ["a", "b"].map { try Worker(["sessions", folder.url.path, $0, "\(count)"]) }
        for worker in workers {
            #expect(await worker.finish().count == count)
            #expect(worker.endedWell)
        }
        let history = folder.history()
        try await history.moveSession(SessionKey(userId: "u", sessionId: "t"), to: "s")
        let kept = try await texts(history)
        for writer in ["a", "b"] {
            for number in 0..<count {
                #expect(kept.count { $0 == "\(writer) \(number)" } == 2, "turn \(number) of \(writer)")
            }
        }
        try await expectWhole(history)
    }

    @Test("killed while transcripts are saved and sessions renamed: each save is whole, what was acknowledged is there")
    func killedSaving() async throws {
        for round in 0..<8 {
            let writer = "w\(round)"
            let worker = try Worker(["sessions", folder.url.path, writer, "100000"])
            _ = await worker.wait(forLines: 1 + round * 5 % 23)
            worker.kill()
            let saved = await worker.finish().count
            let history = folder.history()
            try await history.moveSession(SessionKey(userId: "u", sessionId: "t"), to: "s")
            let kept = try await texts(history)
            for number in 0...saved {
                let count = kept.count { $0 == "\(writer) \(number)" }
                #expect(count == 2 || number == saved && count == 0, "turn \(number) of \(writer)")
            }
            try await expectWhole(history)
            await history.close()
        }
    }

    @Test("killed while a branch is taken out or brought back: it is one or the other, and nothing is lost")
    func killedBranching() async throws {
        var acknowledged = 0
        for round in 0..<8 {
            let worker = try Worker(["branches", folder.url.path])
            _ = await worker.wait(forLines: 1 + round * 7 % 19)
            worker.kill()
            acknowledged += await worker.finish().count
            let history = folder.history()
            let kept = try await texts(history)
            #expect(kept.count.isMultiple(of: 2))
            #expect(kept.count / 2 >= acknowledged && kept.count / 2 <= acknowledged + round + 1)
            try await expectWhole(history)
            await history.close()
        }
    }
}
