import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Conflicts between devices that exchange their lineage logs.
@Suite("Conflict resolution with lineage")
struct LineageConflictTests {
    private static let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.md"
    private let here: SyncedWorkspace
    private let there: SyncedWorkspace
    private let path: WorkspacePath

    init() throws {
        here = try SyncedWorkspace()
        there = try SyncedWorkspace()
        path = try WorkspacePath("notes.md")
    }

    /// Advances the clocks of some devices.
    private func pass(on workspaces: SyncedWorkspace..., seconds: TimeInterval = 1) {
        for synced in workspaces { synced.now.withLock { $0 += seconds } }
    }

    /// Puts the other device's version beside this device's as a conflict copy, and resolves the conflict.
    private func resolve() async throws -> String {
        try here.takeLineage(of: there)
        let copy = try await there.workspace.read(path).text
        try here.put(copy, at: Self.copy)
        try await here.workspace.resolveConflicts()
        return try await here.workspace.read(path).text
    }

    /// Expects all lines after a conflict, and after a second one with an edit on the other device.
    private func expectAllLines() async throws {
        for isEdited in [false, true] {
            if isEdited { try await there.workspace.append("there\n", to: path) }
            try await here.workspace.append("here\n", to: path)
            let lines = Set(try await resolve().lines)
            #expect(lines.isSuperset(of: ["one", "two", "three", "here"] + (isEdited ? ["there"] : [])))
        }
    }

