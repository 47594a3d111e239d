import Foundation
import GRDBSQLite
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Histories on bind mounts and read-only mounts, alongside writing processes.
@Suite("Mounted histories", .needs(.processes)) struct MountTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Creates a folder in the folder of the test.
    private func historyFolder(_ name: String) throws -> URL {
        try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        return folder.file(name)
    }

    private func store(at url: URL) -> SQLiteHistoryStore {
        SQLiteHistoryStore(directory: url, configuration: HistoryConfiguration(indexesInBackground: false))
    }

    /// Saves the given number of two-message turns in another process, and returns the number of acknowledged messages.
    private func saveElsewhere(_ turns: Int, at url: URL, as writer: String, padding: Int = 50) async throws -> Int {
        let worker = try Worker(["append", "history:\(url.path)", "agent", writer, "\(turns)", "0", "\(padding)"])
        return await worker.finish().count { $0.hasPrefix("saved ") } * 2
    }

    private func deleteElsewhere(at url: URL) async throws {
        let worker = try Worker(["delete", url.path, "u", "s"])
        #expect(await worker.finish() == ["deleted"])
    }

    /// Checkpoints the log into the database and removes it, in another process.
    private func closeElsewhere(at url: URL) async throws {
        let worker = try Worker(["close", url.path])
        #expect(await worker.finish() == ["closed"])
    }

    private func read(_ store: SQLiteHistoryStore) async throws -> [ConversationMessage] {
        for _ in 0..<5 {
            do {
                return try await readOnce(store)
            } catch let error as RecollectError where error.code == .busy {
                // On a busy machine, a writer may be suspended while it holds the lock.
            }
        }
        return try await readOnce(store)
    }

    private func readOnce(_ store: SQLiteHistoryStore) async throws -> [ConversationMessage] {
        try await store.messages(
            of: SessionKey(userId: "u", sessionId: "s"), agentId: "agent", page: PageRequest(limit: 100_000)
        ).elements.map(\.message)
    }

    // MARK: Files on another mount

    /// In the other folder, the database would have a separate log.
    @Test(
        "A database file mounted into another folder can be read but not written",
        .needs(.bindMount))
    func mountedFile() async throws {
        let (host, guest) = (try historyFolder("host"), try historyFolder("guest"))
        var acknowledged = try await saveElsewhere(10, at: host, as: "before")
        let database = guest.appendingPathComponent("history.sqlite")
        try Data().write(to: database)
        let mount = try BindMount(of: host.appendingPathComponent("history.sqlite"), at: database)
        let link = try historyFolder("link")
        try FileManager.default.createSymbolicLink(
            at: link.appendingPathComponent("history.sqlite"), withDestinationURL: database)
        defer { withExtendedLifetime(mount) {} }
        for round in 0..<3 {
            for historyFolder in [host, guest, link] {
                acknowledged += try await saveElsewhere(
                    5, at: historyFolder, as: "\(historyFolder.lastPathComponent)\(round)")
            }
        }
        try await closeElsewhere(at: host)
        for historyFolder in [guest, link] {
            let reader = store(at: historyFolder)
            #expect(try await read(reader).count == acknowledged)
            do {
                try await reader.append(messages(0..<2), to: scope)
                Issue.record("a save was acknowledged")
            } catch let error as RecollectError {
                #expect(error.code == .readOnly)
                #expect(error.message.contains("mount the folder"))
            }
            await reader.close()
        }
        #expect(acknowledged == 10 * 2 + 3 * 5 * 2)
        #expect(try await read(store(at: host)).count == acknowledged)
    }

    @Test(
        "A mounted folder is written like any other folder",
        .needs(.bindMount))
    func mountedFolder() async throws {
        let (host, guest) = (try historyFolder("host"), try historyFolder("guest"))
        let mount = try BindMount(of: host, at: guest)
        defer { withExtendedLifetime(mount) {} }
        #expect(try await saveElsewhere(5, at: host, as: "host") == 10)
        #expect(try await saveElsewhere(5, at: guest, as: "guest") == 10)
        #expect(try await read(store(at: host)).count == 20)
    }

    #if os(Linux)
        @Test("A database on another mount than its folder is detected, also through a symbolic link")
        func mounts() throws {
            #expect(MountID(at: "/proc") != nil && MountID(at: "/proc") != MountID(at: folder.url.path))
            let database = folder.file("history.sqlite")
            #expect(!HistoryFiles(directory: folder.url).databaseIsMounted)
            try Data().write(to: database)
            #expect(!HistoryFiles(directory: folder.url).databaseIsMounted)
            try FileManager.default.removeItem(at: database)
            try FileManager.default.createSymbolicLink(
                at: database, withDestinationURL: URL(fileURLWithPath: "/proc/version"))
            #expect(HistoryFiles(directory: folder.url).databaseIsMounted)
            #expect(!HistoryFiles(directory: folder.url).resolved.databaseIsMounted)
        }
    #endif

    // MARK: Writes by other processes

    @Test("A database opened as immutable is retired by a read if a write precedes or overlaps it")
    func immutableFile() async throws {
        let host = try historyFolder("host")
        #expect(try await saveElsewhere(10, at: host, as: "first") == 20)
        try await closeElsewhere(at: host)
        let opening = ReadOnlyOpener(
            files: HistoryFiles(directory: host), configuration: HistoryConfiguration(), events: StoreEvents(),
            cause: RecollectError(.readOnly, "as if on a read-only disk"))
        let path = host.appendingPathComponent("history.sqlite").path

        let first = try opening.open()
        let count = try await first.read { try $0.integer("SELECT count(*) FROM message") }
        #expect(count == 20)
        await #expect(throws: DatabaseRetired.self) {
            try await first.read { _ in deleteMessages(in: path, "sequence % 2 = 0") }
        }
        #expect(first.isRetired)
        HistoryRegistry.shared.close(first)

        let second = try opening.open()
        #expect(try second.readNow { try $0.integer("SELECT count(*) FROM message") } == 10)
        deleteMessages(in: path, "true")
        await #expect(throws: DatabaseRetired.self) {
            try await second.read { _ in _ = Issue.record("the read started") }
        }
        #expect(second.isRetired)
        HistoryRegistry.shared.close(second)
    }

    @Test(
        "A reader on a read-only mount shows saves and deletions of other processes",
        .needs(.bindMount))
    func othersWrite() async throws {
        let (host, guest) = (try historyFolder("host"), try historyFolder("guest"))
        #expect(try await saveElsewhere(10, at: host, as: "first") == 20)
        try await closeElsewhere(at: host)
        let mount = try BindMount(of: host, at: guest, isReadOnly: true)
        defer { withExtendedLifetime(mount) {} }
        let reader = store(at: guest)
        #expect(try await read(reader).count == 20)
        for round in 1..<5 {
            // While a process has the history open, the log stays.
            let holder = try round.isMultiple(of: 2) ? Worker(["hold", host.path]) : nil
            if let holder { #expect(await holder.wait(forLines: 1) == ["held"]) }
            try await deleteElsewhere(at: host)
            #expect(try await read(reader).isEmpty)
            #expect(try await saveElsewhere(5 * round, at: host, as: "round\(round)") == 10 * round)
            #expect(try await read(reader).count == 10 * round)
            #expect(try await reader.sessions(of: "u", page: PageRequest(limit: 5)).elements.count == 1)
            holder?.kill()
            _ = await holder?.finish()
            #expect(try await read(reader).count == 10 * round)
            try await closeElsewhere(at: host)
            #expect(try await read(reader).count == 10 * round)
            await expectError(.readOnly) { try await reader.append(messages(0..<2), to: scope) }
        }
        await reader.close()
    }

    @Test("A reader on a read-only mount does not wait for a writer suspended during a commit", .needs(.bindMount))
    func suspendedWriter() async throws {
        let (host, guest) = (try historyFolder("host"), try historyFolder("guest"))
        let mount = try BindMount(of: host, at: guest, isReadOnly: true)
        defer { withExtendedLifetime(mount) {} }
        #expect(try await saveElsewhere(10, at: host, as: "first") == 20)
        let holder = try Worker(["hold", host.path])
        #expect(await holder.wait(forLines: 1) == ["held"])
        #expect(try await saveElsewhere(10, at: host, as: "second") == 20)
        let reader = store(at: guest)
        #expect(try await readOnce(reader).count == 40)
        let writer = try Worker(["lock-index", host.path])
        #expect(await writer.wait(forLines: 1) == ["locked"])
        #expect(try await readOnce(reader).count == 40)
        for worker in [writer, holder] {
            worker.kill()
            _ = await worker.finish()
        }
        await reader.close()
    }

    @Test(
        "Reading a history larger than the reader's cache never mixes two states",
        .needs(.bindMount))
    func largerThanTheCache() async throws {
        let (host, guest) = (try historyFolder("host"), try historyFolder("guest"))
        let mount = try BindMount(of: host, at: guest, isReadOnly: true)
        defer { withExtendedLifetime(mount) {} }
        var reader: SQLiteHistoryStore?
        for round in 0..<2 {
            if round > 0 { try await deleteElsewhere(at: host) }
            let writer = "round\(round)-"
            #expect(try await saveElsewhere(250, at: host, as: writer, padding: 90_000 + round * 3000) == 500)
            try await closeElsewhere(at: host)
            #expect(OpenFile.size(at: host.appendingPathComponent("history.sqlite").path) > 20_000_000)
            reader = reader ?? store(at: guest)
            let found = try await read(try #require(reader))
            #expect(found.count == 500)
            #expect(found.allSatisfy { $0.id.contains(writer) })
        }
        await reader?.close()
    }

    @Test(
        "A read is repeated if another process writes during it",
        .needs(.bindMount))
    func writtenDuringRead() async throws {
        let (host, guest) = (try historyFolder("host"), try historyFolder("guest"))
        #expect(try await saveElsewhere(10, at: host, as: "first") == 20)
        try await closeElsewhere(at: host)
        let mount = try BindMount(of: host, at: guest, isReadOnly: true)
        defer { withExtendedLifetime(mount) {} }
        let runs = Locked(0)
        let path = host.appendingPathComponent("history.sqlite").path
        let reader = store(at: guest)
        let counts = try await reader.read { db in
            let before = try db.integer("SELECT count(*) FROM message")
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            if isFirst { deleteMessages(in: path, "sequence % 2 = 0") }
            return [before, try db.integer("SELECT count(*) FROM message WHERE length(text) >= 0")]
        }
        #expect(counts == [10, 10])
        #expect(runs.withLock { $0 } == 2)
        await reader.close()
    }
}

/// Deletes messages through a separate connection, which stands in for another process.
private func deleteMessages(in path: String, _ condition: String) {
    var other: OpaquePointer?
    #expect(sqlite3_open(path, &other) == SQLITE_OK)
    defer { sqlite3_close(other) }
    let change = "DELETE FROM message WHERE \(condition); PRAGMA wal_checkpoint(TRUNCATE)"
    #expect(sqlite3_exec(other, change, nil, nil, nil) == SQLITE_OK)
}
