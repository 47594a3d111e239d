import Foundation
import Testing

@testable import RecollectWorkspace

/// Contents put back, restored or reverted after a change.
extension LineageConflictTests {
    /// Expects all lines after a conflict, and after a second one with an edit on the other device.
    private func expectAllLines() async throws {
        for isEdited in [false, true] {
            if isEdited { try await there.workspace.append("there\n", to: path) }
            try await here.workspace.append("here\n", to: path)
            let lines = Set(try await resolve().lines)
            #expect(lines.isSuperset(of: ["one", "two", "three", "here"] + (isEdited ? ["there"] : [])))
        }
    }

    @Test("concurrent-edits: a change reverted on another device stays reverted")
    func takenBack() async throws {
        for synced in [here, there] { try await synced.putAndScan("# Tea\n\nat four\n", at: "notes.md") }
        let version = try await here.workspace.read(path).version
        let five = try await here.workspace.write("# Tea\n\nat five\n", to: path, replacing: version)
        try await there.putAndScan("# Tea\n\nat five\n", at: "notes.md")
        try await there.putAndScan("# Tea\n\nat four\n", at: "notes.md")
        try await here.workspace.write("# Tea\n\nat five\n\n# Cake\n", to: path, replacing: five.version)
        #expect(try await resolve() == "# Tea\n\nat four\n\n# Cake\n")
    }

    /// The way in which a device puts an earlier content back after the file was missing.
    enum Return: CaseIterable { case saved, movedAndSaved, deletedAndWritten, movedHere }

    @Test(
        "concurrent-edits: a content put back on a device where the file was missing is no earlier version",
        arguments: Return.allCases, [false, true])
    func putBack(way: Return, wasSeen: Bool) async throws {
        let (text, shorter) = ("# Plan\n\none\ntwo\nthree\n", "# Plan\n\none\nthree\n")
        let whole = try await here.workspace.write(text, to: path, replacing: nil)
        if wasSeen { try await there.deliverAndScan(text, at: "notes.md") }
        try await here.workspace.write(shorter, to: path, replacing: whole.version)
        try await there.deliverAndScan(shorter, at: "notes.md")
        switch way {
        case .saved: try there.remove("notes.md")
        case .movedAndSaved: try await there.workspace.move(path, to: WorkspacePath("old.md"))
        case .deletedAndWritten: try await there.workspace.trash(path, replacing: ContentHash(of: Array(shorter.utf8)))
        case .movedHere:
            try await there.putAndScan(text, at: "template.md")
            try await there.workspace.trash(path, replacing: ContentHash(of: Array(shorter.utf8)))
        }
        _ = try await there.workspace.status()
        switch way {
        case .saved, .movedAndSaved: try await there.putAndScan(text, at: "notes.md")
        case .deletedAndWritten: try await there.workspace.write(text, to: path, replacing: nil)
        case .movedHere: try await there.workspace.move(WorkspacePath("template.md"), to: path)
        }
        try await expectAllLines()
    }

    @Test(
        "concurrent-edits: a content put back after a save of a newer one is no earlier version",
        arguments: [false, true], [false, true])
    func putBackLater(wasSeen: Bool, isMissing: Bool) async throws {
        let (text, shorter) = ("# Plan\n\none\ntwo\nthree\n", "# Plan\n\none\nthree\n")
        let whole = try await here.workspace.write(text, to: path, replacing: nil)
        if wasSeen { try await there.deliverAndScan(text, at: "notes.md") }
        try await here.workspace.write(shorter, to: path, replacing: whole.version)
        try await there.deliverAndScan(shorter, at: "notes.md")
        try await there.putAndScan(shorter + "there\n", at: "notes.md")
        if isMissing {
            try there.remove("notes.md")
            _ = try await there.workspace.status()
        }
        try await there.putAndScan(text, at: "notes.md")
        try await expectAllLines()
    }

