import Foundation
import Testing

@testable import RecollectWorkspace

/// Lines kept by a merge for lack of evidence of their deletion.
extension LineageConflictTests {
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
        "concurrent-edits: a version kept beside the file is no ancestor of it",
        arguments: [false, true], [(isThere: false, isDeleted: false), (false, true), (true, false)])
    func keptApart(isOnThird: Bool, copy: (isThere: Bool, isDeleted: Bool)) async throws {
        let third = try SyncedWorkspace()
        let all = [here, there, third]
        func exchangeLogs() async throws {
            for synced in all { _ = try await synced.workspace.status() }
            pass(on: here, there, third)
            // Each device has the logs of all; the longest copy of a log is its device's own.
            var newest: [String: [UInt8]] = [:]
            for file in try all.flatMap({ try $0.workspace.provider.lineageFiles() })
            where file.bytes.count > newest[file.name]?.count ?? 0 { newest[file.name] = file.bytes }
            for synced in all {
                for (name, bytes) in newest { try synced.workspace.provider.writeLineageFile(named: name, bytes) }
            }
        }
        let list = "# L\n\n- a\n- b\n- c\n- d\n"
        // A move beside an edit: both versions are kept. The one in the file depends on the hashes.
        let moved = "# L\n\n- b\n- a\n- c\n- d\n- mover\n"
        let edited = list.replacing("- a\n", with: "- a precious\n")
        let (kept, inFile) =
            ContentHash(of: Array(moved.utf8)).rawValue < ContentHash(of: Array(edited.utf8)).rawValue
            ? (edited, moved) : (moved, edited)
        try await there.workspace.write(list, to: path, replacing: nil)
        for synced in [here, third] { try await synced.deliverAndScan(list, at: "notes.md") }
        try await exchangeLogs()
        let version = try await here.workspace.read(path).version
        try await here.workspace.write(kept, to: path, replacing: version)
        try await third.deliverAndScan(kept, at: "notes.md")
        try await there.workspace.write(inFile, to: path, replacing: version)
        try await exchangeLogs()
        try here.put(inFile, at: Self.copy)
        if copy.isThere {
            // Another device has resolved the conflict, and its log comes late.
            let name = try #require(KeptCopyName.paths(for: ContentHash(of: Array(kept.utf8)), beside: path).first)
            try await here.deliverAndScan(kept, at: name.description)
        }
        let outcome = try #require(try await here.workspace.resolveConflicts().first)
        #expect(outcome.outcome == .keptBoth)
        #expect(try await here.workspace.read(path).text == inFile)
        if copy.isDeleted {
            for path in outcome.kept {
                try await here.workspace.trash(path, replacing: ContentHash(of: Array(kept.utf8)))
            }
        }
        // A second resolution finds nothing.
        #expect(try await here.workspace.resolveConflicts().isEmpty)

        let now = try await there.workspace.read(path).version
        try await there.workspace.write(inFile + "- more there\n", to: path, replacing: now)
        let old = try await third.workspace.read(path).version
        try await third.workspace.write(kept + "- more on the third\n", to: path, replacing: old)
        try await exchangeLogs()
        let (device, other) = isOnThird ? (third, here) : (here, third)
        try device.put(try await other.workspace.read(path).text, at: Self.copy)
        try await exchangeLogs()
        try await device.workspace.resolveConflicts()
        let text = try await device.files().values.joined()
        #expect(text.contains("mover") && text.contains("precious") && text.contains("more on the third"))
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
}
