import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Histories on read-only and on full disks.
@Suite("Read-only and full disks", .needs(.tinyDisk))
struct ReadOnlyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Saves 20 messages and indexes them, then leaves the files of a closed history or, with a log, those of a killed process.
    private func makeHistory(in directory: URL, hasLog: Bool) async throws {
        let history = SQLiteHistoryStore(directory: directory)
        try await history.append(messages(0..<20), to: scope)
        _ = try await history.search(SearchQuery(userId: "ann", text: "text"))
        let copy = try TemporaryFolder()
        let names = hasLog ? ["history.sqlite", "history.sqlite-wal"] : []
        for name in names {
            try FileManager.default.copyItem(at: directory.appendingPathComponent(name), to: copy.file(name))
        }
        await history.close()
        for name in names {
            let file = directory.appendingPathComponent(name)
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            try FileManager.default.copyItem(at: copy.file(name), to: file)
        }
    }

    private func expectReadable(_ reader: SQLiteHistoryStore) async throws {
        #expect(try await reader.window(of: scope, maxMessages: nil) == messages(0..<20))
        #expect(try await reader.sessions(of: "ann", page: PageRequest(limit: 5)).elements.count == 1)
        #expect(try await reader.search(SearchQuery(userId: "ann", text: "text")).elements.count == 20)
        #expect(try await reader.check().problems.isEmpty)
    }

    @Test("A history on a read-only disk can be read, listed, searched and checked", arguments: [false, true])
    func readOnlyDisk(hasLog: Bool) async throws {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 8192)
        let directory = disk.url.appendingPathComponent("history")
        try await makeHistory(in: directory, hasLog: hasLog)
        try disk.makeReadOnly()
        let reader = SQLiteHistoryStore(directory: directory)
        try await expectReadable(reader)
        await expectError(.readOnly) { try await reader.append(messages(20..<22), to: scope) }
        await reader.close()
    }

    @Test("Messages hidden by a damaged log on a read-only disk are reported")
    func hiddenMessages() async throws {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 8192)
        let directory = disk.url.appendingPathComponent("history")
        let history = SQLiteHistoryStore(directory: directory)
        for number in 0..<10 { try await history.append(messages(2 * number..<2 * number + 2), to: scope) }
        let files = try ["history.sqlite", "history.sqlite-wal"].map { name in
            let url = directory.appendingPathComponent(name)
            return (url, try Data(contentsOf: url))
        }
        await history.close()
        for (url, content) in files {
            var content = content
            if url.lastPathComponent.hasSuffix("-wal") { content[content.count / 2] ^= 1 }
            try content.write(to: url)
        }
        try disk.makeReadOnly()
        let reader = SQLiteHistoryStore(directory: directory)
        #expect(try await reader.window(of: scope, maxMessages: nil).count < 20)
        #expect(reader.events.takeUndelivered().map(\.kind) == [.hiddenMessages])
        #expect(try await reader.check().problems.map(\.kind) == ["log"])
        await reader.close()
    }

    /// A history on a full disk, with a store that has read it.
    private func readerOnFullDisk(hasLog: Bool) async throws -> (disk: TinyDisk, reader: SQLiteHistoryStore) {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 1024)
        let directory = disk.url.appendingPathComponent("history")
        try await makeHistory(in: directory, hasLog: hasLog)
        disk.fill()
        let reader = SQLiteHistoryStore(directory: directory)
        try await expectReadable(reader)
        return (disk, reader)
    }

    @Test("A history on a full disk can be read, and written again when there is space", arguments: [false, true])
    func fullDisk(hasLog: Bool) async throws {
        let (disk, reader) = try await readerOnFullDisk(hasLog: hasLog)
        await expectError(.diskFull) { try await reader.append(messages(20..<22), to: scope) }
        try FileManager.default.removeItem(at: disk.url.appendingPathComponent("filler"))
        try await reader.append(messages(20..<22), to: scope)
        #expect(try await reader.window(of: scope, maxMessages: nil) == messages(0..<22))
        await reader.close()
    }

    @Test("A reader on a full disk shows another process's saves when there is space", arguments: [false, true])
    func savedElsewhere(hasLog: Bool) async throws {
        let (disk, reader) = try await readerOnFullDisk(hasLog: hasLog)
        try FileManager.default.removeItem(at: disk.url.appendingPathComponent("filler"))
        let worker = try Worker(["append", "history:\(disk.url.path)/history", "other", "w", "3", "0", "50"])
        #expect(await worker.finish().count == 3)
        let page = try await reader.messages(
            of: SessionKey(userId: "u", sessionId: "s"), agentId: nil, page: PageRequest(limit: 10))
        #expect(page.elements.count == 6)
        try await expectReadable(reader)
        await reader.close()
    }

    @Test("An open history on a disk that fills up shows the last saved messages")
    func filledMeanwhile() async throws {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 1024)
        let history = SQLiteHistoryStore(
            directory: disk.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(indexesInBackground: false))
        try await history.append(messages(0..<2), to: scope)
        _ = try await history.search(SearchQuery(userId: "ann", text: "text"))
        try await history.append(messages(2..<4), to: scope)
        disk.fill()
        #expect(try await history.session(scope.session)?.messageCount == 4)
        #expect(try await history.message("m3", in: scope.session, agentId: nil)?.message == messages(3..<4).first)
        #expect(try await history.search(SearchQuery(userId: "ann", text: "text")).elements.count == 2)
        await history.close()
    }

    /// SQLite allocates one block of each 4 KB of the log's index. With smaller blocks, a later write to the rest may not fit,
    /// and the system then kills the process.
    @Test(
        "A nearly full disk with small blocks crashes no process",
        .needs(.cuttableDisk))
    func smallBlocks() async throws {
        let disk = try CuttableDisk(in: folder.url, blockSize: 1024)
        let directory = disk.url.appendingPathComponent("history")
        try await makeHistory(in: directory, hasLog: true)
        for kilobytes in stride(from: 0, through: 48, by: 4) {
            for name in ["filler", "history/history.sqlite-shm"] {
                let file = disk.url.appendingPathComponent(name)
                if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            }
            let space = disk.url.appendingPathComponent("space")
            try reserve(kilobytes, at: space, on: disk)
            fillDisk(at: disk.url)
            try FileManager.default.removeItem(at: space)
            try run("sync", "-f", disk.url.path)
            let worker = try Worker(["read", directory.path, "ann", "s"])
            #expect(await worker.finish() == ["read 20"], "\(kilobytes) KB are free")
            #expect(worker.endedWell, "\(kilobytes) KB are free")
        }
    }

    /// Writes a file as soon as the blocks of removed files can be used: when the file system's journal is written, and no
    /// process has the files open. A process that another test is starting has copies of all open files for a moment.
    private func reserve(_ kilobytes: Int, at file: URL, on disk: CuttableDisk) throws {
        let content = Data(count: kilobytes << 10)
        for _ in 0..<100 {
            try run("sync", "-f", disk.url.path)
            if (try? content.write(to: file)) != nil { return }
            usleep(50_000)
        }
        try content.write(to: file)
    }
}
