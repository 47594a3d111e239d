import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// Conflicts between devices that exchange their lineage logs.
@Suite("Conflict resolution with lineage")
struct LineageConflictTests {
    static let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.md"
    let here: SyncedWorkspace
    let there: SyncedWorkspace
    let path: WorkspacePath

    init() throws {
        here = try SyncedWorkspace()
        there = try SyncedWorkspace()
        path = try WorkspacePath("notes.md")
    }

    /// Advances the clocks of some devices.
    func pass(on workspaces: SyncedWorkspace..., seconds: TimeInterval = 1) {
        for synced in workspaces { synced.now.withLock { $0 += seconds } }
    }

    /// Puts the other device's version beside this device's as a conflict copy, and resolves the conflict.
    func resolve() async throws -> String {
        try here.takeLineage(of: there)
        let copy = try await there.workspace.read(path).text
        try here.put(copy, at: Self.copy)
        try await here.workspace.resolveConflicts()
        return try await here.workspace.read(path).text
    }

    @Test("concurrent-edits: edits on two devices of a text written on one of them are merged by lines")
    func ownWrite() async throws {
        let text = "# Plan\n\none\ntwo\nthree\nfour\n"
        try await here.putAndScan("# Plan\n", at: "notes.md")
        try await there.putAndScan("# Plan\n", at: "notes.md")
        let version = try await here.workspace.read(path).version
        let written = try await here.workspace.write(text, to: path, replacing: version, by: .agent("a"))
        try await there.deliverAndScan(text, at: "notes.md")
        try await there.putAndScan(text.replacingOccurrences(of: "one", with: "ONE"), at: "notes.md")
        try await here.workspace.write(
            text.replacingOccurrences(of: "four", with: "FOUR"), to: path, replacing: written.version)
        #expect(try await resolve() == "# Plan\n\nONE\ntwo\nthree\nFOUR\n")
    }

