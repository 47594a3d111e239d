import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectTesting

@Suite("The crash explorer")
struct CrashExplorerTests {
    @Test("finds nothing wrong with a store that is right")
    func rightStore() async throws {
        let report = try await CrashExplorer(seed: 1).explore(LineStore.scenario(.none))
        #expect(report.isFaultless, "\(report)")
        #expect(report.kills > 20)
        #expect(report.powerCuts > 20)
    }

    @Test(
        "finds each way in which a store is wrong",
        arguments: [
            (LineStore.Fault.unsyncedFile, "lost"), (.unsyncedFolder, "lost"), (.inPlace, "lost"), (.early, "lost"),
            (.copyStays, "words"),
        ])
    func wrongStores(fault: LineStore.Fault, kind: String) async throws {
        let report = try await CrashExplorer(seed: 1).explore(LineStore.scenario(fault))
        #expect(report.counts.keys.contains(kind), "\(report)")
        // A killed process loses nothing that was only not synced.
        if fault == .unsyncedFile || fault == .unsyncedFolder {
            #expect(report.faults.allSatisfy { $0.point?.powerCut != nil }, "\(report)")
        }
    }

    @Test("repeats a fault at the point that it names")
    func repeating() async throws {
        var explorer = CrashExplorer(seed: 5)
        let found = try await explorer.explore(LineStore.scenario(.unsyncedFile))
        let fault = try #require(found.faults.first)
        explorer.point = try #require(CrashPoint("\(try #require(fault.point))"))
        let again = try await explorer.explore(LineStore.scenario(.unsyncedFile))
        #expect(again.points == 1)
        #expect(again.faults.map(\.text) == found.faults.filter { $0.point == fault.point }.map(\.text))
    }

    @Test("refuses a run whose files were written past it")
    func unseen() async throws {
        let scenario = CrashScenario("past it") { run in
            try Data("unseen".utf8).write(to: run.folder.appendingPathComponent("file"))
        } reopen: { _ in
            CrashedStore(lists: [:])
        }
        await #expect(throws: RecollectError.self) { try await CrashExplorer(seed: 1).explore(scenario) }
    }

    @Test("sees every operation of SQLite: the recorded ones explain the files of a history")
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
            let kept = try await history.window(
                of: Scope(userId: "u", sessionId: "s", agentId: "a"), maxMessages: nil)
            await history.close()
            return CrashedStore(lists: ["list": kept.map(\.id)])
        }
        var explorer = CrashExplorer(seed: 1)
        explorer.limit = 2
        let report = try await explorer.explore(scenario)
        #expect(report.operations > 50)
        #expect(report.isFaultless, "\(report)")
    }
}

@Suite("The image of a disk")
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

    @Test("certain is what a file had at its sync, under a name that its folder had at its own")
    func certainty() throws {
        let synced = try image(of: made + [RecordedStep(action: .syncFile, path: "a", file: file)])
        #expect(synced.certainNames.isEmpty)
        #expect(synced.certainContents[0] == [1, 2, 3])
        let named = try image(of: made + [RecordedStep(action: .syncFolder)])
        #expect(named.certainNames == ["a": .file(0)])
        #expect(named.certainContents[0] == [])
        #expect(named.contents[0] == [1, 2, 3])
    }

    @Test("a file keeps what is written to it under its new name, and after its name is gone")
    func renamed() throws {
        let write = RecordedStep(action: .write, path: "a", file: file, number: 2, bytes: [9, 9])
        let moved = try image(of: made + [RecordedStep(action: .rename, path: "a", target: "b"), write])
        #expect(moved.names == ["b": .file(0)])
        #expect(moved.contents[0] == [1, 2, 9, 9])
        let removed = try image(of: made + [RecordedStep(action: .remove, path: "a"), write])
        #expect(removed.names.isEmpty)
        // The number of an inode comes again with another file.
        let again = try image(of: made + [RecordedStep(action: .remove, path: "a")] + made)
        #expect(again.names == ["a": .file(1)])
    }

    @Test("of what is not certain, a power cut leaves parts, and never anything else")
    func powerCuts() throws {
        let image = try image(of: made + [RecordedStep(action: .syncFolder)])
        var found: Set<[UInt8]> = []
        for variant in 0..<40 {
            found.insert(PowerCut(variant: variant, seed: 3).image(of: image).contents[0] ?? [])
        }
        #expect(found.isSubset(of: [[], [1], [1, 2], [1, 2, 3]]))
        #expect(found.count > 2)
    }

    /// What power cuts leave of a file with `size` certain bytes, of which `count` are then written anew from `offset` on: how
    /// long the file is, and how many of the new bytes are there.
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

    @Test("within a file, a torn write ends with a sector; behind the file's end, anywhere")
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
