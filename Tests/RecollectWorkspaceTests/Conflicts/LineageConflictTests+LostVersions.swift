import Foundation
import Testing

@testable import RecollectWorkspace

/// Versions lost in a conflict, and conflict copies replaced, edited or removed before their merge.
extension LineageConflictTests {
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
}
