import Foundation
import GRDB
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A temporary disk failure must cost no data.
@Suite("Unreadable files") struct DamagedFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("file").path
        try Data(count: 10_000).write(to: folder.file("file"))
    }

    @Test("A completely unreadable file is not treated as damaged")
    func nothing() async throws {
        // Every read of a write-only descriptor fails.
        let file = try DamagedFile(OpenFile(descriptor: open(path, O_WRONLY), path: path))
        for offset in stride(from: 0, to: 10_000, by: 1000) { #expect(file.bytes(at: offset, count: 1000).isEmpty) }
        await expectError(.inputOutput) { try file.confirm() }
    }

    @Test("A read that fails once and then succeeds is not damage")
    func passing() async throws {
        let (writing, reading) = (open(path, O_WRONLY), open(path, O_RDONLY))
        defer { close(reading) }
        let file = try DamagedFile(OpenFile(descriptor: writing, path: path))
        #expect(file.bytes(at: 0, count: 1000).isEmpty)
        #expect(dup2(reading, writing) == writing)
        #expect(file.bytes(at: 1000, count: 1000).count == 1000)
        #expect(file.bytes(at: 0, count: 1000).isEmpty)
        await expectError(.inputOutput) { try file.confirm() }
    }

    @Test("A part that stays unreadable while others are readable is damage")
    func staying() throws {
        let file = try DamagedFile(OpenFile(descriptor: open(path, O_RDONLY), path: path))
        // A negative offset is never readable.
        #expect(file.bytes(at: -1, count: 1000).isEmpty)
        #expect(file.bytes(at: 0, count: 10_000).count == 10_000)
        try file.confirm()
    }

    @Test("An intact database is not set aside when SQLite reports damage")
    func wholeDatabase() async throws {
        let history = folder.history()
        try await history.append(messages(0..<40), to: scope)
        let tries = Locked(0)
        await expectError(.inputOutput) {
            try await history.connection.perform { _ in
                tries.withLock { $0 += 1 }
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
        }
        #expect(tries.withLock { $0 } == 2, "the operation is retried before any salvage")
        let names = try folder.names
        #expect(!names.contains { $0.contains("damaged") || $0.contains("salvaging") }, "\(names)")
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<40))
        try await history.append(messages(40..<42), to: scope)
        #expect(history.events.takeUndelivered().isEmpty)
    }
}
