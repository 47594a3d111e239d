import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Conflict resolution")
struct ConflictResolutionTests {
    @Test(
        "conflict-copies: copies named by any service are merged into the file, and other files stay unchanged",
        arguments: [
            "context.sync-conflict-20261121-101112-ABCDEFG.md", "context (Ann's conflicted copy 2026-11-21).md",
            "context-DESKTOP-AB12CD3.md", "context 2.md", "context (1).md",
            "context.sync-conflict-20261121-101112-ABCDEFG.sync-conflict-20261121-101113-ABCDEFH.md",
        ])
    func dialects(_ copy: String) async throws {
        let synced = try SyncedWorkspace()
        try synced.put("# A\n\n- one\n", at: "context.md")
        try synced.put("# A\n\n- two\n", at: copy)
        try synced.put("mine", at: "notes 2.md")
        try synced.put("mine too", at: "notes.md")
        try synced.put("other", at: "Research/moby%202/full_text.txt")
        try synced.put("one", at: "Research/moby/full_text.txt")
        let resolved = try await synced.workspace.resolveConflicts()
        #expect(resolved.map(\.path.description) == ["context.md"])
        #expect(resolved.map(\.outcome) == [.merged])
        #expect(
            try await synced.files() == [
                "context.md": "# A\n\n- one\n- two\n", "notes 2.md": "mine", "notes.md": "mine too",
                "Research/moby%202/full_text.txt": "other", "Research/moby/full_text.txt": "one",
            ])
        let kept = try await synced.workspace.versions(of: try WorkspacePath(copy))
        #expect(kept.first?.kind == .trashed)
        #expect(try await synced.workspace.resolveConflicts() == [])
    }

    @Test("A scan detects an in-place change that preserves size and modification date")
    func sameSizeAndTime() async throws {
        let synced = try SyncedWorkspace()
        let old = Date(timeIntervalSince1970: 1_577_836_800)
        let url = synced.workspace.rootURL.appendingPathComponent("s.md")
        for text in ["first", "other"] {
            if text == "first" { try synced.put("", at: "s.md") }
            let file = try FileHandle(forWritingTo: url)
            try file.write(contentsOf: Data(text.utf8))
            try file.close()
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: url.path)
            _ = try await synced.workspace.status()
        }
        #expect(try await synced.workspace.versions(of: WorkspacePath("s.md")).count == 2)
    }

    @Test("The merge base distinguishes deletions from additions")
    func base() async throws {
        let (synced, other) = (try SyncedWorkspace(), try SyncedWorkspace())
        for device in [synced, other] { try await device.putAndScan("- one\n- two\n- three\n", at: "context.md") }
        try await synced.putAndScan("- one\n- three\n", at: "context.md")
        try await other.putAndScan("- one\n- two\n- three\n- four\n", at: "context.md")
        let copy = "context.sync-conflict-20261121-101112-ABCDEFG.md"
        try await other.loseConflict("context.md", to: "- one\n- three\n", as: copy)
        try synced.takeLineage(of: other)
        try synced.put("- one\n- two\n- three\n- four\n", at: copy)
        try await synced.workspace.resolveConflicts()
        #expect(try await synced.files() == ["context.md": "- one\n- three\n- four\n"])
    }

    @Test(
        "Writes continue during a conflict resolution, and the merge includes their changes", .endsHanging
    )
    func writesMeanwhile() async throws {
        let test = try TestWorkspace()
        let copy = "context.sync-conflict-20261121-101112-ABCDEFG.md"
        test.files.put("- one\n", at: "context.md")
        test.files.put("- two\n", at: copy)
        _ = try await test.workspace.status()
        let (isReading, isWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reading = try WorkspacePath(copy)
        test.files.state.withLock {
            $0.beforeRead[reading] = {
                isReading.signal()
                isWritten.wait()
            }
        }
        async let resolved = test.workspace.resolveConflicts()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isReading.wait()
                continuation.resume()
            }
        }
        try await test.workspace.write("new", to: path("new.md"), replacing: nil)
        try await test.workspace.append("- three\n", to: path("context.md"))
        isWritten.signal()
        #expect(try await resolved.map(\.outcome) == [.merged])
        let text = try await test.workspace.read(path("context.md")).text
        #expect(["- one", "- two", "- three"].allSatisfy(text.contains))
    }

    @Test("A conflict copy with a merged version is removed, and the file stays unchanged")
    func superseded() async throws {
        let synced = try SyncedWorkspace()
        let path = try WorkspacePath("plans/week.md")
        let copy = "plans/week.sync-conflict-20261121-101112-ABCDEFG.md"
        try await synced.workspace.write("one\n", to: path, replacing: nil)
        try synced.put("two\n", at: copy)
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        let merged = try await synced.workspace.read(path)
        try await synced.workspace.write("one\n", to: path, replacing: merged.version)
        try synced.put("two\n", at: copy)
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.superseded])
        #expect(try await synced.files() == ["plans/week.md": "one\n"])
    }

    @Test("A conflict copy with a replaced version is kept, because another device may have put it back")
    func replacedVersion() async throws {
        let synced = try SyncedWorkspace()
        let path = try WorkspacePath("plans/picture.bin")
        let first = try await synced.workspace.write([1, 0, 2], to: path, replacing: nil)
        try await synced.workspace.write([1, 0, 3], to: path, replacing: first.version)
        try synced.put("\u{1}\u{0}\u{2}", at: "plans/picture.sync-conflict-20261121-101112-ABCDEFG.bin")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.keptBoth])
        #expect(try await synced.files().count == 2)
    }

    @Test("same-resolution: versions that cannot be merged are both kept, identically on both devices")
    func opaque() async throws {
        var all: [[String: String]] = []
        for contents in [["full", "whole"], ["whole", "full"]] {
            let synced = try SyncedWorkspace()
            try synced.put(contents[0], at: "Research/moby/full_text.txt")
            try synced.put(contents[1], at: "Research/moby/full_text 2.txt")
            let resolved = try await synced.workspace.resolveConflicts()
            #expect(resolved.map(\.outcome) == [.keptBoth] && resolved[0].kept.count == 1)
            #expect(try await synced.workspace.resolveConflicts() == [])
            all.append(try await synced.files())
        }
        #expect(all[0] == all[1] && all[0].count == 2)
        #expect(Set(all[0].values) == ["full", "whole"])
    }

    @Test("same-resolution: merges made with and without the merge base merge to the same bytes on both devices")
    func foldsOfFolds() async throws {
        let copy = "context.sync-conflict-20261121-101112-ABCDEFG.md"
        let (knowing, other, third) = (try SyncedWorkspace(), try SyncedWorkspace(), try SyncedWorkspace())
        for synced in [knowing, third] { try await synced.putAndScan("- a\n- b\n- c\n- d\n", at: "context.md") }
        try await third.putAndScan("- b\n- c\n- d\n- y\n", at: "context.md")
        try await third.loseConflict("context.md", to: "- a\n- b\n- c\n- d\n- x\n", as: copy)
        try knowing.takeLineage(of: third)
        var resolutions: [String] = []
        for synced in [knowing, other] {
            try await synced.putAndScan("- a\n- b\n- c\n- d\n- x\n", at: "context.md")
            try synced.put("- b\n- c\n- d\n- y\n", at: copy)
            try await synced.workspace.resolveConflicts()
            resolutions.append(try #require(try await synced.files()["context.md"]))
        }
        #expect(resolutions == ["- b\n- c\n- d\n- x\n- y\n", "- a\n- b\n- c\n- d\n- x\n- y\n"])
        try knowing.takeLineage(of: other)
        try other.takeLineage(of: knowing, third)
        for synced in [knowing, other] {
            try synced.put(resolutions[0], at: "context.md")
            try synced.put(resolutions[1], at: copy)
            try await synced.workspace.resolveConflicts()
        }
        #expect(try await knowing.files() == other.files())
        #expect(try await other.files() == ["context.md": resolutions[1]])
    }

    @Test("A conflict copy overwritten by another one of the same name is merged, too")
    func copiesOfOneName() async throws {
        let synced = try SyncedWorkspace()
        let copy = "log.sync-conflict-20261122-062621-ABCDEFG.md"
        try await synced.putAndScan("A-1\n", at: "log.md")
        try await synced.putAndScan("B-1\n", at: copy)
        try await synced.putAndScan("B-2\n", at: copy)
        try synced.put("A-1\nA-2\n", at: "log.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        let lines = Set(try await synced.workspace.read(WorkspacePath("log.md")).text.lines)
        #expect(lines.isSuperset(of: ["A-1", "A-2", "B-1", "B-2"]))
        // After the resolution, a conflict copy with this name is a new one.
        try await synced.workspace.write(
            "A\n", to: WorkspacePath("log.md"), replacing: synced.workspace.read(WorkspacePath("log.md")).version)
        try await synced.putAndScan("B-3\n", at: copy)
        try await synced.workspace.resolveConflicts()
        let later = try await synced.workspace.read(WorkspacePath("log.md")).text
        #expect(later.contains("B-3") && !later.contains("B-1"))
    }

    @Test("A copy replaced by another copy before a scan is merged if a write came between them")
    func replacedCopyOfWrite() async throws {
        let synced = try SyncedWorkspace()
        let copy = "log.sync-conflict-20261122-062621-ABCDEFG.md"
        let path = try WorkspacePath("log.md")
        try await synced.workspace.append("B-1\n", to: path)
        // A service moves the file away in favor of another device's version, twice in the same second.
        try synced.move("log.md", to: copy)
        try synced.put("A-1\n", at: "log.md")
        try await synced.workspace.append("B-2\n", to: path)
        try synced.move("log.md", to: copy)
        try synced.put("A-1\nA-2\n", at: "log.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        let lines = Set(try await synced.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: ["A-1", "A-2", "B-1", "B-2"]))
    }

    @Test("The restoring of an earlier text of a copy leaves its other text to be merged")
    func restoredCopy() async throws {
        let synced = try SyncedWorkspace()
        let copy = try WorkspacePath("log.sync-conflict-20261122-062621-ABCDEFG.md")
        try await synced.putAndScan("A\n", at: "log.md")
        for text in ["B-1\n", "B-2\n"] { try await synced.deliverAndScan(text, at: copy.description) }
        let first = try #require(try await synced.workspace.versions(of: copy).last)
        let version = try await synced.workspace.read(copy).version
        try await synced.workspace.restore(copy, to: first.hash, replacing: version)
        try await synced.workspace.resolveConflicts()
        let lines = Set(try await synced.workspace.read(WorkspacePath("log.md")).text.lines)
        #expect(lines.isSuperset(of: ["A", "B-1", "B-2"]))
    }

    @Test("Versions stay apart if the merged content is larger than a file may be")
    func largeMerge() async throws {
        let synced = try SyncedWorkspace(maxFileSize: 100)
        let copy = "log.sync-conflict-20261122-062621-ABCDEFG.md"
        let (mine, theirs) = (String(repeating: "mine\n", count: 12), String(repeating: "other\n", count: 12))
        try synced.put(mine, at: "log.md")
        try synced.put(theirs, at: copy)
        let preview = try await synced.workspace.previewConflicts()
        let resolved = try await synced.workspace.resolveConflicts()
        #expect(preview.map(\.outcome) == [.keptBoth] && resolved.map(\.outcome) == [.keptBoth])
        #expect(preview.map(\.kept) == resolved.map(\.kept))
        #expect(Set(try await synced.files().values) == [mine, theirs])
        #expect(try await synced.workspace.resolveConflicts().isEmpty)
    }

    @Test("Duplicate folders are merged into one, and the second folder is removed")
    func folders() async throws {
        let synced = try SyncedWorkspace()
        try synced.put("# B\n", at: "Research/moby/sources/b-0123abcd.md")
        try synced.put("text", at: "Research/moby 2/full_text.txt")
        try synced.put("# B\n", at: "Research/moby 2/sources/b-0123abcd.md")
        try synced.put("# C\n", at: "Journal 2/user/notes.md")
        try synced.put("hello", at: "Journal/user/notes.md")
        try synced.put("mine", at: "Trips 2/notes.md")
        // The winner of the identical files, and the missing file, may not have arrived yet.
        let resolved = try await synced.workspace.resolveConflicts()
        #expect(resolved.filter { !$0.outcome.isResolved }.map(\.path.name) == ["full_text.txt", "b-0123abcd.md"])
        synced.now.withLock { $0 += ConflictResolver.maxDelay + 1 }
        try await synced.workspace.resolveConflicts()
        #expect(
            try await synced.files() == [
                "Research/moby/full_text.txt": "text", "Research/moby/sources/b-0123abcd.md": "# B\n",
                "Journal/user/notes.md": try await synced.files()["Journal/user/notes.md"] ?? "",
                "Trips 2/notes.md": "mine",
            ])
        #expect(try await synced.files()["Journal/user/notes.md"]?.contains("hello") == true)
        #expect(try await synced.files()["Journal/user/notes.md"]?.contains("# C") == true)
        #expect(try await !synced.folders().contains { $0.hasSuffix(" 2") && $0 != "Trips 2" })
    }

    @Test("A failed resolution reports the reason, changes nothing, and does not block other conflicts")
    func failing() async throws {
        let synced = try SyncedWorkspace()
        try synced.put("- one\n", at: "context.md")
        try synced.put("- two\n", at: "context 2.md")
        try synced.put("film", at: "a.mov")
        let copy = "a.sync-conflict-20261121-101112-ABCDEFG.mov"
        try synced.put("", at: copy)
        let file = try FileHandle(forWritingTo: synced.folder.root.appendingPathComponent(copy))
        try file.truncate(atOffset: 30_000_000)
        let resolved = try await synced.workspace.resolveConflicts()
        #expect(resolved.map(\.path.name) == ["a.mov", "context.md"] && resolved.map(\.outcome) == [.failed, .merged])
        #expect(resolved[0].reason?.contains(copy) == true && resolved[1].reason == nil)
        #expect(
            try synced.folder.names().filter { $0 != LineageFile.folderName } == [copy, "a.mov", "context.md"].sorted())
    }

    @Test("A conflict copy whose original is now a folder becomes a kept copy beside the folder")
    func copyOfFolder() async throws {
        let synced = try SyncedWorkspace()
        try synced.put("inside", at: "notes/a.md")
        try synced.put("was a file", at: "notes.sync-conflict-20261121-101112-ABCDEFG")
        let resolved = try await synced.workspace.resolveConflicts()
        let kept = KeptCopyName.name(for: "notes", holding: ContentHash(of: "was a file".utf8))
        #expect(resolved.map(\.outcome) == [.keptBoth])
        #expect(try await synced.files() == ["notes/a.md": "inside", kept: "was a file"])
        #expect(try await synced.workspace.resolveConflicts() == [])
    }

    @Test("A folder with the name of a file's conflict copy stays, with its files")
    func folderNamedLikeCopy() async throws {
        let synced = try SyncedWorkspace()
        let folder = "context.sync-conflict-20261121-101112-ABCDEFG.md"
        let files = ["context.md": "a file", "\(folder)/a.md": "inside", "\(folder)/b/c.md": "deeper"]
        for (name, text) in files { try synced.put(text, at: name) }
        #expect(try await synced.workspace.resolveConflicts().isEmpty)
        #expect(try await synced.files() == files)
    }

    @Test("A merge base damaged in the archive is not used")
    func damagedBase() async throws {
        let synced = try SyncedWorkspace()
        try synced.put("- one\n", at: "context.md")
        _ = try await synced.workspace.status()
        let hash = ContentHash(of: "- one\n".utf8).rawValue
        try Data("- two\n".utf8).write(
            to: synced.folder.url.appendingPathComponent("state/objects/\(hash.prefix(2))/\(hash.dropFirst(2))"))
        try synced.put("- one\n- two\n", at: "context.md")
        try synced.put("- one\n- three\n", at: "context 2.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        #expect(try await synced.files()["context.md"]?.contains("three") == true)
    }

    @Test(
        "conflict-copies: a losing version is kept if the winner arrives after the removal of the conflict copy",
        arguments: ["a.md", "a.bin"])
    func lateWinner(name: String) async throws {
        let synced = try SyncedWorkspace()
        let copy = name.replacingOccurrences(of: ".", with: ".sync-conflict-20261121-101112-ABCDEFG.")
        try await synced.putAndScan("- lost\n", at: name)
        try synced.put("- lost\n", at: copy)
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.waiting])
        synced.now.withLock { $0 += ConflictResolver.maxDelay + 1 }
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.identical])
        synced.now.withLock { $0 += 3_600 }
        try await synced.putAndScan("- won\n", at: name)
        #expect(try await synced.workspace.resolveConflicts().count == 1)
        let files = try await synced.files()
        #expect(Set(files.values.flatMap(\.lines)).isSuperset(of: ["- lost", "- won"]))
        #expect(try await synced.workspace.resolveConflicts().isEmpty)
    }

    @Test("conflict-copies: a losing version is kept even after many later versions of the winner")
    func lateResolution() async throws {
        let synced = try SyncedWorkspace()
        try await synced.putAndScan("- lost\n", at: "a.md")
        try synced.put("- lost\n", at: "a.sync-conflict-20261121-101112-ABCDEFG.md")
        _ = try await synced.workspace.status()
        synced.now.withLock { $0 += ConflictResolver.maxDelay + 1 }
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.identical])
        var text = "- won\n"
        for number in 0..<40 {
            try await synced.putAndScan(text, at: "a.md")
            text += "- \(number)\n"
        }
        try await synced.workspace.resolveConflicts()
        #expect(try await synced.files().values.flatMap(\.lines).contains("- lost"))
    }

    @Test("After the removal of an identical conflict copy, a write based on its content stays unchanged")
    func writtenLater() async throws {
        let synced = try SyncedWorkspace()
        try await synced.putAndScan("- one\n- two\n", at: "a.md")
        try synced.put("- one\n- two\n", at: "a.sync-conflict-20261121-101112-ABCDEFG.md")
        synced.now.withLock { $0 += ConflictResolver.maxDelay + 1 }
        _ = try await synced.workspace.status()
        synced.now.withLock { $0 += ConflictResolver.maxDelay + 1 }
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.identical])
        let path = try WorkspacePath("a.md")
        try await synced.workspace.write("- one\n", to: path, replacing: synced.workspace.read(path).version)
        #expect(try await synced.workspace.resolveConflicts().isEmpty)
        #expect(try await synced.files() == ["a.md": "- one\n"])
    }

    @Test(
        "conflict-copies: a copy identical to the file waits for the winner, even if the file has a later date",
        arguments: [false, true])
    func fileAfterCopy(isClockCorrected: Bool) async throws {
        let synced = try SyncedWorkspace()
        let copy = "a.sync-conflict-20261121-101112-ABCDEFG.md"
        try await synced.putAndScan("- lost\n", at: isClockCorrected ? "a.md" : copy)
        synced.now.withLock { $0 += isClockCorrected ? -30 : ConflictResolver.maxDelay + 30 }
        try await synced.putAndScan("- lost\n", at: isClockCorrected ? copy : "a.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.waiting])
        try synced.put("- won\n", at: "a.md")
        try await synced.workspace.resolveConflicts()
        #expect(try await synced.files() == ["a.md": "- lost\n- won\n"])
    }

    @Test("Waiting for a winner posts no event, and setting back the clock does not prolong the wait")
    func clockSetBack() async throws {
        let synced = try SyncedWorkspace()
        try synced.put("same", at: "a.md")
        try synced.put("same", at: "a.sync-conflict-20261121-101112-ABCDEFG.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.waiting])
        #expect(synced.workspace.events.takeUndelivered().isEmpty)
        synced.now.withLock { $0 -= 86_400 }
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.identical])
        #expect(try await synced.files() == ["a.md": "same"])
    }

    @Test("name-collisions: a file renamed by a service as a case conflict is merged and deletes nothing")
    func caseConflict() async throws {
        let synced = try SyncedWorkspace()
        try synced.put("- one\n", at: "notes/plan.md")
        _ = try await synced.workspace.status()
        synced.now.withLock { $0 += 10 }
        try synced.put("- one\n- two\n", at: "notes/plan.md")
        try synced.put("- twin\n", at: "notes/Plan (Case Conflict).md")
        #expect(try await synced.workspace.status().conflicted == [WorkspacePath("notes/plan.md")])
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        #expect(try await synced.files() == ["notes/plan.md": "- one\n- twin\n- two\n"])
    }

    @Test("A conflict copy without its original takes the name of the original")
    func withoutOriginal() async throws {
        let synced = try SyncedWorkspace()
        try await synced.putAndScan("text", at: "notes.sync-conflict-20261121-101112-ABCDEFG.md")
        synced.now.withLock { $0 += ConflictResolver.maxDelay + 1 }
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.restored])
        #expect(try await synced.files() == ["notes.md": "text"])
    }

    @Test("conflict-copies: a resolution between the two renames of a lost conflict waits for the winner")
    func betweenRenames() async throws {
        let synced = try SyncedWorkspace()
        try await synced.putAndScan("- start\n- mine\n", at: "notes.md")
        let root = synced.workspace.rootURL
        try FileManager.default.moveItem(
            at: root.appendingPathComponent("notes.md"),
            to: root.appendingPathComponent("notes.sync-conflict-20261121-101112-ABCDEFG.md"))
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.waiting])
        try await synced.deliverAndScan("- theirs\n- start\n", at: "notes.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        #expect(try await synced.files() == ["notes.md": "- theirs\n- start\n- mine\n"])
    }

    @Test("chat-edits: an intact version of a chat is readable, and a broken version is kept")
    func brokenChat() async throws {
        let synced = try SyncedWorkspace()
        let chat = ChatProjection(
            session: "c",
            entries: [.init(agents: [""], message: ConversationMessage(id: "1", role: .user, text: "x"))])
        try synced.put("{\"format\":", at: "Chats/c.json")
        try synced.put(String(decoding: chat.bytes, as: UTF8.self), at: "Chats/c 2.json")
        try await synced.workspace.resolveConflicts()
        #expect(try await synced.workspace.chats.read("c") == chat)
        #expect(try await synced.files().values.contains("{\"format\":"))
    }

    @Test("chat-edits: two texts of one message are both kept in files")
    func changedMessage() async throws {
        let synced = try SyncedWorkspace()
        let chat = RandomChats.sample
        let name = "Chats/moby-dick.json"
        try synced.put(chat.replacing("Call me.", with: "AAA"), at: name)
        try synced.put(chat.replacing("Call me.", with: "BBB"), at: "Chats/moby-dick 2.json")
        let resolved = try await synced.workspace.resolveConflicts()
        #expect(resolved.map(\.outcome) == [.keptBoth] && resolved.first?.kept.count == 1)
        let files = try await synced.files()
        #expect(files.count == 2 && files[name]?.contains("BBB") == true)
        #expect(files.values.contains { $0.contains("AAA") })
        #expect(try await synced.workspace.chats.sessions() == ["moby-dick"])
        #expect(try await synced.workspace.resolveConflicts().isEmpty)
    }
}