    @Test("concurrent-edits: a line put back in a conflict of three versions is not deleted by an older one")
    func putBackAmongThree() async throws {
        let (text, shorter) = ("# Plan\n\none\ntwo\nthree\n\nfour\n", "# Plan\n\none\nthree\n\n")
        let first = try await here.workspace.write(text, to: path, replacing: nil)
        try await there.deliverAndScan(text, at: "notes.md")
        try there.takeLineage(of: here)
        try await there.workspace.write(text + "there\n", to: path, replacing: first.version)
        let deleted = try await here.workspace.write(shorter, to: path, replacing: first.version)
        try await there.loseConflict("notes.md", to: shorter, as: Self.copy)
        try there.takeLineage(of: here)
        try await there.workspace.write(
            "# Plan\n\none\ntwo\nthree\n\nagain\n", to: path, replacing: deleted.version)
        try await here.workspace.write(shorter + "here\n", to: path, replacing: deleted.version)
        try here.put(text + "there\n", at: "notes.sync-conflict-20261122-101110-ABCDEFG.md")
        let lines = try await resolve().lines
        #expect(Set(lines).isSuperset(of: ["one", "two", "three", "again", "here", "there"]))
        #expect(!lines.contains("four") && lines.count { $0 == "two" } == 1, "\(lines)")
    }

    @Test(
        "concurrent-edits: a section deleted by two of three versions stays deleted beside a new one with the same line"
    )
    func sameLineAmongThree() async throws {
        let other = "\n## B\n\n- two\n- call\n\n## C\n\n- three\n- call\n"
        let text = "# Todo\n\n## A\n\n- one\n- call\n" + other
        let first = try await here.workspace.write(text, to: path, replacing: nil)
        let shorter = try await here.workspace.write("# Todo\n" + other, to: path, replacing: first.version)
        try await there.deliverAndScan(shorter.text, at: "notes.md")
        try there.takeLineage(of: here)
        try await there.workspace.write(
            shorter.text + "\n## D\n\n- four\n- call\n", to: path, replacing: shorter.version)
        try await here.workspace.write(
            shorter.text.replacingOccurrences(of: "- two\n", with: "- two\n- here\n"), to: path,
            replacing: shorter.version)
        try here.put(
            text.replacingOccurrences(of: "- three\n", with: "- three changed\n"),
            at: "notes.sync-conflict-20261122-101110-ABCDEFG.md")
        let third = try SyncedWorkspace()
        try await third.deliverAndScan(text, at: "notes.md")
        try third.takeLineage(of: here)
        try await third.workspace.write(
            text.replacingOccurrences(of: "- three\n", with: "- three changed\n"), to: path,
            replacing: first.version)
        try here.takeLineage(of: third)
        let lines = try await resolve().lines
        #expect(Set(lines).isSuperset(of: ["- two", "- here", "- three changed", "- four"]))
        #expect(!lines.contains("- one") && !lines.contains("## A"), "\(lines)")
    }

    @Test(
        "concurrent-edits: a line deleted on two devices, or before an undo on a third, and put back later is not deleted",
        arguments: [false, true])
    func deletedTwice(isUndone: Bool) async throws {
        let (text, shorter) = ("# Plan\n\none\ntwo\nthree\n\nfour\n", "# Plan\n\none\nthree\n\nfour\n")
        let first = try await here.workspace.write(text, to: path, replacing: nil)
        try await there.deliverAndScan(text, at: "notes.md")
        try there.takeLineage(of: here)
        try await here.workspace.write(shorter, to: path, replacing: first.version)
        if isUndone {
            try await there.deliverAndScan(shorter, at: "notes.md")
            let third = try SyncedWorkspace()
            try await third.deliverAndScan(shorter, at: "notes.md")
            for text in [shorter + "undone\n", shorter] { try await third.putAndScan(text, at: "notes.md") }
            for synced in [here, there] { try synced.takeLineage(of: third) }
        } else {
            try await there.workspace.write(shorter, to: path, replacing: first.version)
        }
        try there.takeLineage(of: here)
        try here.takeLineage(of: there)
        let version = try await here.workspace.read(path).version
        try await there.workspace.write(text + "there\n", to: path, replacing: version)
        try await here.workspace.write(shorter + "here\n", to: path, replacing: version)
        let lines = Set(try await resolve().lines)
        #expect(lines.isSuperset(of: ["one", "two", "three", "four", "here", "there"]))
    }