    @Test("concurrent-edits: an edit scanned after it won keeps its parent")
    func editScannedLate() async throws {
        let path = try WorkspacePath("notes.txt")
        for synced in [here, there] { try await synced.putAndScan("start\ndelta\n", at: "notes.txt") }
        try await here.putAndScan("start\ndelta\nbravo\n", at: "notes.txt")
        pass(on: here, there, seconds: 60)
        try there.put("start\nalpha\n", at: "notes.txt")
        try here.put("start\ndelta\nbravo\n", at: "notes.sync-conflict-20261122-101112-ABCDEFG.txt")
        try await here.deliverAndScan("start\nalpha\n", at: "notes.txt")
        pass(on: here, there, seconds: 60)
        _ = try await there.workspace.status()
        try here.takeLineage(of: there)
        #expect(try await here.workspace.resolveConflicts().map(\.assumedDeleted) == [["delta"]])
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "alpha", "bravo"]) && !lines.contains("delta"))
    }

    @Test("concurrent-edits: without the nearest common ancestor in the archive, an older one is no base")
    func olderBase() async throws {
        let third = try SyncedWorkspace()
        let texts = ["- bread\n- milk\n", "- bread\n", "- bread\n- eggs\n", "- bread\n- milk\n- soap\n"]
        for synced in [here, there, third] { try await synced.deliverAndScan(texts[0], at: "notes.md") }
        // One device deletes a line, and another one adds it again. The third device never has the text between.
        try await here.putAndScan(texts[1], at: "notes.md")
        try await there.deliverAndScan(texts[1], at: "notes.md")
        try await here.putAndScan(texts[2], at: "notes.md")
        try await there.putAndScan(texts[3], at: "notes.md")
        try await third.deliverAndScan(texts[2], at: "notes.md")
        try third.deliver(texts[3], at: Self.copy)
        try third.takeLineage(of: here, there)
        #expect(try await third.workspace.resolveConflicts().map(\.assumedDeleted) == [[]])
        let lines = Set(try await third.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["- bread", "- milk", "- eggs", "- soap"]))
    }

    @Test("concurrent-edits: a content is an edit if the file's change date directly follows its modification date")
    func edits() throws {
        func isEdited(_ modified: TimeInterval?, _ changed: TimeInterval?) -> Bool {
            func date(_ seconds: TimeInterval?) -> Date? { seconds.map { Date(timeIntervalSince1970: $0) } }
            return WorkspaceItem(path: path, modified: date(modified), changed: date(changed)).isEdited
        }
        #expect(isEdited(100, 100) && isEdited(100, 100.2))
        #expect(!isEdited(100, 100.5) && !isEdited(100, 160) && !isEdited(160, 100) && !isEdited(100.01, 100))
        #expect(!isEdited(nil, 100) && !isEdited(100, nil))
    }

    @Test("concurrent-edits: pruning keeps the base of the next merge", arguments: [false, true])
    func prunedBase(isEdited: Bool) async throws {
        try await here.workspace.write("- milk\n- bread\n- eggs\n", to: path, replacing: nil)
        try await there.deliverAndScan("- milk\n- bread\n- eggs\n", at: "notes.md")
        pass(on: here, there, seconds: 40 * 86_400)
        let shorter = "- milk\n- eggs\n"
        if isEdited {
            try await here.putAndScan(shorter, at: "notes.md")
        } else {
            let version = try await here.workspace.read(path).version
            try await here.workspace.write(shorter, to: path, replacing: version)
        }
        try await there.workspace.append("- salt\n", to: path)
        for synced in [here, there] {
            try await synced.workspace.pruneVersions(olderThan: synced.now.withLock { $0 - 30 * 86_400 })
        }
        #expect(try await resolve() == "- milk\n- eggs\n- salt\n")
    }

    @Test("A preview changes nothing, a merge reports assumed deletions, and its versions can be restored")
    func undone() async throws {
        for synced in [here, there] { try await synced.putAndScan("one\ntwo\nthree\n", at: "notes.md") }
        try await here.putAndScan("one\nthree\n", at: "notes.md")
        try await there.putAndScan("one\ntwo\nthree\nfour\n", at: "notes.md")
        try await there.loseConflict("notes.md", to: "one\nthree\n", as: Self.copy)
        try here.takeLineage(of: there)
        try here.put("one\ntwo\nthree\nfour\n", at: Self.copy)
        let before = try await here.files()
        let preview = try await here.workspace.previewConflicts()
        #expect(preview.map(\.outcome) == [.merged] && preview.map(\.assumedDeleted) == [["two"]])
        #expect(try await here.files() == before)
        #expect(try await here.workspace.resolveConflicts() == preview)
        let merged = "one\nthree\nfour\n"
        #expect(try await here.files() == ["notes.md": merged])
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        let kept = try await here.workspace.restoreConflict(path)
        let again = try await here.workspace.restoreConflict(path)
        #expect(kept.count == 2 && kept == again)
        let files = try await here.files()
        #expect(files["notes.md"] == merged && Set(files.values) == Set(before.values).union([merged]))
        await #expect(throws: RecollectError.self) { try await here.workspace.restoreConflict(kept[0]) }
    }

    @Test("A merge that leaves the file unchanged can be undone if it assumed deletions")
    func undoneWithoutChange() async throws {
        for synced in [here, there] { try await synced.putAndScan("one\ntwo\nthree\n", at: "notes.md") }
        try await here.putAndScan("one\n", at: "notes.md")
        try await there.putAndScan("one\nthree\n", at: "notes.md")
        try await there.loseConflict("notes.md", to: "one\n", as: Self.copy)
        try here.takeLineage(of: there)
        try here.put("one\nthree\n", at: Self.copy)
        let resolved = try await here.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.merged] && resolved.map(\.assumedDeleted) == [["three"]])
        #expect(try await here.files() == ["notes.md": "one\n"])
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        try await here.workspace.restoreConflict(path)
        #expect(try await here.files().filter { $0.key != "notes.md" }.map(\.value) == ["one\nthree\n"])
    }
}
