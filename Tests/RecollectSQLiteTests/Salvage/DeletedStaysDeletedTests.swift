import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A session whose erasing was interrupted by a kill, with damage to the record of that erasing.
@Suite("Deleted sessions in a salvage") struct DeletedStaysDeletedTests {
    private let folder: TemporaryFolder
    private let deleted = Scope(userId: "ann", sessionId: "deleted", agentId: "a")

    init() async throws {
        folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<40), to: scope)
        try await history.append(messages(0..<400, prefix: "d"), to: deleted)
        try await history.append(messages(40..<60), to: scope)
        // Only the deletion, as after a process that ended right after its commit.
        let session = deleted.session
        #expect(try await history.write { try MessageDeletion.delete(session, $0) })
        await history.close()
        #expect(try Self.numbers("SELECT number FROM erasure WHERE number > 0", in: folder) == [2])
    }

    private static func numbers(_ query: String, in folder: TemporaryFolder) throws -> [Int] {
        let queue = try DatabaseQueue(path: folder.file("history.sqlite").path)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchAll($0, sql: query) }
    }

    /// Damages all pages of some tables and indexes, and opens the history.
    private func damaged(_ names: [String]) async throws -> SQLiteHistoryStore {
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        let pages = try Self.numbers("SELECT pageno FROM dbstat WHERE name IN (\(list))", in: folder)
        #expect(pages.count >= names.count)
        var bytes = try Data(contentsOf: folder.file("history.sqlite"))
        for page in pages { bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: noise(4096, seed: 11)) }
        try bytes.write(to: folder.file("history.sqlite"))
        return try await folder.history().open()
    }

    private func expectDeleted(in history: SQLiteHistoryStore) async throws {
        let sessions = try await history.sessions(of: "ann", page: PageRequest(limit: 10)).elements
        #expect(sessions.map(\.id.sessionId) == ["s"])
        #expect(try await history.users() == ["ann"])
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<60))
        #expect(try await history.erasesAll())
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM message") } == 60)
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM scope") } == 1)
        // A new session gets another number than the deleted session.
        try await history.append(messages(0..<2), to: deleted)
        #expect(try await history.window(of: deleted, maxMessages: nil) == messages(0..<2))
        try await history.repair()
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A deleted session stays deleted if the page with the record of its erasing is damaged")
    func erasure() async throws {
        let history = try await damaged(["erasure"])
        let event = try #require(history.events.takeUndelivered().first)
        #expect(event.kind == .salvaged && event.lostMessages == 0 && event.recoveredMessages == 60)
        try await expectDeleted(in: history)
    }

    @Test(
        "One intact tree of sessions is enough to identify deleted sessions",
        arguments: [["session"], ["session", "session_by_activity", "sqlite_autoindex_session_1"]])
    func oneTree(gone: [String]) async throws {
        let history = try await damaged(["erasure"] + gone)
        #expect(history.events.takeUndelivered().map(\.lostMessages) == [0])
        try await expectDeleted(in: history)
    }

    @Test("Without an intact tree of sessions, messages of unknown sessions get a placeholder session ID")
    func noTree() async throws {
        let history = try await damaged(["erasure", "sqlite_schema", "session"])
        let sessions = try await history.sessions(of: "ann", page: PageRequest(limit: 10)).elements
        #expect(Set(sessions.map(\.id.sessionId)) == ["s", "recovered-2"])
        #expect(sessions.reduce(0) { $0 + $1.messageCount } == 460)
    }

    @Test("A flipped bit in the session rows does not delete a live session", .needs(.time))
    func wrongBit() async throws {
        let numbers = try Self.numbers(
            "SELECT rootpage FROM sqlite_schema WHERE name IN ('session', 'erasure') ORDER BY name DESC", in: folder)
        var whole = try [UInt8](Data(contentsOf: folder.file("history.sqlite")))
        let starts = numbers.map { ($0 - 1) * 4096 }
        whole.replaceSubrange(starts[1]..<starts[1] + 4096, with: noise(4096, seed: 11))
        // The cell of the only row. The row number is its second byte.
        #expect(whole.bigEndian16(starts[0] + 3) == 1)
        let cell = Int(whole.bigEndian16(starts[0] + 8))
        #expect(whole[starts[0] + cell + 1] == 1)
        for offset in Array(0..<10) + Array(cell..<cell + 4) + stride(from: cell + 4, to: 4096, by: 5) {
            var bytes = whole
            bytes[starts[0] + offset] ^= 0x04
            let historyFolder = folder.file("damaged")
            try FileManager.default.createDirectory(at: historyFolder, withIntermediateDirectories: true)
            try Data(bytes).write(to: historyFolder.appendingPathComponent("history.sqlite"))
            let history = SQLiteHistoryStore(
                directory: historyFolder, configuration: HistoryConfiguration(indexesInBackground: false))
            var count = 0
            for user in try await history.users() {
                let sessions = try await history.sessions(of: user, page: PageRequest(limit: 10)).elements
                count += sessions.reduce(0) { $0 + $1.messageCount }
            }
            #expect(count >= 60, "byte \(offset)")
            await history.close()
            try FileManager.default.removeItem(at: historyFolder)
        }
    }
}
