import Foundation
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A foreign file is neither overwritten nor removed, under any name.
@Suite("Foreign files in place of the log") struct ForeignLogTests {
    private let folder: TemporaryFolder
    private var log: URL { folder.file("history.sqlite-wal") }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "A foreign file in place of the log is set aside, with an event",
        arguments: [1, 2000],
        ["closed", "relaxed", "missing", "damaged"])
    func notALog(lines: Int, database: String) async throws {
        let text = String(repeating: "Buy milk, and mind the cat.\n", count: lines)
        let history = folder.history(durability: database == "relaxed" ? .relaxed : .full)
        if database != "missing" {
            try await history.append(messages(0..<4), to: scope)
            await history.close()
        }
        if database == "damaged" {
            var bytes = try Data(contentsOf: folder.file("history.sqlite"))
            bytes.replaceSubrange(0..<100, with: noise(100, seed: 1))
            try bytes.write(to: folder.file("history.sqlite"))
        }
        try Data(text.utf8).write(to: log)
        #expect(try await history.window(of: scope, maxMessages: nil) == (database == "missing" ? [] : messages(0..<4)))
        try await history.append(messages(4..<6), to: scope)
        await history.close()
        let events = history.events.takeUndelivered()
        #expect(events.map(\.kind) == (database == "damaged" ? [.foreignFile, .salvaged] : [.foreignFile]))
        let aside = try #require(events.first?.setAsideURL)
        #expect(try String(contentsOf: aside, encoding: .utf8) == text)
        // Erasing after a deletion does not remove it, either.
        try await history.deleteSession(scope.session)
        try await history.repair()
        await history.close()
        #expect(try String(contentsOf: aside, encoding: .utf8) == text)
    }

    @Test("An empty file or a file of zeros is accepted as a log", arguments: [0, 10, 32, 5000])
    func zeros(size: Int) async throws {
        let history = folder.history()
        try await history.append(messages(0..<4), to: scope)
        await history.close()
        try Data(count: size).write(to: log)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<4))
        await history.close()
        #expect(history.events.takeUndelivered().isEmpty)
    }

    @Test("A log with zeros over its header and first frames keeps its later commits")
    func zeroedStart() async throws {
        let history = folder.history()
        for number in 0..<40 { try await history.append(messages(number..<number + 1), to: scope) }
        let copy = try TemporaryFolder()
        for name in ["history.sqlite", "history.sqlite-wal"] {
            try FileManager.default.copyItem(at: folder.file(name), to: copy.file(name))
        }
        var log = try Data(contentsOf: copy.file("history.sqlite-wal"))
        let start = 0..<32 + 2 * (24 + 4096)
        log.replaceSubrange(start, with: Data(count: start.count))
        try log.write(to: copy.file("history.sqlite-wal"))
        let damaged = copy.history()
        #expect(try await damaged.window(of: scope, maxMessages: nil).count > 30)
        #expect(damaged.events.takeUndelivered().contains { $0.kind == .salvaged })
    }

    @Test("A damaged commit with an impossible page count does not delay a salvage")
    func impossibleCount() async throws {
        let history = folder.history()
        try await history.append(messages(0..<4), to: scope)
        let copy = try TemporaryFolder()
        for name in ["history.sqlite", "history.sqlite-wal"] {
            try FileManager.default.copyItem(at: folder.file(name), to: copy.file(name))
        }
        var log = try Data(contentsOf: copy.file("history.sqlite-wal"))
        // After a damaged frame, the checksum of the last frame proves nothing.
        let frame = 24 + 4096
        log.replaceSubrange(log.count - 2 * frame..<log.count - 2 * frame + 24, with: noise(24, seed: 2))
        log.replaceSubrange(log.count - frame + 4..<log.count - frame + 8, with: [0x7F, 0xFF, 0xFF, 0xFF])
        try log.write(to: copy.file("history.sqlite-wal"))
        let pages = try DamagedPages(
            folder: OpenFolder(path: copy.url.path), database: "history.sqlite", hasUnsyncedCommits: false)
        #expect(pages.count < 1000)
        await history.close()
    }
}
