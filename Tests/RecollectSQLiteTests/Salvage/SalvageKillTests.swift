import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Salvages by killed processes.
@Suite("Killed salvages") struct SalvageKillTests {
    @Test(
        "A salvage killed at any system call is completed at the next opening, with one file set aside",
        .needs(.strace),
        arguments: ["fdatasync,fsync", "rename,renameat,renameat2", "unlink,unlinkat", "pwrite64"])
    func killedAtEachCall(calls: String) async throws {
        let folder = try TemporaryFolder()
        let store = try await SalvageStore(in: folder, rounds: 5)
        var bytes = try Data(contentsOf: store.database)
        let leaf = try #require(try store.pages().first { $0.table == "session" })
        bytes.replaceSubrange((leaf.number - 1) * 4096..<leaf.number * 4096, with: noise(4096, seed: 3))
        let tracer = try #require(strace)
        var reachedTheEnd = false
        var number = 1
        while !reachedTheEnd {
            let historyFolder = folder.file("killed")
            try FileManager.default.createDirectory(at: historyFolder, withIntermediateDirectories: true)
            let database = historyFolder.appendingPathComponent("history.sqlite")
            try bytes.write(to: database)
            let worker = try Worker(
                ["repair", historyFolder.path],
                under: [
                    tracer, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
                    "inject=\(calls):signal=KILL:when=\(number)",
                ])
            let lines = await worker.finish()
            reachedTheEnd = lines.first == "repaired" && worker.endedWell
            let comment: Comment = "\(calls) \(number)"
            let history = SQLiteHistoryStore(directory: historyFolder)
            #expect(try await store.missing(in: history, comment) == (0, 0), comment)
            try await history.repair()
            #expect(try await history.check().problems.isEmpty, comment)
            let names = try FileManager.default.contentsOfDirectory(atPath: historyFolder.path)
            let aside = names.filter { $0.hasPrefix("history.damaged-") }
            // One file and its log, with the same stamp.
            let file = aside.first { $0.hasSuffix(".sqlite") } ?? "?"
            #expect(aside.allSatisfy { $0.hasPrefix(file) } && !aside.isEmpty, "\(comment): \(names)")
            #expect(!names.contains { $0.hasPrefix("history.salvaging") }, comment)
            await history.close()
            try FileManager.default.removeItem(at: historyFolder)
            number += calls == "pwrite64" ? 7 : 1
        }
        #expect(number > 2)
    }

    @Test("Files left by killed salvages are removed at the next opening")
    func leftovers() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        // Another store of the same process opens the history only if no store has it open.
        await history.close()
        let leftovers = ["history.salvaging-1.sqlite", "history.mending-2", "history.mending-2-wal"]
        for name in leftovers { try Data("private".utf8).write(to: folder.file(name)) }
        try await history.open()
        #expect(try Set(folder.names).isDisjoint(with: leftovers))
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
    }

    @Test("A salvage continues despite an unreadable marker")
    func damagedMarker() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        await history.close()
        // The state between the renames: the old database is set aside, and the new one is not yet renamed.
        try FileManager.default.moveItem(
            at: folder.file("history.sqlite"), to: folder.file("history.salvaging-20260101T000000-12345678.sqlite"))
        try Data([1, 2, 3]).write(to: folder.file("history.salvaging.json"))
        try Data("old".utf8).write(to: folder.file("history.damaged-20260101T000000-12345678.sqlite"))
        let next = folder.history()
        #expect(try await next.window(of: scope, maxMessages: nil) == messages(0..<2))
        #expect(next.events.takeUndelivered().map(\.kind) == [.salvaged])
        #expect(try await next.losses().map(\.setAside) == ["history.damaged-20260101T000000-12345678.sqlite"])
    }
}
