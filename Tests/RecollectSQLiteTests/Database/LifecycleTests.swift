import Foundation
import GRDB
import GRDBSQLite
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Opening, sharing and closing a history: under several names, by several stores, and alongside other processes.
@Suite("Lifecycle") struct LifecycleTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Saves the given number of turns in another process, and returns the number of acknowledged turns.
    private func saveElsewhere(_ turns: Int, as writer: String = "w") async throws -> Int {
        let worker = try Worker(["append", "history:\(folder.url.path)", "other", writer, "\(turns)", "0", "50"])
        return await worker.finish().count { $0.hasPrefix("saved ") }
    }

    private func count(_ agent: String) async throws -> Int {
        try await folder.history().messages(
            of: SessionKey(userId: "u", sessionId: "s"), agentId: agent, page: PageRequest(limit: 100_000)
        ).elements.count
    }

    @Test(
        "A folder opened under two names is one database, and closing one store keeps the other's lock",
        .needs(.processes))
    func twoNames() async throws {
        let alias = folder.url.deletingLastPathComponent().appendingPathComponent("alias-\(UUID().uuidString)")
        try FileManager.default.createSymbolicLink(at: alias, withDestinationURL: folder.url)
        defer { try? FileManager.default.removeItem(at: alias) }
        let first = folder.history()
        try await first.append(messages(0..<2), to: scope)
        do {
            let second = SQLiteHistoryStore(
                directory: alias, configuration: HistoryConfiguration(indexesInBackground: false))
            try await second.append(messages(2..<4), to: scope)
            #expect(try await first.connection.database() === second.connection.database())
        }
        #expect(try await saveElsewhere(20) == 20)
        try await first.append(messages(4..<6), to: scope)
        #expect(try await first.window(of: scope, maxMessages: nil) == messages(0..<6))
        #expect(try await count("other") == 40)
        #expect(try await first.check().problems.isEmpty)
    }

    @Test(
        "Creating a new store for each call loses nothing alongside another process",
        .needs(.processes))
    func createdAgain() async throws {
        for round in 0..<10 {
            for call in 0..<4 {
                let store = try DeviceChatStorage(userId: "ann", baseURL: folder.url)
                try await store.saveMessages(
                    messages(call * 2..<call * 2 + 2, prefix: "r\(round)-"), userId: "ann", sessionId: "s",
                    agentId: "a", maxMessages: nil)
            }
            #expect(try await saveElsewhere(3, as: "w\(round)") == 3)
        }
        let history = folder.history()
        #expect(try await history.window(of: scope, maxMessages: nil).count == 80)
        #expect(try await count("other") == 60)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test(
        "Removing the log or its index while a store is open loses no later saves of another process",
        .needs(.processes),
        arguments: [["-wal", "-shm"], ["-shm"]])
    func removedLog(suffixes: [String]) async throws {
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        _ = try await history.connection.database().truncateLog()
        for suffix in suffixes {
            try FileManager.default.removeItem(at: folder.file("history.sqlite\(suffix)"))
        }
        #expect(try await saveElsewhere(50) == 50)
        try await history.append(messages(4..<6), to: scope)
        await history.close()
        #expect(try await count("other") == 100)
        #expect(try await history.window(of: scope, maxMessages: nil).map(\.id) == ["m0", "m1", "m4", "m5"])
        var events = history.events.stream().makeAsyncIterator()
        #expect(await events.next()?.kind == .storeReplaced)
    }

    @Test("A folder without modification times is compared on every check")
    func folderWithoutTimes() {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(!FolderStamp.isStable(seconds: 0, nanoseconds: 0, at: now))
        #expect(FolderStamp.isStable(seconds: 1, nanoseconds: 0, at: now))
        #expect(!FolderStamp.isStable(seconds: 1_699_999_998, nanoseconds: 0, at: now))
    }

    @Test("Files that appear after an opening are not mistaken for the opened files")
    func lateFiles() throws {
        let files = HistoryFiles(directory: folder.url)
        try files.makeFile(at: files.database)
        let identity = try files.identityForOpening()
        #expect(identity.log != nil && identity.shared != nil)
        #expect(try files.identityForOpening() == identity)
        let replacementWatch = ReplacementWatch(files: files, identity: identity)
        #expect(replacementWatch.filesAreUnchanged())
        try FileManager.default.removeItem(atPath: files.sharedMemory)
        let withoutIndex = ReplacementWatch(files: files, identity: files.identity())
        #expect(try files.identityForOpening().shared != nil)
        #expect(!withoutIndex.filesAreUnchanged())
    }

    @Test(
        "A store used only for reading detects replaced files, reads the new files and posts an event",
        .needs(.processes))
    func readersNotice() async throws {
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        await history.close()
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
        let aside = try TemporaryFolder()
        for name in try folder.names where name.hasPrefix("history.sqlite") {
            try FileManager.default.moveItem(at: folder.file(name), to: aside.file(name))
        }
        #expect(try await saveElsewhere(1) == 1)
        #expect(try await history.window(of: scope, maxMessages: nil).isEmpty)
        var events = history.events.stream().makeAsyncIterator()
        #expect(await events.next()?.kind == .storeReplaced)
    }

    @Test("A restored backup is detected even if the folder's modification time was restored")
    func restoredTimes() async throws {
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        let backup = try TemporaryFolder()
        let names = try folder.names.filter { $0.hasPrefix("history.sqlite") && !$0.hasSuffix("-shm") }
        for name in names { try FileManager.default.copyItem(at: folder.file(name), to: backup.file(name)) }
        let time = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)]
        try FileManager.default.setAttributes(time, ofItemAtPath: folder.url.path)
        try await history.append(messages(2..<4), to: scope)
        for name in try folder.names where name.hasPrefix("history.sqlite") {
            try FileManager.default.removeItem(at: folder.file(name))
        }
        for name in names { try FileManager.default.copyItem(at: backup.file(name), to: folder.file(name)) }
        try FileManager.default.setAttributes(time, ofItemAtPath: folder.url.path)
        try await history.append(messages(6..<8), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil).map(\.id) == ["m0", "m1", "m6", "m7"])
    }

    @Test("A symbolic link changed to another database is detected")
    func changedLink() async throws {
        let (first, second, links) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        let (path, new) = (links.file("history.sqlite"), links.file("new"))
        try FileManager.default.createSymbolicLink(at: path, withDestinationURL: first.file("chosen.sqlite"))
        let store = folder.history()
        try await store.append(messages(0..<2), to: scope)
        await store.close()
        for target in [first, second] {
            try FileManager.default.copyItem(at: folder.file("history.sqlite"), to: target.file("chosen.sqlite"))
        }
        let history = links.history()
        try await history.append(messages(2..<4), to: scope)
        try FileManager.default.createSymbolicLink(at: new, withDestinationURL: second.file("chosen.sqlite"))
        #expect(rename(new.path, path.path) == 0)
        try await history.append(messages(4..<6), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil).map(\.id) == ["m0", "m1", "m4", "m5"])
        #expect(history.events.takeUndelivered().map(\.kind) == [.storeReplaced])
    }

    @Test("A log left beside the symbolic link to a moved database is not ignored")
    func logBesideLink() async throws {
        let (links, moved) = (try TemporaryFolder(), try TemporaryFolder())
        let store = folder.history()
        try await store.append(messages(0..<2), to: scope)
        // As left by a killed process: the messages are in the log.
        let (log, newLog) = (links.file("history.sqlite-wal"), moved.file("history.sqlite-wal"))
        try FileManager.default.copyItem(at: folder.file("history.sqlite"), to: moved.file("history.sqlite"))
        try FileManager.default.copyItem(at: folder.file("history.sqlite-wal"), to: log)
        try FileManager.default.createSymbolicLink(
            at: links.file("history.sqlite"), withDestinationURL: moved.file("history.sqlite"))
        let history = links.history()
        for _ in 0..<2 {
            await #expect(throws: RecollectError.self) { try await history.append(messages(2..<4), to: scope) }
        }
        #expect(try Data(contentsOf: log) == Data(contentsOf: folder.file("history.sqlite-wal")))
        // Reads work, and report what they lack.
        let reader = links.history()
        _ = try await reader.window(of: scope, maxMessages: nil)
        #expect(reader.events.takeUndelivered().map(\.kind) == [.hiddenMessages])
        #expect(try await reader.check().problems.contains { $0.kind == "log" && $0.message.contains(newLog.path) })
        // If the database was used since, the log no longer fits it.
        let database = moved.file("history.sqlite").path
        for (date, advice) in [
            (Date() + 9, "no longer matches it"), (Date(timeIntervalSince1970: 9), "move the log to"),
        ] {
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: database)
            #expect(try await reader.check().problems.contains { $0.message.contains(advice) })
        }
        try Data("a log".utf8).write(to: newLog)
        #expect(try await reader.check().problems.contains { $0.message.contains("no longer matches it") })
        try FileManager.default.removeItem(at: newLog)
        await reader.close()
        await history.close()
        try FileManager.default.moveItem(at: log, to: newLog)
        try await history.append(messages(2..<4), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<4))
        await store.close()
        await history.close()
    }

    @Test("Saves and reads succeed while the history is closed repeatedly")
    func closings() async throws {
        let history = folder.history()
        try await history.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<150 {
                        try await history.append(messages(number..<number + 1, prefix: "w\(writer)-"), to: scope)
                        _ = try await history.window(of: scope, maxMessages: 2)
                    }
                }
            }
            group.addTask {
                for _ in 0..<100 {
                    await history.close()
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        #expect(try await history.window(of: scope, maxMessages: nil).count == 300)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("The process lock also excludes threads of the same process")
    func lockExcludesThreads() throws {
        let lock = try ProcessLock(path: folder.file("lock").path)
        let inside = Locked((now: 0, most: 0))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<200 {
                try? lock.withLock(timeout: 30_000) {
                    inside.withLock { inside in
                        inside.now += 1
                        inside.most = max(inside.most, inside.now)
                    }
                    sched_yield()
                    inside.withLock { $0.now -= 1 }
                }
            }
        }
        #expect(inside.withLock { $0.most } == 1)
        #expect(try lock.tryAcquire())
        #expect(try !lock.tryAcquire())
        lock.release()
    }

    @Test("A lock still excludes after its file is removed and created again")
    func lockFileReplaced() throws {
        let path = folder.file("lock").path
        let first = try ProcessLock(path: path)
        #expect(try first.tryAcquire())
        first.release()
        try FileManager.default.removeItem(atPath: path)
        let second = try ProcessLock(path: path)
        #expect(try second.tryAcquire())
        #expect(try !first.tryAcquire())
        second.release()
        #expect(try first.tryAcquire())
        #expect(try !second.tryAcquire())
        first.release()
    }

    @Test("A held lock of one history does not block other histories")
    func stuckHistory() async throws {
        let stuck = try TemporaryFolder()
        let lock = try ProcessLock(path: stuck.file("history.lock").path)
        #expect(try lock.tryAcquire())
        let waiting = Task { try await stuck.history().open() }
        try await folder.history().append(messages(0..<2), to: scope)
        #expect(try await folder.history().window(of: scope, maxMessages: nil).count == 2)
        lock.release()
        _ = try await waiting.value
    }

    @Test("Indexing continues after the history is closed and reopened")
    func followsAfterClosing() async throws {
        let history = SQLiteHistoryStore(directory: folder.url)
        for round in 0..<5 {
            try await history.append(messages(round * 2..<round * 2 + 2), to: scope)
            await history.close()
        }
        try await history.open()
        for _ in 0..<600 {
            if try await history.check().messagesToIndex == 0 { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await history.check().messagesToIndex == 0)
    }

    @Test("Overlapping readers do not prevent the log from restarting", .needs(.time))
    func boundedLog() async throws {
        let history = folder.history(durability: .relaxed)
        try await history.open()
        let database = try await history.connection.database()
        let isDone = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !isDone.withLock({ $0 }) {
                        _ = try await database.read { db in
                            _ = try db.integer("SELECT count(*) FROM message")
                            usleep(20_000)
                        }
                    }
                }
            }
            let text = String(repeating: "0123456789abcdef", count: 16_384)
            for number in 0..<300 {
                try await history.append([ConversationMessage(id: "\(number)", role: .user, text: text)], to: scope)
            }
            isDone.withLock { $0 = true }
            try await group.waitForAll()
        }
        #expect(OpenFile.size(at: folder.file("history.sqlite-wal").path) <= 32 << 20)
    }

    @Test(
        "Writers and readers of an open history detect a change to a newer format",
        arguments: ["schema", "index"], ["append", "window", "list"])
    func newerFormat(what: String, how: String) async throws {
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.connection.database().state != nil)
        // A plain SQLite connection stands in for the newer program.
        var newer: OpaquePointer?
        #expect(sqlite3_open(folder.file("history.sqlite").path, &newer) == SQLITE_OK)
        defer { sqlite3_close(newer) }
        let change =
            what == "schema"
            ? "INSERT INTO grdb_migrations VALUES ('99 from the future'); CREATE TABLE future (id)"
            : "UPDATE search_state SET version = 99; CREATE TABLE future (id)"
        #expect(sqlite3_exec(newer, change, nil, nil, nil) == SQLITE_OK)
        let keeping = try DatabaseQueue(path: folder.file("history.sqlite").path)
        try await keeping.write { try SchemaChecksum.store($0) }
        await expectError(.newerSchema) {
            switch how {
            case "append": _ = try await history.append(messages(2..<4), to: scope)
            case "window": _ = try await history.window(of: scope, maxMessages: nil)
            default: _ = try await history.sessions(of: "ann", page: PageRequest(limit: 500))
            }
        }
    }

    /// Under its second name, the database would have a separate log.
    @Test("A database with a second hard link can be read but not written")
    func hardLink() async throws {
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        await history.close()
        try FileManager.default.createDirectory(at: folder.file("other"), withIntermediateDirectories: false)
        let link = folder.file("other/history.sqlite")
        try FileManager.default.linkItem(at: folder.file("history.sqlite"), to: link)
        let other = SQLiteHistoryStore(directory: folder.file("other"))
        for store in [history, other] {
            #expect(try await store.window(of: scope, maxMessages: nil) == messages(0..<2))
            await expectError(.readOnly) { try await store.append(messages(2..<4), to: scope) }
            await store.close()
        }
        try FileManager.default.removeItem(at: link)
        try await history.append(messages(2..<4), to: scope)
    }
}
