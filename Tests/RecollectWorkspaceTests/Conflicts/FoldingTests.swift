import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// A folder with files that a sync service might have left in it.
private struct Left {
    let folder: TestFolder
    let workspace: SharedWorkspace
    let now = Locked(Date())

    init() throws {
        folder = try TestFolder()
        var configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))
        configuration.now = { [now] in now.withLock { $0 } }
        workspace = try SharedWorkspace(root: folder.root, configuration: configuration)
    }

    func leave(_ text: String, at path: String) throws {
        let url = workspace.rootURL.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func files() async throws -> [String: String] {
        var files: [String: String] = [:]
        for item in try await workspace.list(recursively: true) where !item.isFolder {
            files[item.path.description] = try await workspace.read(item.path).text
        }
        return files
    }

    func folders() async throws -> [String] {
        try await workspace.list(recursively: true).filter(\.isFolder).map(\.path.description)
    }
}

@Suite("Folding what sync services left")
struct FoldingTests {
    @Test(
        "row 5: copies in the dialects of all services go into the file, whatever lies around them",
        arguments: [
            "context.sync-conflict-20261121-101112-ABCDEFG.md", "context (Ann's conflicted copy 2026-11-21).md",
            "context-DESKTOP-AB12CD3.md", "context 2.md", "context (1).md",
            "context.sync-conflict-20261121-101112-ABCDEFG.sync-conflict-20261121-101113-ABCDEFH.md",
        ])
    func dialects(_ copy: String) async throws {
        let left = try Left()
        try left.leave("# A\n\n- one\n", at: "context.md")
        try left.leave("# A\n\n- two\n", at: copy)
        try left.leave("mine", at: "notes 2.md")
        try left.leave("mine too", at: "notes.md")
        try left.leave("other", at: "Research/moby%202/full_text.txt")
        try left.leave("one", at: "Research/moby/full_text.txt")
        let folded = try await left.workspace.resolveConflicts()
        #expect(folded.map(\.path.description) == ["context.md"])
        #expect(folded.map(\.outcome) == [.merged])
        #expect(
            try await left.files() == [
                "context.md": "# A\n\n- one\n- two\n", "notes 2.md": "mine", "notes.md": "mine too",
                "Research/moby%202/full_text.txt": "other", "Research/moby/full_text.txt": "one",
            ])
        let kept = try await left.workspace.versions(of: try WorkspacePath(copy))
        #expect(kept.first?.kind == .trashed)
        #expect(try await left.workspace.resolveConflicts() == [])
    }

    @Test("what was deleted and what was added since all devices had one text are told apart by it")
    func base() async throws {
        let left = try Left()
        try left.leave("- one\n- two\n- three\n", at: "context.md")
        _ = try await left.workspace.status()
        try left.leave("- one\n- three\n", at: "context.md")
        try left.leave("- one\n- two\n- three\n- four\n", at: "context.sync-conflict-20261121-101112-ABCDEFG.md")
        try await left.workspace.resolveConflicts()
        #expect(try await left.files() == ["context.md": "- one\n- three\n- four\n"])
    }

    @Test("a version that was written by somebody who knew the other one stays as it is")
    func superseded() async throws {
        let left = try Left()
        let path = try WorkspacePath("plans/picture.bin")
        let first = try await left.workspace.write([1, 0, 2], to: path, replacing: nil)
        try await left.workspace.write([1, 0, 3], to: path, replacing: first.version)
        try left.leave("\u{1}\u{0}\u{2}", at: "plans/picture.sync-conflict-20261121-101112-ABCDEFG.bin")
        #expect(try await left.workspace.resolveConflicts().map(\.outcome) == [.superseded])
        #expect(try await left.workspace.read(path).bytes == [1, 0, 3])
        #expect(try await left.files().count == 1)
    }

    @Test("what has no structure is kept side by side, the same on both devices, whichever of both was the copy")
    func opaque() async throws {
        var all: [[String: String]] = []
        for contents in [["full", "whole"], ["whole", "full"]] {
            let left = try Left()
            try left.leave(contents[0], at: "Research/moby/full_text.txt")
            try left.leave(contents[1], at: "Research/moby/full_text 2.txt")
            let folded = try await left.workspace.resolveConflicts()
            #expect(folded.map(\.outcome) == [.keptBoth] && folded[0].kept.count == 1)
            #expect(try await left.workspace.resolveConflicts() == [])
            all.append(try await left.files())
        }
        #expect(all[0] == all[1] && all[0].count == 2)
        #expect(Set(all[0].values) == ["full", "whole"])
    }

    @Test("folders that were made twice become one, and nothing is left of the second")
    func folders() async throws {
        let left = try Left()
        try left.leave("# B\n", at: "Research/moby/sources/b-0123abcd.md")
        try left.leave("text", at: "Research/moby 2/full_text.txt")
        try left.leave("# B\n", at: "Research/moby 2/sources/b-0123abcd.md")
        try left.leave("# C\n", at: "Journal 2/user/notes.md")
        try left.leave("hello", at: "Journal/user/notes.md")
        try left.leave("mine", at: "Trips 2/notes.md")
        // What is the same in both may have come before what it lost against: for that is waited.
        let folded = try await left.workspace.resolveConflicts()
        #expect(folded.filter { !$0.outcome.isResolved }.map(\.path.name) == ["b-0123abcd.md"])
        left.now.withLock { $0 += SharedWorkspace.longestDelay + 1 }
        try await left.workspace.resolveConflicts()
        #expect(
            try await left.files() == [
                "Research/moby/full_text.txt": "text", "Research/moby/sources/b-0123abcd.md": "# B\n",
                "Journal/user/notes.md": try await left.files()["Journal/user/notes.md"] ?? "",
                "Trips 2/notes.md": "mine",
            ])
        #expect(try await left.files()["Journal/user/notes.md"]?.contains("hello") == true)
        #expect(try await left.files()["Journal/user/notes.md"]?.contains("# C") == true)
        #expect(try await !left.folders().contains { $0.hasSuffix(" 2") && $0 != "Trips 2" })
    }

    @Test(
        "row 24: a twin that a service renamed because it folds case goes into the other one, and takes nothing out of it"
    )
    func caseConflict() async throws {
        let left = try Left()
        try left.leave("- one\n", at: "notes/plan.md")
        _ = try await left.workspace.status()
        left.now.withLock { $0 += 10 }
        try left.leave("- one\n- two\n", at: "notes/plan.md")
        try left.leave("- twin\n", at: "notes/Plan (Case Conflict).md")
        #expect(try await left.workspace.status().conflicted == [WorkspacePath("notes/plan.md")])
        #expect(try await left.workspace.resolveConflicts().map(\.outcome) == [.merged])
        #expect(try await left.files() == ["notes/plan.md": "- one\n- twin\n- two\n"])
    }

    @Test("a copy whose original is gone comes back in its place")
    func withoutOriginal() async throws {
        let left = try Left()
        try left.leave("text", at: "notes.sync-conflict-20261121-101112-ABCDEFG.md")
        try await left.workspace.resolveConflicts()
        #expect(try await left.files() == ["notes.md": "text"])
    }

    @Test("a chat that is broken does not keep the whole one from being read, and is kept")
    func brokenChat() async throws {
        let left = try Left()
        let chat = ChatProjection(
            conversation: "c",
            entries: [.init(agentId: "", message: ConversationMessage(id: "1", role: .user, text: "x"))])
        try left.leave("{\"format\":", at: "Chats/c.json")
        try left.leave(String(decoding: chat.bytes, as: UTF8.self), at: "Chats/c 2.json")
        try await left.workspace.resolveConflicts()
        #expect(try await left.workspace.chats.read("c") == chat)
        #expect(try await left.files().values.contains("{\"format\":"))
    }
}
