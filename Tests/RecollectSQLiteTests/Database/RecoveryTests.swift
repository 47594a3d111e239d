import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Recovery after killed processes, purged files and power losses.
@Suite("Crash recovery") struct RecoveryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func ids(in history: SQLiteHistoryStore) async throws -> [String] {
        try await history.messages(
            of: SessionKey(userId: "u", sessionId: "s"), agentId: nil, page: PageRequest(limit: 100_000)
        ).elements.map(\.message.id)
    }

    /// Expects that a history accepts a save and passes a check.
    private func expectUsable(_ history: SQLiteHistoryStore) async throws {
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
        #expect(try await history.check().problems.isEmpty)
    }

    @Test(
        "After a kill at any write or sync of a creation, the next process creates or uses the history",
        .needs(.strace),
        arguments: ["pwrite64", "fdatasync", "fsync"])
    func killedWhileMaking(call: String) async throws {
        let tracer = try #require(strace)
        var reachedTheEnd = false
        // Every third write is enough: several writes are pages of the same transaction.
        for number in stride(from: 1, through: 300, by: call == "pwrite64" ? 3 : 1) where !reachedTheEnd {
            let historyFolder = folder.file("\(number)")
            let worker = try Worker(
                ["append", "history:\(historyFolder.path)", "a", "w", "1", "0", "0"],
                under: [
                    tracer, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                    "inject=\(call):signal=KILL:when=\(number)",
                ])
            let wasSaved = await worker.finish() == ["saved 0"]
            reachedTheEnd = wasSaved && worker.endedWell
            let history = SQLiteHistoryStore(directory: historyFolder)
            let saved = try await ids(in: history)
            #expect(saved == ["w-0-q", "w-0-a"] || saved.isEmpty && !wasSaved, "\(call) \(number)")
            let names = try FileManager.default.contentsOfDirectory(atPath: historyFolder.path)
            #expect(!names.contains { $0.hasPrefix("history.damaged-") }, "\(call) \(number)")
            try await expectUsable(history)
        }
        #expect(reachedTheEnd)
    }

    @Test(
        "A log purged after a crash loses only its own content, and purged shared memory loses nothing",
        .needs(.processes))
    func purgedAfterACrash() async throws {
        for suffix in ["-wal", "-shm"] {
            let historyFolder = folder.file("without\(suffix)")
            let worker = try Worker(["append", "history:\(historyFolder.path)", "a", "w", "100000", "0", "2000"])
            let acknowledged = await worker.wait(forLines: 40).count
            worker.kill()
            _ = await worker.finish()
            try FileManager.default.removeItem(at: historyFolder.appendingPathComponent("history.sqlite\(suffix)"))
            let history = SQLiteHistoryStore(directory: historyFolder)
            let saved = try await ids(in: history)
            #expect(saved == (0..<saved.count / 2).flatMap { ["w-\($0)-q", "w-\($0)-a"] })
            if suffix == "-shm" { #expect(saved.count >= 2 * acknowledged) }
            try await expectUsable(history)
        }
    }

    @Test(
        "With relaxed durability, a power loss loses at most the last turns",
        .needs(.cuttableDisk))
    func powerCutWhenRelaxed() async throws {
        let disk = try CuttableDisk(in: folder.url)
        let directory = disk.url.appendingPathComponent("history")
        let worker = try Worker(["append", "relaxed:\(directory.path)", "a", "w", "10000", "0", "1000"])
        _ = await worker.wait(forLines: 60)
        try disk.cutPower()
        let said = await worker.finish().count
        try disk.restart()
        let history = SQLiteHistoryStore(directory: directory)
        let saved = try await ids(in: history)
        #expect(saved == (0..<saved.count / 2).flatMap { ["w-\($0)-q", "w-\($0)-a"] })
        #expect(saved.count <= 2 * said + 2)
        try await expectUsable(history)
        await history.close()
    }

    @Test("A message of 50 MB is saved, read and found by its first word", .needs(.time))
    func hugeMessage() async throws {
        let history = folder.history()
        let text = "quetzalcoatl " + String(repeating: "0123456789abcde ", count: 50_000_000 / 16)
        let huge = ConversationMessage(id: "huge", role: .user, text: text)
        try await history.append([huge], to: scope)
        #expect(try await folder.history().window(of: scope, maxMessages: nil) == [huge])
        let found = try await history.search(SearchQuery(userId: scope.userId, text: "quetzalcoatl"))
        #expect(found.elements.map(\.messageId) == ["huge"])
    }
}