    @Test("concurrent-edits: a template filled in on two devices is no evidence of a deletion")
    func template() async throws {
        let template = "Monday\nWeather: fine\nMood: good\n"
        for synced in [here, there] { try await synced.putAndScan("# Diary\n\n", at: "notes.md") }
        try await here.putAndScan("# Diary\n\nThe code of the door: 4711\n" + template, at: "notes.md")
        _ = try await here.workspace.append("here\n", to: path)
        try await there.putAndScan("# Diary\n\n" + template + "there\n", at: "notes.md")
        let lines = Set(try await resolve().lines)
        #expect(lines.isSuperset(of: ["The code of the door: 4711", "here", "there", "Mood: good"]))
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

    @Test("conflict-copies: a winner that writes again without knowing of the conflict replaces its first version")
    func lostTwice() async throws {
        let start = "# Plan\n\none\n\ntwo\n\nthree\n"
        let first = try await there.workspace.write(start, to: path, replacing: nil)
        try await here.deliverAndScan(start, at: "notes.md")
        try await here.workspace.write(start + "\nhere\n", to: path, replacing: first.version)
        let won = try await there.workspace.write("there\n\n" + start, to: path, replacing: first.version)
        try await here.loseConflict("notes.md", to: won.text, as: Self.copy)
        let again = try await there.workspace.write(
            won.text.replacingOccurrences(of: "there\n\n", with: "there again\n\n").replacingOccurrences(
                of: "two\n\n", with: ""), to: path, replacing: won.version)
        _ = try await there.workspace.status()
        try here.takeLineage(of: there)
        try await here.loseConflict(
            "notes.md", to: again.text, as: "notes.sync-conflict-20261122-101130-ABCDEFG.md")
        try await here.workspace.resolveConflicts()
        let files = try await here.files()
        #expect(files == ["notes.md": "there again\n\n# Plan\n\none\n\nthree\n\nhere\n"])
    }

    @Test("concurrent-edits: without the other device's log, nothing counts as deleted")
    func unknown() async throws {
        for synced in [here, there] { try await synced.putAndScan("one\ntwo\nthree\n", at: "notes.md") }
        try await here.putAndScan("one\nthree\n", at: "notes.md")
        try await there.putAndScan("one\ntwo\nthree\nfour\n", at: "notes.md")
        try here.put("one\ntwo\nthree\nfour\n", at: Self.copy)
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["one", "two", "three", "four"]))
    }

    @Test(
        "concurrent-edits: a late conflict copy shows that the winner does not descend from the losing version",
        arguments: [false, true])
    func lateCopy(hasOtherLog: Bool) async throws {
        for synced in [here, there] { try await synced.putAndScan("start\n", at: "notes.md") }
        try await here.putAndScan("start\nmine\n", at: "notes.md")
        try await there.deliverAndScan("start\ntheirs\n", at: "notes.md")
        // The other device's version replaces this device's, and the conflict copy arrives later.
        try await here.deliverAndScan("start\ntheirs\n", at: "notes.md")
        try here.put("start\nmine\n", at: Self.copy)
        if hasOtherLog { try here.takeLineage(of: there) }
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "mine", "theirs"]))
    }

    @Test(
        "concurrent-edits: earlier lines of a version that lost to a third device are not deleted",
        arguments: [false, true], [false, true])
    func olderVersionReplaced(isEdited: Bool, hasThirdLog: Bool) async throws {
        let third = try SyncedWorkspace()
        let path = try WorkspacePath("notes.txt")
        let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.txt"
        func take(_ synced: SyncedWorkspace, _ others: [SyncedWorkspace]) throws {
            for other in others { try synced.takeLineage(of: other) }
        }
        for synced in [here, there, third] { try await synced.putAndScan("start\n", at: "notes.txt") }
        try await here.putAndScan("start\nbravo\n", at: "notes.txt")
        pass(on: here, there, third)
        try await there.deliverAndScan("start\nbravo\n", at: "notes.txt")
        try await third.putAndScan("start\nalpha\n", at: "notes.txt")
        try await here.putAndScan("start\nbravo\ncharlie\n", at: "notes.txt")
        // The third device wins here. On the other device, its version replaces one that is not its ancestor.
        pass(on: here, there, third)
        var winner = "start\nalpha\n"
        try here.put("start\nbravo\ncharlie\n", at: copy)
        try await here.deliverAndScan(winner, at: "notes.txt")
        if isEdited {
            pass(on: here, there, third)
            winner += "edited\n"
            try await here.putAndScan(winner, at: "notes.txt")
        }
        pass(on: here, there, third)
        try await there.deliverAndScan(winner, at: "notes.txt")
        try there.put("start\nbravo\ncharlie\n", at: copy)
        _ = try await there.workspace.status()
        let others = hasThirdLog ? [third] : []
        try take(here, [there] + others)
        try take(there, [here] + others)
        for synced in [here, there] {
            let resolved = try await synced.workspace.resolveConflicts()
            #expect(resolved.map(\.outcome) == [.merged] && resolved.map(\.assumedDeleted) == [[]])
            let lines = Set(try await synced.workspace.read(path).text.lines)
            #expect(lines.isSuperset(of: ["start", "alpha", "bravo", "charlie"] + (isEdited ? ["edited"] : [])))
        }
        #expect(try await here.files() == there.files())
    }

    @Test("conflict-copies: a losing merge is merged again, even if the winner arrives after the copy's removal")
    func lateWinnerOfMerge() async throws {
        for synced in [here, there] { try await synced.putAndScan("start\n", at: "notes.txt") }
        let path = try WorkspacePath("notes.txt")
        let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.txt"
        try await here.workspace.append("mine\n", to: path)
        let theirs = try await there.workspace.append("theirs\n", to: path)
        try here.takeLineage(of: there)
        try here.put("start\nmine\n", at: copy)
        try await here.deliverAndScan("start\ntheirs\n", at: "notes.txt")
        #expect(try await here.workspace.resolveConflicts().map(\.outcome) == [.merged])
        let merge = try await here.workspace.read(path).text
        #expect(Set(merge.lines).isSuperset(of: ["start", "mine", "theirs"]))
        // The other device never received the merge. Its next version won against the merge on a third device. The
        // conflict copy arrives from there before the winner.
        try await there.workspace.write("start\ntheirs\nmore\n", to: path, replacing: theirs.version)
        try here.put(merge, at: copy.replacingOccurrences(of: "101112", with: "101113"))
        #expect(try await here.workspace.resolveConflicts().map(\.outcome) == [.waiting])
        pass(on: here, seconds: ConflictResolver.maxDelay + 1)
        #expect(try await here.workspace.resolveConflicts().map(\.outcome) == [.identical])
        try here.takeLineage(of: there)
        try await here.deliverAndScan("start\ntheirs\nmore\n", at: "notes.txt")
        let resolved = try await here.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.merged] && resolved.map(\.assumedDeleted) == [[]])
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "mine", "theirs", "more"]))
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test(
        "concurrent-edits: lines that a winner replaced on another device before a scan are not deleted",
        arguments: [false, true])
    func olderVersionReplacedBeforeScan(hasLog: Bool) async throws {
        let third = try SyncedWorkspace()
        let path = try WorkspacePath("notes.txt")
        for synced in [here, there, third] { try await synced.putAndScan("start\n", at: "notes.txt") }
        try await here.putAndScan("start\nbravo\n", at: "notes.txt")
        try await there.deliverAndScan("start\nbravo\n", at: "notes.txt")
        try await here.putAndScan("start\nbravo\ncharlie\n", at: "notes.txt")
        pass(on: here, there, third, seconds: 60)
        try await third.putAndScan("start\nalpha\n", at: "notes.txt")
        let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.txt"
        try here.put("start\nbravo\ncharlie\n", at: copy)
        try here.deliver("start\nalpha\n", at: "notes.txt")
        pass(on: here, there, third, seconds: 60)
        try await there.deliverAndScan("start\nalpha\n", at: "notes.txt")
        pass(on: here, there, third, seconds: 60)
        _ = try await here.workspace.status()
        try here.takeLineage(of: there)
        if hasLog { try here.takeLineage(of: third) }
        let resolved = try await here.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.merged] && resolved.map(\.assumedDeleted) == [[]])
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "alpha", "bravo", "charlie"]))
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

    @Test(
        "concurrent-edits: earlier lines of the loser are not deleted if no log records the conflict",
        arguments: [false, true])
    func conflictNotRecorded(isCommand: Bool) async throws {
        let path = try WorkspacePath("notes.txt")
        for synced in [here, there] { try await synced.putAndScan("start\n", at: "notes.txt") }
        let bravo = try await here.workspace.append("bravo\n", to: path)
        pass(on: here, there, seconds: 10)
        try await there.deliverAndScan("start\nbravo\n", at: "notes.txt")
        if isCommand {
            try await here.workspace.write("start\nbravo\ncharlie\n", to: path, replacing: bravo.version)
        } else {
            try await here.putAndScan("start\nbravo\ncharlie\n", at: "notes.txt")
        }
        // A third device without a log wins here. On the other device, its version replaces an earlier one. This device
        // does not scan.
        pass(on: here, there, seconds: 10)
        try await there.deliverAndScan("start\nalpha\n", at: "notes.txt")
        try there.takeLineage(of: here)
        try there.put("start\nbravo\ncharlie\n", at: "notes.sync-conflict-20261122-101112-ABCDEFG.txt")
        let resolved = try await there.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.merged] && resolved.map(\.assumedDeleted) == [[]])
        let lines = Set(try await there.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "alpha", "bravo", "charlie"]))
    }

    @Test(
        "conflict-copies: a conflict copy replaced by another one of its name is merged from the archive",
        arguments: [false, true])
    func replacedCopy(isEdited: Bool) async throws {
        let third = try SyncedWorkspace()
        for synced in [here, there, third] { try await synced.putAndScan("- start\n", at: "notes.md") }
        var texts: [String] = []
        for (synced, line) in [(here, "- mine\n"), (there, "- theirs\n"), (third, "- others\n")] {
            if isEdited {
                try await synced.putAndScan("- start\n" + line, at: "notes.md")
            } else {
                try await synced.workspace.append(line, to: path)
            }
            texts.append(try await synced.workspace.read(path).text)
        }
        pass(on: here, there, third, seconds: 10)
        // The other device wins here and on the third device in the same second, so both copies have the same name.
        try await here.loseConflict("notes.md", to: texts[1], as: Self.copy)
        try await here.deliverAndScan(texts[2], at: Self.copy)
        // The other device resolves its conflict.
        try there.takeLineage(of: here, third)
        try there.put(texts[2], at: Self.copy)
        try await there.workspace.resolveConflicts()
        pass(on: here, there, third, seconds: 10)
        try here.remove(Self.copy)
        try await here.putAndScan(there.workspace.read(path).text, at: "notes.md")
        try here.takeLineage(of: there, third)
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["- start", "- mine", "- theirs", "- others"]))
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test(
        "conflict-copies: a copy replaced by another one is merged, though another device has resolved the other",
        arguments: [false, true])
    func replacedSeenCopy(isSeenAsFile: Bool) async throws {
        for (synced, line) in [(here, "- one\n"), (there, "- two\n")] {
            try await synced.workspace.append(line, to: path)
        }
        if isSeenAsFile {
            try await here.workspace.append("- mine\n", to: path)
        } else {
            try here.put("- one\n- mine\n", at: "notes.md")
        }
        try await here.loseConflict("notes.md", to: there.workspace.read(path).text, as: Self.copy)
        for (synced, line) in [(here, "- three\n"), (there, "- four\n")] {
            try await synced.workspace.append(line, to: path)
        }
        // The device loses again in the same second, and the other device resolves the second copy.
        let second = try await here.workspace.read(path).text
        try here.takeLineage(of: there)
        try there.takeLineage(of: here)
        try there.deliver(second, at: Self.copy)
        try await there.workspace.resolveConflicts()
        try here.remove(Self.copy)
        try await here.deliverAndScan(there.workspace.read(path).text, at: "notes.md")
        try here.takeLineage(of: there)
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["- one", "- two", "- mine", "- three", "- four"]))
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test(
        "conflict-copies: copies removed by Syncthing for newer ones are merged, and those removed by a person are not")
    func discardedCopies() async throws {
        func copy(_ number: Int) -> String { "notes.sync-conflict-20261122-1011\(number + 10)-ABCDEFG.md" }
        for synced in [here, there] { try await synced.putAndScan("- one\n", at: "notes.md") }
        for number in 0..<12 {
            for (synced, line) in [(here, "- mine \(number)\n"), (there, "- yours \(number)\n")] {
                try await synced.workspace.append(line, to: path)
            }
            try await here.loseConflict("notes.md", to: there.workspace.read(path).text, as: copy(number))
            // The default of Syncthing's `maxConflicts` is 10.
            if number >= 10 {
                try here.remove(copy(number - 10))
                _ = try await here.workspace.status()
            }
        }
        try here.remove(copy(7))
        _ = try await here.workspace.status()
        try here.takeLineage(of: there)
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        for number in 0..<12 {
            #expect(lines.contains("- yours \(number)"))
            #expect(lines.contains("- mine \(number)") == (number != 7), "\(number)")
        }
        #expect(try await here.workspace.resolveConflicts().isEmpty)
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

    @Test("conflict-copies: a merged text of a copy does not come back after it is deleted", arguments: [false, true])
    func mergedCopy(isRepeated: Bool) async throws {
        let (mine, copied) = ("- start\n- mine\n", "- start\n- theirs\n")
        for text in ["- start\n", mine] { try await here.putAndScan(text, at: "notes.md") }
        if isRepeated {
            for text in [copied, mine, copied, mine] { try await here.putAndScan(text, at: "notes.md") }
        }
        try await here.deliverAndScan(copied, at: Self.copy)
        try await here.putAndScan(copied + "- more\n", at: Self.copy)
        try await here.workspace.resolveConflicts()
        try await here.putAndScan(mine, at: "notes.md")
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        try await here.putAndScan(mine + "- next\n", at: "notes.md")
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        #expect(try await here.workspace.read(path).text == mine + "- next\n")
    }

    @Test("conflict-copies: a line deleted by a write to a copy does not come back")
    func editedCopy() async throws {
        try await here.workspace.append("- start\n", to: path)
        let copy = try WorkspacePath(Self.copy)
        try await here.deliverAndScan("- start\n- theirs\n- deleted\n", at: Self.copy)
        let version = try await here.workspace.read(copy).version
        try await here.workspace.write("- start\n- theirs\n", to: copy, replacing: version)
        try await here.workspace.resolveConflicts()
        let text = try await here.workspace.read(path).text
        #expect(text.contains("- theirs") && !text.contains("- deleted"))
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

    @Test(
        "concurrent-edits: another device's record of a conflict is no evidence of deleted lines",
        arguments: [false, true])
    func conflictOfOthers(hasLog: Bool) async throws {
        let third = try SyncedWorkspace()
        let path = try WorkspacePath("notes.txt")
        let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.txt"
        let (older, lost, winner) = ("start\nbravo\n", "start\nbravo\ncharlie\n", "alpha\nstart\n")
        for synced in [here, there, third] { try await synced.putAndScan("start\n", at: "notes.txt") }
        // The third device loses. It forwards the winner, which replaces an older version of the loser here.
        try await third.putAndScan(older, at: "notes.txt")
        for synced in [here, there] { try await synced.deliverAndScan(older, at: "notes.txt") }
        try await third.putAndScan(lost, at: "notes.txt")
        try await there.deliverAndScan(lost, at: "notes.txt")
        try await here.deliverAndScan(winner, at: "notes.txt")
        try there.deliver(lost, at: copy)
        try await there.deliverAndScan(winner, at: "notes.txt")
        try here.deliver(lost, at: copy)
        try here.takeLineage(of: there)
        if hasLog { try here.takeLineage(of: third) }
        #expect(try await here.workspace.resolveConflicts().map(\.assumedDeleted) == [[]])
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "alpha", "bravo", "charlie"]))
    }

    @Test(
        "concurrent-edits: a merge made before a conflict copy arrives deletes no lines of that copy",
        arguments: [false, true])
    func mergeBeforeCopy(isWritten: Bool) async throws {
        let path = try WorkspacePath("notes.txt")
        let copy = "notes.sync-conflict-20261122-101112-ABCDEFG.txt"
        let (lost, winner) = ("start\nbravo\ncharlie\n", "alpha\nstart\n")
        for synced in [here, there] { try await synced.putAndScan("start\n", at: "notes.txt") }
        // A device without a log wrote the losing version, and another device the winner. The losing version arrives on
        // both devices.
        for synced in [here, there] { try await synced.deliverAndScan(lost, at: "notes.txt") }
        if isWritten {
            try await here.workspace.append("echo\n", to: path)
        } else {
            try await here.putAndScan(lost + "echo\n", at: "notes.txt")
        }
        // The loser forwards the winner to the other device, in place of its own version. From there it arrives here.
        try await there.deliverAndScan(winner, at: "notes.txt")
        try await here.loseConflict("notes.txt", to: winner, as: copy)
        try here.takeLineage(of: there)
        #expect(try await here.workspace.resolveConflicts().map(\.assumedDeleted) == [[]])
        try here.deliver(lost, at: copy.replacingOccurrences(of: "101112", with: "101110"))
        try await here.workspace.resolveConflicts()
        let lines = Set(try await here.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["start", "alpha", "bravo", "charlie", "echo"]))
    }

    @Test("A write is logged without a scan, and a folder that replaces the workspace gets no log")
    func writeWithoutScan() async throws {
        let written = try await here.workspace.write("one\n", to: path, replacing: nil)
        func lines() throws -> [VersionLine] {
            try here.workspace.provider.lineageFiles().compactMap { LineageSegment($0.bytes) }.flatMap(\.lines)
        }
        #expect(try lines().map(\.version.hash) == [written.version])
        // Another write within the same second is published by the next scan or a later write.
        let second = try await here.workspace.write("two\n", to: path, replacing: written.version)
        #expect(try lines().count == 1)
        pass(on: here)
        let third = try await here.workspace.write("three\n", to: path, replacing: second.version)
        #expect(try lines().map(\.version.hash) == [written, second, third].map(\.version))
        let root = here.workspace.rootURL
        try FileManager.default.moveItem(at: root, to: here.folder.url.appendingPathComponent("elsewhere"))
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        pass(on: here)
        _ = try await here.workspace.pruneVersions(olderThan: here.now.withLock { $0 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
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

    @Test("conflict-copies: a lost version is merged from the archive")
    func lostCopy() async throws {
        let third = try SyncedWorkspace()
        for (synced, text) in [(here, "- mine\n"), (there, "- theirs\n"), (third, "- others\n")] {
            try await synced.workspace.write(text, to: path, replacing: nil)
        }
        pass(on: here, there, third)
        // The conflict copies of two losing devices have the same name, and the service keeps only one of them.
        try here.put("- others\n", at: Self.copy)
        try here.put("- theirs\n", at: "notes.md")
        #expect(try await here.workspace.status().conflicted == [path])
        try await here.workspace.resolveConflicts()
        // A gap in the logs is no evidence.
        #expect(try await here.workspace.read(path).text == "- others\n- theirs\n")
        for synced in [there, third] { _ = try await synced.workspace.status() }
        try here.takeLineage(of: there, third)
        let resolved = try await here.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.merged])
        #expect(try await here.files() == ["notes.md": "- mine\n- others\n- theirs\n"])
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test("conflict-copies: earlier saves of an editor are not lost versions")
    func earlierSaves() async throws {
        for synced in [here, there] { try await synced.putAndScan("- start\n", at: "notes.md") }
        // A program saves after each pause.
        for text in ["- start\n- Th\n", "- start\n- The ferry, draft\n", "- start\n- The ferry\n"] {
            pass(on: here, there)
            try await here.putAndScan(text, at: "notes.md")
        }
        try await there.workspace.append("- theirs\n", to: path)
        _ = try await there.workspace.status()
        let theirs = try await there.workspace.read(path).text
        try here.takeLineage(of: there)
        pass(on: here, there)
        try await here.loseConflict("notes.md", to: theirs, as: Self.copy)
        let resolved = try await here.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.merged] && resolved.map(\.assumedDeleted) == [[]])
        #expect(try await here.files() == ["notes.md": "- start\n- The ferry\n- theirs\n"])
    }

    @Test("conflict-copies: a lost version is merged if both versions have a common ancestor")
    func lostWithoutCopies() async throws {
        for synced in [here, there] { try await synced.putAndScan("- start\n", at: "notes.md") }
        for (synced, line) in [(here, "- mine\n"), (there, "- theirs\n")] {
            try await synced.workspace.append(line, to: path)
            _ = try await synced.workspace.status()
        }
        let theirs = try await there.workspace.read(path).text
        try await here.deliverAndScan(theirs, at: "notes.md")
        // A gap in the logs is no evidence.
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        try here.takeLineage(of: there)
        #expect(try await here.workspace.resolveConflicts().map(\.outcome) == [.merged])
        #expect(try await here.files() == ["notes.md": "- start\n- mine\n- theirs\n"])
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test(
        "conflict-copies: after a conflict copy takes a deleted file's name, no earlier content returns",
        arguments: [false, true])
    func copyOfDeletedFile(hasChange: Bool) async throws {
        for synced in [here, there] { try await synced.putAndScan("- one\n- two\n", at: "notes.md") }
        if hasChange { try await here.putAndScan("- one\n- two\n- mine\n", at: "notes.md") }
        try await there.putAndScan("- one\n- theirs\n", at: "notes.md")
        try here.takeLineage(of: there)
        pass(on: here, there)
        try here.put("- one\n- theirs\n", at: Self.copy)
        _ = try await here.workspace.status()
        pass(on: here, there)
        try await here.workspace.trash(path, replacing: here.workspace.read(path).version)
        pass(on: here, there, seconds: ConflictResolver.maxDelay + 1)
        #expect(try await here.workspace.resolveConflicts().map(\.outcome) == [.restored])
        pass(on: here, there)
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        try there.takeLineage(of: here)
        #expect(try await there.workspace.resolveConflicts().isEmpty)
        #expect(try await here.files() == ["notes.md": "- one\n- theirs\n"])
    }

    @Test("conflict-copies: a version saved beside the file under an ambiguous name does not count as lost")
    func copyNamedLikeAFile() async throws {
        for synced in [here, there] { try await synced.putAndScan("- start\n", at: "notes.md") }
        for (synced, line) in [(here, "- mine\n"), (there, "- theirs\n")] {
            try await synced.workspace.append(line, to: path)
            _ = try await synced.workspace.status()
        }
        try here.put("- start\n- mine\n", at: "notes (1).md")
        try here.takeLineage(of: there)
        try await here.deliverAndScan("- start\n- theirs\n", at: "notes.md")
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test(
        "conflict-copies: a partially arrived file does not count as a lost version, even with an addition",
        arguments: [false, true])
    func arrivingPart(hasAddition: Bool) async throws {
        for synced in [here, there] { try await synced.putAndScan("- start\n", at: "notes.md") }
        try await there.workspace.append("- theirs\n", to: path)
        _ = try await there.workspace.status()
        try await here.putAndScan("- sta", at: "notes.md")
        if hasAddition { try await here.workspace.append("\n- mine\n", to: path) }
        try here.takeLineage(of: there)
        try await here.deliverAndScan("- start\n- theirs\n", at: "notes.md")
        #expect(try await here.workspace.resolveConflicts().isEmpty)
        #expect(try await here.files() == ["notes.md": "- start\n- theirs\n"])
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

    @Test(
        "concurrent-edits: lines missing from a partially arrived file do not count as deleted",
        arguments: ["- new\n- on", "- new\n- one", "- one\n- tw", ""])
    func part(_ part: String) async throws {
        let (old, whole) = (
            "- one\n- two\n", part.hasPrefix("- new") ? "- new\n- one\n- two\n" : "- one\n- two\n- new\n"
        )
        for synced in [here, there] { try await synced.putAndScan(old, at: "notes.md") }
        let version = try await there.workspace.read(path).version
        try await there.workspace.write(whole, to: path, replacing: version)
        _ = try await there.workspace.status()
        try await here.putAndScan(part, at: "notes.md")
        let mine = try await here.workspace.append("- mine\n", to: path).text
        _ = try await here.workspace.status()
        for synced in [here, there] {
            try synced.put(synced.folder.url == here.folder.url ? whole : mine, at: Self.copy)
            try synced.takeLineage(of: synced.folder.url == here.folder.url ? there : here)
            try await synced.workspace.resolveConflicts()
            let lines = Set(try await synced.workspace.read(path).text.lines)
            #expect(lines.isSuperset(of: ["- one", "- two", "- new", "- mine"]), "\(lines)")
        }
    }

    @Test("conflict-copies: a version that lost to a reverted file is merged if the service made a conflict copy")
    func lostAgainstReverted() async throws {
        for synced in [here, there] { try await synced.putAndScan("- start\n", at: "notes.md") }
        try await here.workspace.append("- mine\n", to: path)
        try await there.workspace.append("- theirs\n", to: path)
        for text in ["- start\n- theirs\n", "- start\n"] { try await there.putAndScan(text, at: "notes.md") }
        pass(on: here, there)
        try here.put("- others\n", at: Self.copy)
        try here.takeLineage(of: there)
        try await here.deliverAndScan("- start\n", at: "notes.md")
        try await here.workspace.resolveConflicts()
        #expect(try await here.workspace.read(path).text.contains("- mine\n"))
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

    @Test(
        "conflict-copies: a lost merge is merged again only if it has lines missing from the current version",
        arguments: [true, false])
    func lostFold(isCovered: Bool) async throws {
        let third = try SyncedWorkspace()
        for (synced, text) in [(here, "- mine\n"), (there, "- theirs\n"), (third, "- others\n")] {
            try await synced.workspace.write(text, to: path, replacing: nil)
            _ = try await synced.workspace.status()
        }
        pass(on: here, there, third)
        let all = [here, there, third]
        for one in all { for other in all where one.folder.url != other.folder.url { try one.takeLineage(of: other) } }
        for synced in isCovered ? [here, third] : [here] {
            try synced.put(synced.folder.url == here.folder.url ? "- others\n" : "- mine\n", at: Self.copy)
            try await synced.workspace.resolveConflicts()
            _ = try await synced.workspace.status()
        }
        pass(on: here, there, third)
        // Another version wins here, while the service makes a conflict copy of a fourth one.
        try here.put("- fourth\n", at: "notes.sync-conflict-20261122-101113-ABCDEFG.md")
        let winner = isCovered ? third : there
        try here.takeLineage(of: winner)
        try await here.deliverAndScan(try await winner.workspace.read(path).text, at: "notes.md")
        try await here.workspace.resolveConflicts()
        let text = try await here.workspace.read(path).text
        #expect(text == (isCovered ? "- fourth\n- mine\n- others\n" : "- fourth\n- mine\n- others\n- theirs\n"))
        #expect(try await here.workspace.resolveConflicts().isEmpty)
    }

    @Test("conflict-copies: a lost version already contained in the file is resolved once")
    func lostAndThere() async throws {
        let third = try SyncedWorkspace()
        for (synced, text) in [(here, "- a\n"), (there, "- a\n- b\n"), (third, "- a\n- c\n")] {
            try await synced.workspace.write(text, to: path, replacing: nil)
            _ = try await synced.workspace.status()
        }
        pass(on: here)
        try here.takeLineage(of: there, third)
        try here.put("- a\n- c\n", at: Self.copy)
        try await here.putAndScan("- a\n- b\n", at: "notes.md")
        try here.remove(Self.copy)
        #expect(try await here.workspace.resolveConflicts().map(\.outcome) == [.merged])
        #expect(try await here.files() == ["notes.md": "- a\n- b\n"])
        #expect(try await here.workspace.resolveConflicts().isEmpty)
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

    @Test("A new process continues the lineage log, which is bounded and drops its oldest lines first", .needs(.time))
    func bounded() async throws {
        var text = "start\n"
        for number in 0..<400 {
            text += "\(number)\n"
            try await here.putAndScan(text, at: "notes.md")
        }
        let files = try here.workspace.provider.lineageFiles()
        #expect(files.count >= 4 && files.allSatisfy { $0.bytes.count < 20_000 })
        let segments = files.compactMap { LineageSegment($0.bytes) }.sorted { $0.number < $1.number }
        #expect(segments.map(\.number) == Array(0..<files.count) && Set(segments.map(\.device)).count == 1)
        #expect(segments.flatMap(\.lines).count == 399)
        let again = try SharedWorkspace(root: here.folder.root, configuration: here.workspace.configuration)
        try here.put("end\n", at: "notes.md")
        _ = try await again.status()
        let last = try again.provider.lineageFiles().compactMap { LineageSegment($0.bytes) }.flatMap(\.lines)
        #expect(last.count == 400 && last.contains { $0.version.hash == ContentHash(of: "end\n".utf8) })
    }

    @Test("A state folder copied to another device gets a log of its own")
    func copiedState() async throws {
        for text in ["one\n", "two\n"] { try await here.putAndScan(text, at: "notes.md") }
        let state = try #require(here.workspace.configuration.stateURL)
        let copied = there.folder.url.appendingPathComponent("copied")
        try FileManager.default.copyItem(at: state, to: copied)
        try there.put("two\n", at: "notes.md")
        try there.takeLineage(of: here)
        var configuration = here.workspace.configuration
        configuration.stateURL = copied
        let clone = try SharedWorkspace(root: there.folder.root, configuration: configuration)
        _ = try await clone.status()
        try await here.putAndScan("three here\n", at: "notes.md")
        try there.takeLineage(of: here)
        try there.put("three there\n", at: "notes.md")
        _ = try await clone.status()
        let devices = try clone.provider.lineageFiles().compactMap { LineageSegment($0.bytes)?.device }
        #expect(Set(devices).count == 2)
        #expect(
            try clone.provider.lineageFiles().contains { file in
                try here.workspace.provider.lineageFiles().contains(file)
            })
    }

    @Test("mass-deletion: if all files and logs are missing, nothing is written, and nothing counts as deleted")
    func unmounted() async throws {
        for text in ["one\n", "two\n", "three\n"] { try await here.putAndScan(text, at: "notes.md") }
        let (root, aside) = (here.folder.root, here.folder.url.appendingPathComponent("aside"))
        try FileManager.default.moveItem(at: root, to: aside)
        let mountPoint = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        #expect(await code { try await mountPoint.append("x", to: path) } == .unavailable)
        #expect(
            await code { try await mountPoint.write("x", to: WorkspacePath("new.md"), replacing: nil) } == .unavailable)
        #expect(try await mountPoint.status().missing == [path])
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
        try FileManager.default.removeItem(at: root)
        try FileManager.default.moveItem(at: aside, to: root)
        let back = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        #expect(try await back.append("x", to: path).text == "three\nx")
        try await back.write("y", to: WorkspacePath("new.md"), replacing: nil)
    }

    @Test("mass-deletion: a folder emptied with its logs counts as unmounted")
    func emptied() async throws {
        for line in ["one\n", "two\n", "three\n"] {
            try await here.workspace.append(line, to: path)
            _ = try await here.workspace.status()
        }
        for name in ["notes.md", ".recollect"] { try here.remove(name) }
        #expect(await code { try await here.workspace.append("x", to: path) } == .unavailable)
        #expect(try await here.workspace.status().missing == [path])
    }

    @Test("mass-deletion: no file is created in a folder that replaced the root", arguments: [1, 3], [false, true])
    func replacedRoot(count: Int, isWritten: Bool) async throws {
        let paths = try (0..<count).map { try WorkspacePath("\($0).md") }
        for path in paths {
            if isWritten {
                try await here.workspace.write("text", to: path, replacing: nil)
            } else {
                try Data("text".utf8).write(to: here.folder.root.appendingPathComponent("\(path)"))
            }
        }
        if !isWritten { _ = try await here.workspace.status() }
        let (root, aside) = (here.folder.root, here.folder.url.appendingPathComponent("aside"))
        try FileManager.default.moveItem(at: root, to: aside)
        let mountPoint = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        for path in [try WorkspacePath("new.md"), paths[0]] {
            #expect(await code { try await mountPoint.append("x", to: path) } == .unavailable)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
        try FileManager.default.removeItem(at: root)
        // A copy of the folder is the workspace, too.
        try FileManager.default.copyItem(at: aside, to: root)
        let back = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        #expect(try await back.append("x", to: paths[0]).text == "text\nx")
        try await back.write("y", to: WorkspacePath("new.md"), replacing: nil)
        // Deletions in the same folder are no reason to refuse writes.
        for path in try paths + [WorkspacePath("new.md")] {
            try FileManager.default.removeItem(at: root.appendingPathComponent("\(path)"))
            _ = try await back.status()
        }
        try await back.write("z", to: paths[0], replacing: nil)
    }

    @Test("A removed lineage folder is created again, and no file counts as missing")
    func removed() async throws {
        for text in ["one\n", "two\n", "three\n"] { try await here.putAndScan(text, at: "notes.md") }
        try FileManager.default.removeItem(at: here.folder.root.appendingPathComponent(LineageFile.folderName))
        try await here.putAndScan("four\n", at: "notes.md")
        #expect(try await here.workspace.status().missing.isEmpty)
        #expect(try here.workspace.provider.lineageFiles().count == 1)
        try await here.workspace.write("new", to: WorkspacePath("new.md"), replacing: nil)
    }

    @Test("The lineage folder is not part of the workspace")
    func hidden() async throws {
        for text in ["one\n", "two\n"] { try await here.putAndScan(text, at: "notes.md") }
        #expect(try !here.workspace.provider.lineageFiles().isEmpty)
        #expect(try await here.workspace.list(recursively: true).map(\.path.description) == ["notes.md"])
        #expect(try await here.workspace.status().ignoredCount == 0)
    }
}
