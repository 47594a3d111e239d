import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Real processes that share a history: concurrent, killed, and with failing disks.
@Suite("Processes sharing a history", .needs(.processes)) struct ProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var location: String { "history:\(folder.url.path)" }

    /// The saved turns of an agent; expects each turn to be complete, unique and in order.
    private func turns(_ agent: String) async throws -> [String] {
        let stored = try await folder.history().messages(
            of: SessionKey(userId: "u", sessionId: "s"), agentId: agent, page: PageRequest(limit: 100_000)
        ).elements.map(\.message.id)
        #expect(stored.count.isMultiple(of: 2))
        let turns = stride(from: 0, to: stored.count, by: 2).map { pair in
            #expect(stored[pair].dropLast(1) == stored[pair + 1].dropLast(1))
            return String(stored[pair].dropLast(2))
        }
        #expect(Set(turns).count == turns.count)
        return turns
    }

    private func saved(_ lines: [String]) -> [String] {
        lines.compactMap { $0.hasPrefix("saved ") ? String($0.dropFirst("saved ".count)) : nil }
    }

    @Test("Messages have different IDs in a process without a free file descriptor")
    func noDescriptors() async throws {
        let worker = try Worker(["descriptors", folder.url.path, "4"])
        let ids = saved(await worker.finish())
        #expect(ids.count == 5)
        let scope = Scope(userId: "u", sessionId: "s", agentId: "a")
        #expect(try await folder.history().window(of: scope, maxMessages: nil).map(\.id) == ids)
    }

    @Test("Eight processes append to one history without losses, duplicates or failures")
    func eightProcesses() async throws {
        let count = 1000
        let workers = try (0..<8).map { try Worker(["append", location, "shared", "w\($0)", "\(count)", "0", "200"]) }
        for worker in workers {
            #expect(saved(await worker.finish()).count == count)
            #expect(worker.endedWell)
        }
        let stored = try await turns("shared")
        #expect(stored.count == 8 * count)
        for writer in 0..<8 {
            #expect(stored.filter { $0.hasPrefix("w\(writer)-") } == (0..<count).map { "w\(writer)-\($0)" })
        }
        #expect(try await folder.history().check().problems.isEmpty)
    }

    @Test("After a kill at any time, all acknowledged turns are saved and complete, and checks pass")
    func killed() async throws {
        var acknowledged: Set<String> = []
        for round in 0..<20 {
            let writer = "w\(round)"
            let worker = try Worker(["append", location, "a", writer, "100000", "0", "50"])
            let heard = await worker.wait(forLines: 1 + round * 7 % 60)
            worker.kill()
            _ = heard
            acknowledged.formUnion(saved(await worker.finish()).map { "\(writer)-\($0)" })
        }
        let stored = Set(try await turns("a"))
        #expect(acknowledged.subtracting(stored).isEmpty)
        #expect(stored.count <= acknowledged.count + 20)
        #expect(try await folder.history().check().problems.isEmpty)
    }

    @Test(
        "After a kill at any write or sync of a save, all acknowledged turns are saved",
        .needs(.strace))
    func killedAtEachCall() async throws {
        _ = try await Worker(["append", location, "a", "first", "3", "0", "50"]).finish()
        let tracer = try #require(strace)
        var acknowledged: Set<String> = ["first-0", "first-1", "first-2"]
        for call in ["pwrite64", "fdatasync"] {
            for number in stride(from: 1, through: 60, by: call == "pwrite64" ? 3 : 1) {
                let writer = "\(call)\(number)"
                let worker = try Worker(
                    ["append", location, "a", writer, "4", "0", "50"],
                    under: [
                        tracer, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)",
                    ])
                let lines = saved(await worker.finish())
                acknowledged.formUnion(lines.map { "\(writer)-\($0)" })
                if lines.count == 4 { break }
            }
        }
        let stored = Set(try await turns("a"))
        #expect(acknowledged.subtracting(stored).isEmpty)
        #expect(try await folder.history().check().problems.isEmpty)
    }

    @Test(
        "A failed sync fails the save, and the save succeeds when the disk works again",
        .needs(.strace))
    func failingSync() async throws {
        _ = try await Worker(["append", location, "a", "first", "3", "0", "50"]).finish()
        let tracer = try #require(strace)
        let worker = try Worker(
            ["insist", location, "b", "6"],
            under: [
                tracer, "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                "inject=fdatasync:error=EIO:when=3..4",
            ])
        let lines = await worker.finish()
        #expect(lines.contains { $0.hasSuffix("inputOutput") })
        #expect(saved(lines) == (0..<6).map(String.init))
        #expect(try await turns("b") == (0..<6).map { "b-\($0)" })
    }

    @Test(
        "A full disk throws a distinct error, reads continue, and saves succeed when there is space",
        .needs(.tinyDisk))
    func fullDisk() async throws {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 512)
        let history = SQLiteHistoryStore(directory: disk.url.appendingPathComponent("history"))
        var saved = 0
        await expectError(.diskFull) {
            while saved < 1000 {
                let filler = ConversationMessage(
                    id: "\(saved)", role: .user, text: String(repeating: "x\(saved) ", count: 2000))
                try await history.append([filler], to: scope)
                saved += 1
            }
        }
        #expect(saved > 0)
        #expect(try await history.window(of: scope, maxMessages: nil).map(\.id) == (0..<saved).map(String.init))
        try disk.resize(kilobytes: 8192)
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil).count == saved + 2)
        #expect(try await history.check().problems.isEmpty)
        await history.close()
    }

    @Test(
        "A read-only file system throws a clear error",
        .needs(.tinyDisk))
    func readOnlyDisk() async throws {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 4096)
        try disk.makeReadOnly()
        await expectError(.readOnly) {
            try await SQLiteHistoryStore(directory: disk.url.appendingPathComponent("history")).open()
        }
    }

    @Test(
        "Every acknowledged turn survives a power loss",
        .needs(.cuttableDisk), arguments: [1, 5, 60])
    func powerCut(lines: Int) async throws {
        let disk = try CuttableDisk(in: folder.url)
        let directory = disk.url.appendingPathComponent("history")
        let worker = try Worker(["append", "history:\(directory.path)", "a", "w", "10000", "0", "1000"])
        // Only turns printed before the power loss count: unlike a process without power, the worker outlives its disk.
        let acknowledged = saved(await worker.wait(forLines: lines))
        try disk.cutPower()
        let said = saved(await worker.finish()).count
        try disk.restart()
        let history = SQLiteHistoryStore(directory: directory)
        let stored = try await history.messages(
            of: SessionKey(userId: "u", sessionId: "s"), agentId: nil, page: PageRequest(limit: 100_000)
        ).elements.map(\.message.id)
        #expect(stored.count >= 2 * acknowledged.count)
        #expect(stored.count <= 2 * said + 2)
        #expect(stored.starts(with: acknowledged.flatMap { ["w-\($0)-q", "w-\($0)-a"] }))
        #expect(try await history.check().problems.isEmpty)
        await history.close()
    }

    @Test("The change feed returns another process's writes within a second")
    func feed() async throws {
        let history = folder.history()
        try await history.append(messages(0..<1), to: scope)
        var changes = history.changes(after: try await history.latestChangeCursor()).makeAsyncIterator()
        let worker = try Worker(["append", location, "a", "w", "1", "0", "0"])
        #expect(try await changes.next()?.messageId == "w-0-q")
        #expect(try await changes.next()?.messageId == "w-0-a")
        _ = await worker.finish()
    }
}