    @Test("concurrent-edits: a page begun again from its template keeps all lines of the template")
    func begunAgain() async throws {
        let template = "# Weekly\n\n- [ ] dentist\n- [ ] run\n"
        let week = "# Weekly\n\n- [ ] run\n"
        try await there.putAndScan(template, at: "notes.md")
        try await here.deliverAndScan(template, at: "notes.md")
        try await here.putAndScan(week, at: "notes.md")
        try await there.deliverAndScan(week, at: "notes.md")
        try there.move("notes.md", to: "week.md")
        _ = try await there.workspace.status()
        try await there.putAndScan(template, at: "notes.md")
        try await there.putAndScan(template + "- [ ] there\n", at: "notes.md")
        try await here.putAndScan(week + "- [x] here\n", at: "notes.md")
        let lines = Set(try await resolve().lines)
        #expect(lines.isSuperset(of: ["- [ ] dentist", "- [ ] run", "- [ ] there", "- [x] here"]))
    }

    @Test("concurrent-edits: a restored content is no earlier version, even before the other device's log arrives")
    func restoredBeforeLog() async throws {
        let (text, shorter) = ("# Plan\n\none\ntwo\nthree\n", "# Plan\n\none\nthree\n")
        let whole = try await here.workspace.write(text, to: path, replacing: nil)
        try await there.deliverAndScan(text, at: "notes.md")
        try await here.workspace.write(shorter, to: path, replacing: whole.version)
        try await there.deliverAndScan(shorter, at: "notes.md")
        try await there.workspace.restore(
            path, to: whole.version, replacing: try await there.workspace.read(path).version)
        try await here.workspace.append("here\n", to: path)
        try here.put(try await there.workspace.read(path).text, at: Self.copy)
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["one", "two", "three", "here"]))
    }

    @Test("conflict-copies: after a repeated content, no version counts as lost without a conflict copy")
    func reverts() async throws {
        let third = try SyncedWorkspace()
        let all = [here, there, third]
        func carry(_ text: String, from writer: SyncedWorkspace) async throws {
            for synced in all { try synced.takeLineage(of: writer) }
            for synced in all where synced.folder.url != writer.folder.url {
                try await synced.deliverAndScan(text, at: "notes.md")
            }
            pass(on: here, there, third)
        }
        for synced in all { try await synced.putAndScan("one\ntwo\nthree\n", at: "notes.md") }
        // Each device writes after the arrival of the other one's version, then restores an older version.
        let texts = ["one\nc1\ntwo\nthree\n", "one\nc1\na1\ntwo\nthree\n", "one\nc1\nc2\ntwo\n", "one\na2\ntwo\n"]
        for (number, text) in (texts + [texts[0], texts[0] + "a5\n"]).enumerated() {
            let writer = number.isMultiple(of: 2) ? here : there
            let version = try await writer.workspace.read(path).version
            try await writer.workspace.write(text, to: path, replacing: version)
            _ = try await writer.workspace.status()
            try await carry(text, from: writer)
            for synced in all { #expect(try await synced.workspace.resolveConflicts().isEmpty, "\(number)") }
        }
        #expect(try await third.files() == ["notes.md": texts[0] + "a5\n"])
    }

    @Test("conflict-copies: a reverted change stays reverted, even if the other device's log does not record it")
    func takenBackUnseen() async throws {
        for synced in [here, there] { try await synced.putAndScan("- start\n", at: "notes.md") }
        try await here.workspace.append("- mine\n", to: path)
        // On the other device, an editor restores the old content before a scan. The service brings it here.
        try await here.deliverAndScan("- start\n", at: "notes.md")
        try await there.workspace.append("- theirs\n", to: path)
        _ = try await there.workspace.status()
        try here.takeLineage(of: there)
        try await here.deliverAndScan("- start\n- theirs\n", at: "notes.md")
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        #expect(try await here.files() == ["notes.md": "- start\n- theirs\n"])
    }

    @Test("conflict-copies: content deleted before the file was written anew stays deleted")
    func writtenAnew() async throws {
        // A conflict resolved long ago is no evidence.
        for synced in [here, there] {
            try synced.put("mine\n", at: "notes.md")
            try synced.put("others\n", at: Self.copy)
            try await synced.workspace.resolveConflicts()
        }
        pass(on: here, there)
        let version = try await there.workspace.read(path).version
        try await there.workspace.trash(path, replacing: version)
        try await there.workspace.write("new\n", to: path, replacing: nil)
        _ = try await there.workspace.status()
        try here.takeLineage(of: there)
        try await here.putAndScan("new\n", at: "notes.md")
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        #expect(try await here.files() == ["notes.md": "new\n"])
    }
}
