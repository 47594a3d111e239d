import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Histories that can only be read here, beside processes that write to them.
@Suite("Read-only histories") struct ReadOnlyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A place in the folder of the test, with a folder there.
    private func place(_ name: String) throws -> URL {
        try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        return folder.file(name)
    }

    private func store(at url: URL) -> SQLiteHistoryStore {
        SQLiteHistoryStore(directory: url, configuration: HistoryConfiguration(indexesInBackground: false))
    }

    /// Another process saves so many turns of two messages and ends. Returns how many messages it acknowledged.
    private func saveElsewhere(_ turns: Int, at url: URL, as writer: String, padding: Int = 50) async throws -> Int {
        let worker = try Worker(["append", "history:\(url.path)", "agent", writer, "\(turns)", "0", "\(padding)"])
        return await worker.finish().count { $0.hasPrefix("saved ") } * 2
    }

    private func deleteElsewhere(at url: URL) async throws {
        let worker = try Worker(["delete", url.path, "u", "s"])
        #expect(await worker.finish() == ["deleted"])
    }

    /// Another process moves the log into the database and removes it.
    private func closeElsewhere(at url: URL) async throws {
        let worker = try Worker(["close", url.path])
        #expect(await worker.finish() == ["closed"])
    }

    private func read(_ store: SQLiteHistoryStore) async throws -> [ConversationMessage] {
        try await store.messages(
            of: ConversationID(userId: "u", sessionId: "s"), agentId: "agent", page: PageRequest(limit: 100_000)
        ).elements.map(\.message)
    }

    @Test(
        "a database file that is mounted into another folder, where it would have another log, is read and not written",
        .enabled(if: BindMount.isPossible, "no bind mount can be made here"))
    func mountedFile() async throws {
        let (host, guest) = (try place("host"), try place("guest"))
        var acknowledged = try await saveElsewhere(10, at: host, as: "before")
        let database = guest.appendingPathComponent("history.sqlite")
        try Data().write(to: database)
        let mount = try BindMount(of: host.appendingPathComponent("history.sqlite"), at: database)
        let link = try place("link")
        try FileManager.default.createSymbolicLink(
            at: link.appendingPathComponent("history.sqlite"), withDestinationURL: database)
        defer { withExtendedLifetime(mount) {} }
        for round in 0..<3 {
            for place in [host, guest, link] {
                acknowledged += try await saveElsewhere(5, at: place, as: "\(place.lastPathComponent)\(round)")
            }
        }
        try await closeElsewhere(at: host)
        for place in [guest, link] {
            let reader = store(at: place)
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
        "a mounted folder is written like any other",
        .enabled(if: BindMount.isPossible, "no bind mount can be made here"))
    func mountedFolder() async throws {
        let (host, guest) = (try place("host"), try place("guest"))
        let mount = try BindMount(of: host, at: guest)
        defer { withExtendedLifetime(mount) {} }
        #expect(try await saveElsewhere(5, at: host, as: "host") == 10)
        #expect(try await saveElsewhere(5, at: guest, as: "guest") == 10)
        #expect(try await read(store(at: host)).count == 20)
    }

    #if os(Linux)
        @Test("a file of another mount than its folder's is told, and looked for where a symbolic link leads")
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
}
