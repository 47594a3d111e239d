import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Logs after power cuts. Incomplete commits are not damage.
@Suite("Logs after power cuts") struct CutLogTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("With relaxed durability, the log ends at a gap, and nothing is salvaged", arguments: [0.2, 0.5, 0.8])
    func relaxedLog(historyFolder: Double) async throws {
        let store = folder.history(durability: .relaxed)
        try await save(0..<60, in: store)
        let cut = try copy(folder.url, to: "cut")
        let log = cut.appendingPathComponent("history.sqlite-wal")
        var bytes = try Data(contentsOf: log)
        let frame = 4096 + 24
        let start = 32 + Int(Double(bytes.count / frame) * historyFolder) * frame
        bytes.replaceSubrange(start..<start + frame, with: Data(count: frame))
        try bytes.write(to: log)
        // This history has full durability, and a process with relaxed durability is running: the log is not emptied.
        let user = try LockFile(path: cut.appendingPathComponent("history.sqlite-relaxed").path)
        #expect(try user.tryLock(shared: true))
        // Without indexing, the commits are the same on each machine.
        let plain = HistoryConfiguration(indexesInBackground: false)
        let history = SQLiteHistoryStore(directory: cut, configuration: plain)
        let first = try await saved(in: history)
        #expect(first == messages(0..<first.count))
        #expect(first.count < 60 && first.count.isMultiple(of: 2))
        // SQLite writes into the gap, so the frames after it are now older than those before it.
        let new = messages(100..<102)
        try await history.append(new, to: scope)
        // The derived data of the session are written to the log. Its row may be in the database only, which is damaged below.
        _ = try await history.session(scope.session)
        let reopened = SQLiteHistoryStore(directory: try copy(cut, to: "reopened"), configuration: plain)
        #expect(try await saved(in: reopened) == first + new)
        #expect(history.events.takeUndelivered().isEmpty && reopened.events.takeUndelivered().isEmpty)
        let size = try Data(contentsOf: cut.appendingPathComponent("history.sqlite")).count
        #expect(try await salvaged(cut, damaging: 0..<size) == first + new)
    }

    @Test("With full durability after relaxed durability, damage to the log hides no commit")
    func relaxedBefore() async throws {
        let before = folder.history(durability: .relaxed)
        try await before.append(messages(0..<2), to: scope)
        await before.close()
        let mark = folder.file("history.sqlite-relaxed").path
        let user = try LockFile(path: mark)
        #expect(try user.tryLock(shared: true))
        let beside = folder.history()
        try await beside.append(messages(2..<4), to: scope)
        await beside.close()
        #expect(FileManager.default.fileExists(atPath: mark))
        user.unlock()
        let store = folder.history()
        try await save(4..<60, in: store)
        #expect(!FileManager.default.fileExists(atPath: mark))
        let middle = try Data(contentsOf: folder.file("history.sqlite-wal")).count / 2
        let saved = try await salvaged(folder.url, damaging: middle..<middle + 1, of: "history.sqlite-wal")
        #expect(saved == messages(0..<60))
    }

    @Test("Emptying the log removes the mark of relaxed durability, even while the history is open")
    func relaxedBeside() async throws {
        let files = HistoryFiles(directory: folder.url)
        let relaxed = folder.history(durability: .relaxed)
        try await relaxed.append(messages(0..<2), to: scope)
        #expect(files.mayHoldUnsyncedCommits)
        await relaxed.close()
        #expect(files.mayHoldUnsyncedCommits)
        let other = try DatabaseQueue(
            path: folder.file("history.sqlite").path, configuration: HistoryConfiguration().connections())
        #expect(try await other.read { try $0.integer("SELECT count(*) FROM message") } == 2)
        try await relaxed.append(messages(10..<12), to: scope)
        await relaxed.close()
        #expect(!files.mayHoldUnsyncedCommits)
        try other.close()
        let store = folder.history()
        try await store.append(messages(2..<4), to: scope)
        let user = try files.noteUnsyncedCommits()
        let database = try await store.connection.database()
        #expect(try await database.truncateLog())
        #expect(files.mayHoldUnsyncedCommits)
        user.unlock()
        #expect(try await database.truncateLog())
        #expect(!files.mayHoldUnsyncedCommits)
    }

    @Test("Remains of an incomplete commit in the log do not replace later saves")
    func cutCommit() async throws {
        let store = folder.history()
        try await store.append(messages(0..<4), to: scope)
        let log = folder.file("history.sqlite-wal")
        let committed = try Data(contentsOf: log).count
        try await store.append(messages(4..<2000), to: scope)
        // The last commit, which was not acknowledged, is on the disk without its first page.
        let cut = try copy(folder.url, to: "cut")
        var bytes = try Data(contentsOf: log)
        bytes.replaceSubrange(committed..<committed + 4096 + 24, with: Data(count: 4096 + 24))
        try bytes.write(to: cut.appendingPathComponent("history.sqlite-wal"))
        let history = SQLiteHistoryStore(directory: cut)
        let new = messages(300..<301)
        try await history.append(new, to: scope)
        #expect(try await salvaged(cut, damaging: 0..<100) == messages(0..<4) + new)
    }

    @Test("Remains of killed commits in the log beside an open history are not damage and do not reappear")
    func killedCommits() async throws {
        let store = folder.history()
        try await store.append(messages(0..<4), to: scope)
        // After a kill during a commit, the log has the whole commit, and the log's index has nothing of it.
        let other = try DatabaseQueue(
            path: folder.file("history.sqlite").path, configuration: HistoryConfiguration().connections())
        for size in [400_000, 100_000] {
            try other.inDatabase { db in
                #expect(try db.integer("SELECT count(*) FROM message") == 4)
                let file = try #require(DatabaseFile(.database, of: db.sqliteConnection))
                let index = try #require(try file.mapLogIndex(size: LogIndex.regionSize))
                let before = Data(bytes: index, count: 96)
                try db.run("UPDATE message SET text = hex(zeroblob(\(size)))")
                before.withUnsafeBytes { index.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            }
        }
        try await store.append(messages(4..<6), to: scope)
        let rebooted = SQLiteHistoryStore(directory: try copy(folder.url, to: "rebooted"))
        #expect(try await saved(in: rebooted) == messages(0..<6))
        #expect(rebooted.events.takeUndelivered().isEmpty)
        #expect(try await saved(in: store) == messages(0..<6))
    }

    @Test("A log with a damaged header is not treated as empty", arguments: [0, 5, 9, 13, 17, 21, 25, 29])
    func damagedHeader(offset: Int) async throws {
        let store = folder.history()
        try await save(0..<16, in: store)
        // The log restarts at its beginning, so most of its frames are older.
        _ = try await store.connection.database().withWriterConnection {
            try $0.integer("PRAGMA wal_checkpoint(PASSIVE)")
        }
        try await save(16..<20, in: store)
        let saved = try await salvaged(folder.url, damaging: offset..<offset + 1, of: "history.sqlite-wal")
        #expect(saved == messages(0..<20))
    }

    @Test("Damage at the end of the second-to-last commit does not hide the last commit")
    func damagedEnd() async throws {
        let store = folder.history()
        try await store.append(messages(0..<18), to: scope)
        let end = try Data(contentsOf: folder.file("history.sqlite-wal")).count
        try await store.append(messages(18..<20), to: scope)
        let saved = try await salvaged(folder.url, damaging: end - 2000..<end, of: "history.sqlite-wal")
        #expect(saved.suffix(2) == messages(18..<20))
    }

    /// Saves messages in batches of two.
    private func save(_ numbers: Range<Int>, in store: SQLiteHistoryStore) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 2) {
            try await store.append(messages(start..<start + 2), to: scope)
        }
    }

    /// The messages of a copy with damaged bytes, after the expected salvage.
    private func salvaged(
        _ historyFolder: URL, damaging range: Range<Int>, of name: String = "history.sqlite"
    ) async throws -> [ConversationMessage] {
        let file = try copy(historyFolder, to: "damaged").appendingPathComponent(name)
        var bytes = try Data(contentsOf: file)
        for index in range { bytes[index] ^= 0x5A }
        try bytes.write(to: file)
        let history = SQLiteHistoryStore(directory: folder.file("damaged"))
        let saved = try await saved(in: history)
        #expect(history.events.takeUndelivered().map(\.kind) == [.salvaged])
        return saved
    }

    private func saved(in history: SQLiteHistoryStore) async throws -> [ConversationMessage] {
        try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 1000))
            .elements.map(\.message)
    }

    /// Copies the files of an open history, as after a power cut.
    private func copy(_ historyFolder: URL, to name: String) throws -> URL {
        let copy = folder.file(name)
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: historyFolder.path)
        where name.hasPrefix("history.sqlite") && !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(
                at: historyFolder.appendingPathComponent(name), to: copy.appendingPathComponent(name))
        }
        return copy
    }
}
