import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectTesting

@Suite("Crash explorer")
struct CrashExplorerTests {
    @Test("A correct store has no faults")
    func rightStore() async throws {
        let report = try await CrashExplorer(seed: 1).explore(LineStore.scenario(.none))
        #expect(report.isFaultless, "\(report)")
        #expect(report.kills > 20)
        #expect(report.powerCuts > 20)
    }

    @Test(
        "Each fault of a store is found",
        arguments: [
            (LineStore.Fault.unsyncedFile, "lost"), (.unsyncedFolder, "lost"), (.inPlace, "lost"), (.early, "lost"),
            (.copyStays, "residue"),
        ])
    func wrongStores(fault: LineStore.Fault, kind: String) async throws {
        let report = try await CrashExplorer(seed: 1).explore(LineStore.scenario(fault))
        #expect(report.counts.keys.contains(kind), "\(report)")
        // A killed process loses no unsynced data.
        if fault == .unsyncedFile || fault == .unsyncedFolder {
            #expect(report.faults.allSatisfy { $0.point?.powerCut != nil }, "\(report)")
        }
    }

    @Test("A fault is repeatable at its crash point")
    func repeating() async throws {
        var explorer = CrashExplorer(seed: 5)
        let found = try await explorer.explore(LineStore.scenario(.unsyncedFile))
        let fault = try #require(found.faults.first)
        let point = try #require(fault.point)
        explorer.point = try #require(CrashPoint("\(point)"))
        let again = try await explorer.explore(LineStore.scenario(.unsyncedFile))
        #expect(again.points == 1)
        #expect(again.faults.map(\.text) == found.faults.filter { $0.point == fault.point }.map(\.text))
    }

    @Test("A run with unrecorded writes throws")
    func unseen() async throws {
        let scenario = CrashScenario("past it") { run in
            try Data("unseen".utf8).write(to: run.folder.appendingPathComponent("file"))
        } reopen: { _ in
            CrashedStore(lists: [:])
        }
        await #expect(throws: RecollectError.self) { try await CrashExplorer(seed: 1).explore(scenario) }
    }

    @Test("Every operation of SQLite is recorded")
    func history() async throws {
        let scenario = CrashScenario("history") { run in
            let history = SQLiteHistoryStore(
                directory: run.folder, configuration: HistoryConfiguration(indexesInBackground: false))
            let message = ConversationMessage(id: "m", role: .user, text: "text")
            try await run.change("list", adding: ["m"]) {
                _ = try await history.append([message], to: Scope(userId: "u", sessionId: "s", agentId: "a"))
            }
            await history.close()
        } reopen: { image in
            let history = SQLiteHistoryStore(
                directory: image.folder, configuration: HistoryConfiguration(indexesInBackground: false))
            let saved = try await history.window(
                of: Scope(userId: "u", sessionId: "s", agentId: "a"), maxMessages: nil)
            await history.close()
            return CrashedStore(lists: ["list": saved.map(\.id)])
        }
        var explorer = CrashExplorer(seed: 1)
        explorer.limit = 2
        let report = try await explorer.explore(scenario)
        #expect(report.operations > 50)
        #expect(report.isFaultless, "\(report)")
    }
}

@Suite("Disk images")
struct DiskImageTests {
    private let file = FileIdentity(device: 1, inode: 2)

    private func image(of entries: [RecordedStep]) throws -> DiskImage {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var image = try DiskImage(folder: folder)
        entries.forEach { image.apply($0) }
        return image
    }

    private var made: [RecordedStep] {
        [
            RecordedStep(action: .makeFile, path: "a", file: file),
            RecordedStep(action: .write, path: "a", file: file, number: 0, bytes: [1, 2, 3]),
        ]
    }

    @Test("Certain are contents at the last sync of the file, and names at the last sync of the folder")
    func certainty() throws {
        let synced = try image(of: made + [RecordedStep(action: .syncFile, path: "a", file: file)])
        #expect(synced.certainNames.isEmpty)
        #expect(synced.certainContents[0] == [1, 2, 3])
        let named = try image(of: made + [RecordedStep(action: .syncFolder)])
        #expect(named.certainNames == ["a": .file(0)])
        #expect(named.certainContents[0] == [])
        #expect(named.contents[0] == [1, 2, 3])
    }

    @Test("Writes follow a file to its new name, and do not recreate a removed name")
    func renamed() throws {
        let write = RecordedStep(action: .write, path: "a", file: file, number: 2, bytes: [9, 9])
        let moved = try image(of: made + [RecordedStep(action: .rename, path: "a", target: "b"), write])
        #expect(moved.names == ["b": .file(0)])
        #expect(moved.contents[0] == [1, 2, 9, 9])
        let removed = try image(of: made + [RecordedStep(action: .remove, path: "a"), write])
        #expect(removed.names.isEmpty)
        // An inode number can be reused by another file.
        let again = try image(of: made + [RecordedStep(action: .remove, path: "a")] + made)
        #expect(again.names == ["a": .file(1)])
    }

    @Test("A power cut leaves parts of uncertain data, and no other data")
    func powerCuts() throws {
        let image = try image(of: made + [RecordedStep(action: .syncFolder)])
        var found: Set<[UInt8]> = []
        for variant in 0..<40 {
            found.insert(PowerCut(variant: variant, seed: 3).image(of: image).contents[0] ?? [])
        }
        #expect(found.isSubset(of: [[], [1], [1, 2], [1, 2, 3]]))
        #expect(found.count > 2)
    }

    /// Returns the outcomes of power cuts after a write of `count` bytes at `offset` to a file of `size` bytes:
    /// the length of the file, and the number of new bytes in it.
    private func outcomes(size: Int, offset: Int, count: Int) throws -> Set<[Int]> {
        let image = try image(of: [
            RecordedStep(action: .makeFile, path: "a", file: file),
            RecordedStep(action: .write, path: "a", file: file, bytes: [UInt8](repeating: 1, count: size)),
            RecordedStep(action: .syncFile, path: "a", file: file),
            RecordedStep(action: .syncFolder),
            RecordedStep(
                action: .write, path: "a", file: file, number: offset, bytes: [UInt8](repeating: 2, count: count)),
        ])
        var found: Set<[Int]> = []
        for variant in 0..<400 {
            let bytes = PowerCut(variant: variant, seed: 5).image(of: image).contents[0] ?? []
            let new = bytes.filter { $0 == 2 }.count
            #expect(bytes[offset..<min(offset + new, bytes.count)].allSatisfy { $0 == 2 })
            found.insert([bytes.count, new])
        }
        return found
    }

    @Test("A torn write ends at a sector within the file, and anywhere behind its end")
    func torn() throws {
        #expect(try outcomes(size: 600, offset: 0, count: 32) == [[600, 0], [600, 32]])
        #expect(
            try outcomes(size: 2000, offset: 500, count: 1000) == [
                [2000, 0], [2000, 12], [2000, 524], [2000, 1000],
            ])
        let longer = try outcomes(size: 600, offset: 0, count: 1000)
        #expect(longer.contains([600, 0]) && longer.contains([600, 512]) && longer.contains([1000, 1000]))
        #expect(longer.allSatisfy { [0, 512].contains($0[1]) || $0[1] >= 600 && $0[0] == $0[1] })
        #expect(longer.count { $0[0] > 600 && !$0[0].isMultiple(of: 512) } > 20)
    }
}
