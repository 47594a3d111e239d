import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Folder provider")
struct FolderProviderTests {
    private let folder: TestFolder
    private let provider: FolderProvider

    init() throws {
        folder = try TestFolder()
        provider = try FolderProvider(root: folder.root)
    }

    /// The current content that a failed write or removal reports.
    private func mismatch(_ work: () throws -> Void) -> String? {
        let error = #expect(throws: ContentMismatchError.self) { try work() }
        return error?.current.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("New folders and files are private to the user, and existing permissions are preserved")
    func rights() throws {
        let root = folder.url.appendingPathComponent("new/deep")
        let provider = try FolderProvider(root: root)
        try provider.write("x", to: "a/b/c.md", replacing: nil)
        func rights(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: root.path + path)[.posixPermissions] as? Int
        }
        #expect(try rights("") == 0o700 && rights("/a") == 0o700 && rights("/a/b") == 0o700)
        #expect(try rights("/a/b/c.md") == 0o600)
        try provider.write("y", to: "a/b/c.md", replacing: "x")
        #expect(try rights("/a/b/c.md") == 0o600)
        #expect(chmod(root.path + "/a/b/c.md", 0o664) == 0)
        try provider.write("z", to: "a/b/c.md", replacing: "y")
        #expect(try rights("/a/b/c.md") == 0o664)
    }

    @Test("Files and folders are listed, found, read, written and removed")
    func basics() throws {
        #expect(try provider.items(in: .root).isEmpty)
        #expect(try provider.item(at: .root)?.isFolder == true)
        try provider.write("one", to: "Journal/user/day.md", replacing: nil)
        try provider.write("", to: "empty.md", replacing: nil)
        #expect(try provider.names() == ["Journal", "empty.md"])
        #expect(try provider.text("Journal/user/day.md") == "one" && provider.text("empty.md").isEmpty)
        let item = try #require(try provider.item(at: WorkspacePath("Journal/user/day.md")))
        #expect(item.size == 3 && !item.isFolder && item.state == .local && item.modified != nil)
        #expect(try provider.items(in: WorkspacePath("Journal/user")) == [item])
        try provider.write("two", to: "Journal/user/day.md", replacing: "one")
        #expect(try provider.item(at: item.path)?.stamp != item.stamp)
        #expect(try folder.text(at: "Journal/user/day.md") == "two")
        try provider.remove(item.path, holding: ContentHash(of: "two".utf8))
        #expect(try provider.item(at: item.path) == nil && folder.names(in: "Journal/user").isEmpty)
    }

    @Test("Missing, oversized and obstructed paths throw errors with their own codes")
    func errors() throws {
        func code(_ work: () throws -> Void) -> RecollectError.Code? {
            #expect(throws: RecollectError.self) { try work() }?.code
        }
        #expect(code { _ = try provider.text("none.md") } == .notFound)
        #expect(code { _ = try provider.items(in: WorkspacePath("none")) } == .notFound)
        #expect(code { _ = try provider.read(.root, limit: 1) } == .notFound)
        try provider.write("12345", to: "a.md", replacing: nil)
        #expect(code { _ = try provider.read(WorkspacePath("a.md"), limit: 4) } == .tooLarge)
        #expect(try provider.read(WorkspacePath("a.md"), limit: 5).count == 5)
        #expect(code { try provider.write("x", to: "a.md/b.md", replacing: nil) } == .foreignStore)
        try provider.write("x", to: "b/c.md", replacing: nil)
        #expect(code { try provider.write("x", to: "b", replacing: nil) } == .foreignStore)
        #expect(code { _ = try provider.text("b") } == .foreignStore)
        #expect(code { try provider.write([1], to: .root, replacing: nil) } == .invalidArgument)
        #expect(code { _ = try FolderProvider(root: URL(string: "https://example.com")!) } == .invalidArgument)
        #expect(code { _ = try FolderProvider(root: folder.root.appendingPathComponent("a.md")) } == .foreignStore)
    }

    @Test("A write or removal with an unexpected current version changes nothing")
    func stale() throws {
        try folder.put("foreign", at: "a.md")
        #expect(mismatch { try provider.write("mine", to: "a.md", replacing: nil) } == "foreign")
        #expect(mismatch { try provider.write("mine", to: "a.md", replacing: "old") } == "foreign")
        #expect(mismatch { try provider.write("mine", to: "b.md", replacing: "old") } == nil)
        #expect(mismatch { try provider.write("mine", to: "none/b.md", replacing: "old") } == nil)
        #expect(
            mismatch { try provider.remove(WorkspacePath("a.md"), holding: ContentHash(of: "old".utf8)) } == "foreign")
        #expect(mismatch { try provider.remove(WorkspacePath("b.md"), holding: ContentHash(of: "old".utf8)) } == nil)
        #expect(try folder.names() == ["a.md"] && folder.text(at: "a.md") == "foreign")
    }

    @Test("Invalid workspace names are left out of lists, and conflict copies are listed")
    func listing() throws {
        for name in [
            "a.md", "a.sync-conflict-20250115-123456-ABCDEFG.md", "a (Ann's conflicted copy 2025-01-15).md", "a 2.md",
            ".DS_Store",
            ".syncthing.a.md.tmp", ".syncthing.recollect-X.tmp", "~syncthing~a.md.tmp", "x.tmp", "desktop.ini",
            ".stfolder",
            ".hidden", "what?.md", "~$a.md",
        ] {
            try folder.put(name, at: name)
        }
        symlink(folder.url.path, folder.root.path + "/link")
        mkfifo(folder.root.path + "/pipe", 0o600)
        #expect(
            try provider.names() == [
                "a (Ann's conflicted copy 2025-01-15).md", "a 2.md", "a.md",
                "a.sync-conflict-20250115-123456-ABCDEFG.md",
            ])
        #expect(try provider.item(at: WorkspacePath("link")) == nil && provider.item(at: WorkspacePath("pipe")) == nil)
        #expect(throws: RecollectError.self) { try provider.text("pipe") }
    }

    @Test("unsafe-names: a name of 255 bytes is written and read")
    func longName() throws {
        let name = String(repeating: "é", count: 126) + ".md"
        try provider.write("x", to: name, replacing: nil)
        try provider.write("y", to: name, replacing: "x")
        #expect(try provider.names() == [name] && provider.text(name) == "y")
        try provider.remove(WorkspacePath(name), holding: ContentHash(of: "y".utf8))
        #expect(try folder.names().isEmpty)
    }

    @Test("unsafe-names: symbolic links inside are not followed, but the root itself may be a link")
    func links() throws {
        let outside = folder.url.appendingPathComponent("outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: outside.appendingPathComponent("file.md"))
        symlink(outside.path, folder.root.path + "/Journal")
        symlink(outside.path + "/file.md", folder.root.path + "/file.md")
        symlink("nowhere", folder.root.path + "/dangling.md")
        for path in ["Journal/file.md", "Journal/new.md", "file.md", "dangling.md", "Journal/deep/new.md"] {
            for old in [nil, "secret"] {
                let error = #expect(throws: RecollectError.self) { try provider.write("x", to: path, replacing: old) }
                #expect(error?.code == .foreignStore, "\(path)")
            }
            #expect(throws: RecollectError.self) { try provider.text(path) }
            #expect(throws: RecollectError.self) {
                try provider.remove(WorkspacePath(path), holding: ContentHash(of: "secret".utf8))
            }
        }
        #expect(throws: RecollectError.self) { try provider.items(in: WorkspacePath("Journal")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path) == ["file.md"])
        #expect(try String(contentsOf: outside.appendingPathComponent("file.md"), encoding: .utf8) == "secret")

        let link = folder.url.appendingPathComponent("link")
        symlink(folder.root.path, link.path)
        try FolderProvider(root: link).write("x", to: "through.md", replacing: nil)
        #expect(try folder.text(at: "through.md") == "x")
    }

    @Test("name-collisions: a decomposed name on the disk is found, read, written and removed under its path")
    func decomposed() throws {
        try folder.put("one", at: "Cafe\u{301}/e\u{301}.md")
        let path = try WorkspacePath("Caf\u{E9}/\u{E9}.md")
        #expect(try provider.items(in: .root).map(\.path.description) == ["Café"])
        #expect(try provider.items(in: WorkspacePath("Café")).map(\.path) == [path])
        #expect(try provider.item(at: path)?.state == .local)
        try provider.write("two", to: path.description, replacing: "one")
        try provider.write("new", to: "Café/new.md", replacing: nil)
        #expect(try folder.names().count == 1 && folder.names(in: "Cafe\u{301}").count == 2, "no second file or folder")
        #expect(try provider.text("Café/é.md") == "two")
        #expect(mismatch { try provider.write("x", to: "Café/é.md", replacing: nil) } == "two")
        try provider.remove(path, holding: ContentHash(of: "two".utf8))
        #expect(try provider.names(WorkspacePath("Café")) == ["new.md"])
    }

    @Test(
        "concurrent-edits: a file has a change date, except on FUSE, where programs report the modification date for it",
        .needs(.foldingDisk))
    func changeDates() throws {
        let folder = try TestFolder()
        let disk = try FoldingDisk(in: folder.url)
        for (root, hasChangeDates) in [(folder.root, true), (disk.url, false)] {
            let provider = try FolderProvider(root: root)
            let file = try path("a.md")
            try provider.write(Array("text".utf8), to: file, replacing: nil)
            let items = try [provider.item(at: file)] + provider.items(in: .root).filter { $0.path == file }
            #expect(items.count == 2)
            for item in items {
                #expect((item?.changed != nil) == hasChangeDates && item?.modified != nil)
                // On a busy disk, the sync of a write takes longer than a save.
                #expect(hasChangeDates || item?.isEdited == false)
            }
        }
    }

    @Test(
        "name-collisions: on a case-insensitive disk, all spellings are one file, and writes keep its name",
        .needs(.foldingDisk))
    func foldingDisk() async throws {
        // The kernel caches the file found under a spelling for a second, so each spelling is used only once.
        let disk = try FoldingDisk(in: folder.url)
        let provider = try FolderProvider(root: disk.url)
        try provider.write("one", to: "Journal/Notes.md", replacing: nil)
        #expect(mismatch { try provider.write("x", to: "journal/notes.md", replacing: nil) } == "one")
        #expect(mismatch { try provider.write("x", to: "JOURNAL/NOTES.md", replacing: "zero") } == "one")
        try provider.write("two", to: "JOURNAL/notes.MD", replacing: "one")
        try provider.write("other", to: "journal/Other.md", replacing: nil)
        #expect(try provider.text("Journal/nOtes.md") == "two" && provider.text("journal/noTes.md") == "two")
        #expect(try provider.items(in: .root).count == 1)
        // The driver lists names in lower case, regardless of how they were created.
        #expect(try provider.canonicalPath(of: WorkspacePath("JournaL/notES.md")) == WorkspacePath("journal/notes.md"))
        #expect(try provider.canonicalPath(of: WorkspacePath("jouRnal/NEW.md")) == WorkspacePath("journal/NEW.md"))
        #expect(
            try provider.items(in: WorkspacePath("Journal")).map(\.path.key).sorted() == [
                "journal/notes.md", "journal/other.md",
            ])
        let workers = try (0..<2).map {
            try Worker(["lines", disk.url.path, "\($0 == 0 ? "Journal" : "journal")/day.md", "w\($0)", "20"])
        }
        for worker in workers { #expect(await worker.finish().count == 20) }
        #expect(try provider.text("JOURNAL/DAY.md").split(separator: "\n").count == 40)
        try provider.remove(WorkspacePath("journal/notEs.md"), holding: ContentHash(of: "two".utf8))
        let left = try FileManager.default.contentsOfDirectory(atPath: disk.url.path + "/Journal")
        #expect(left.map { $0.lowercased() }.sorted() == ["day.md", "other.md"])
    }

    @Test("name-collisions: names that differ in case are two listed files if the file system allows it")
    func caseCollision() throws {
        try provider.write("lower", to: "notes.md", replacing: nil)
        do {
            try provider.write("upper", to: "Notes.md", replacing: nil)
        } catch is ContentMismatchError {
            // On a case-insensitive file system, the existing name was found.
            #expect(try provider.names() == ["notes.md"] && provider.text("Notes.md") == "lower")
            try provider.write("both", to: "Notes.md", replacing: "lower")
            #expect(try folder.names() == ["notes.md"] && provider.text("notes.md") == "both")
            return
        }
        #expect(try provider.names() == ["Notes.md", "notes.md"])
        #expect(try Set(provider.items(in: .root).map(\.path.key)) == ["notes.md"])
        #expect(try provider.text("notes.md") == "lower" && provider.text("Notes.md") == "upper")
    }

    @Test(
        "name-collisions: of two normalizations of a name, none remains at its path if it is moved or trashed",
        .enabled(if: keepsForms, "the file system ignores Unicode normalization"))
    func formCollisionRemoved() async throws {
        let workspace = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
        for newName in [nil, "b.md"] {
            try folder.put("decomposed", at: "e\u{301}.md")
            try folder.put("composed", at: "\u{E9}.md")
            let path = try WorkspacePath("é.md")
            if let newName {
                try await workspace.move(path, to: WorkspacePath(newName))
            } else {
                try await workspace.trash(path, replacing: ContentHash(of: "composed".utf8))
            }
            let kept = KeptCopyName.name(for: newName ?? "é.md", holding: ContentHash(of: "decomposed".utf8))
            let names = try folder.names().filter { !$0.hasPrefix(".") }
            #expect(names.sorted() == [kept, newName].compactMap { $0 }.sorted())
            for name in names { try FileManager.default.removeItem(at: folder.root.appendingPathComponent(name)) }
        }
    }

    @Test(
        "name-collisions: a refused move changes neither normalization of a name",
        .enabled(if: keepsForms, "the file system ignores Unicode normalization"))
    func formCollisionRefused() async throws {
        let workspace = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
        try folder.put("decomposed", at: "e\u{301}.md")
        try folder.put("composed", at: "\u{E9}.md")
        try folder.put("other", at: "taken.md")
        let path = try WorkspacePath("é.md")
        await #expect(throws: FileChangedError.self) {
            try await workspace.move(path, to: WorkspacePath("taken.md"))
        }
        #expect(try folder.names().filter { !$0.hasPrefix(".") }.count == 3)
        #expect(try provider.text("é.md") == "composed" && provider.text("taken.md") == "other")
        #expect(try provider.conflictVersions(of: path).map(\.bytes) == [Array("decomposed".utf8)])
    }

    @Test(
        "name-collisions: of two normalizations of a name, one is the file and one a conflict version",
        .enabled(if: keepsForms, "the file system ignores Unicode normalization"))
    func formCollision() throws {
        try folder.put("decomposed", at: "e\u{301}.md")
        try folder.put("composed", at: "\u{E9}.md")
        let path = try WorkspacePath("é.md")
        let item = try #require(try provider.item(at: path))
        #expect(item.state == .conflicted)
        #expect(try provider.items(in: .root) == [item])
        #expect(try provider.text("é.md") == "composed")
        let versions = try provider.conflictVersions(of: path)
        #expect(versions.map { String(decoding: $0.bytes, as: UTF8.self) } == ["decomposed"])

        try folder.put("decomposed, changed", at: "e\u{301}.md")
        #expect(mismatch { try provider.resolve(versions, of: path) } == "decomposed, changed")
        try provider.resolve(provider.conflictVersions(of: path), of: path)
        #expect(try folder.names().count == 1 && provider.item(at: path)?.state == .local)
        #expect(try provider.conflictVersions(of: path).isEmpty)
        try provider.resolve(versions, of: path)
        try provider.resolve([ConflictVersion(id: "\u{E9}.md", bytes: Array("composed".utf8))], of: path)
        #expect(try provider.text("é.md") == "composed", "the file itself is not one of its conflict versions")
    }

    @Test("not-local: an old placeholder is listed as its file, not local; an actual file takes precedence")
    func placeholders() throws {
        try folder.put("bplist", at: "Journal/.day.md.icloud")
        let path = try WorkspacePath("Journal/day.md")
        let item = try #require(try provider.item(at: path))
        #expect(item.state == .notLocal && item.size == 0 && !item.isFolder)
        #expect(try provider.items(in: WorkspacePath("Journal")) == [item])
        for work in [
            { _ = try provider.read(path, limit: 100) }, { try provider.write([1], to: path, replacing: nil) },
            { try provider.write([1], to: path, replacing: ContentHash(of: [])) },
            { try provider.remove(path, holding: ContentHash(of: [])) },
        ] as [() throws -> Void] {
            #expect(#expect(throws: RecollectError.self) { try work() }?.code == .notLocal)
        }
        #if !canImport(Darwin)
            try provider.requestDownload(of: path)
        #endif
        #expect(try folder.names(in: "Journal") == [".day.md.icloud"])
        try folder.put("here", at: "Journal/day.md")
        #expect(try provider.items(in: WorkspacePath("Journal")).map(\.state) == [.local])
        #expect(try provider.text("Journal/day.md") == "here")
        try folder.put("x", at: ".icloud")
        try folder.put("x", at: "..icloud")
        #expect(try provider.names() == ["Journal"])
    }

    @Test("mass-deletion: a removed, moved or replaced root is unavailable, never empty, until it is back")
    func gone() throws {
        try provider.write("x", to: "a.md", replacing: nil)
        let away = folder.url.appendingPathComponent("away")
        func check() throws {
            for work in [
                { _ = try provider.items(in: .root) }, { _ = try provider.item(at: .root) },
                { _ = try provider.text("a.md") },
                { try provider.write("y", to: "a.md", replacing: nil) },
                { try provider.write("y", to: "b/a.md", replacing: "x") },
                { try provider.remove(WorkspacePath("a.md"), holding: ContentHash(of: "x".utf8)) },
                { _ = try provider.item(at: WorkspacePath("a.md")) },
            ] as [() throws -> Void] {
                #expect(#expect(throws: RecollectError.self) { try work() }?.code == .unavailable)
            }
        }
        try FileManager.default.moveItem(at: folder.root, to: away)
        try check()
        #expect(!FileManager.default.fileExists(atPath: folder.root.path), "nothing is created in its place")
        try FileManager.default.createDirectory(at: folder.root, withIntermediateDirectories: true)
        try check()
        try FileManager.default.removeItem(at: folder.root)
        try FileManager.default.moveItem(at: away, to: folder.root)
        #expect(try provider.text("a.md") == "x")
        try FileManager.default.removeItem(at: folder.root)
        try check()
        for _ in 0..<20 {
            // The removed folder's identity is not reused while the provider exists.
            try FileManager.default.createDirectory(at: folder.root, withIntermediateDirectories: true)
            try check()
            try FileManager.default.removeItem(at: folder.root)
        }
    }

    @Test("Only an empty folder can be removed")
    func removeFolder() throws {
        try provider.write("x", to: "Journal 2/a.md", replacing: nil)
        #expect(try !provider.removeFolder(WorkspacePath("Journal 2")))
        #expect(try !provider.removeFolder(WorkspacePath("Journal 2/a.md")))
        try provider.remove(WorkspacePath("Journal 2/a.md"), holding: ContentHash(of: "x".utf8))
        #expect(try provider.removeFolder(WorkspacePath("Journal 2")) && folder.names().isEmpty)
        #expect(try !provider.removeFolder(WorkspacePath("Journal 2")))
        #expect(try !provider.removeFolder(.root))
    }

    @Test("A killed writer's draft is removed after an hour, other leftovers stay, and neither is listed")
    func leftovers() throws {
        let hash = ContentHash(of: "x".utf8)
        let (draft, aside) = (TemporaryName.draft(), TemporaryName.aside(for: "a.md", from: hash, to: hash))
        try folder.put("half", at: draft)
        try folder.put("taken out", at: aside)
        #expect(try provider.names().isEmpty)
        try provider.write("x", to: "a.md", replacing: nil)
        #expect(try folder.names() == [aside, draft, "a.md"].sorted(), "the writer may still be running")
        let later = try FolderProvider(root: folder.root, now: { Date().addingTimeInterval(3_700) })
        try later.write("y", to: "a.md", replacing: "x")
        #expect(try folder.names() == [aside, "a.md"])
    }

    @Test("Writes, replacements, removals and new folders survive a power loss", .needs(.cuttableDisk))
    func powerCut() throws {
        let disk = try CuttableDisk(in: folder.url)
        let root = disk.url.appendingPathComponent("new/root")
        func write() throws {
            let provider = try FolderProvider(root: root)
            try provider.write("gone", to: "Journal/user/gone.md", replacing: nil)
            try provider.write("old", to: "Journal/user/day.md", replacing: nil)
            try setAttributes(["user.tag": "red"], of: root.appendingPathComponent("Journal/user/day.md"))
            try provider.remove(WorkspacePath("Journal/user/gone.md"), holding: ContentHash(of: "gone".utf8))
            try provider.write("new", to: "Journal/user/day.md", replacing: "old")
            try provider.write("text", to: "Research/moby/full_text.txt", replacing: nil)
            try disk.cutPower()
        }
        try write()
        try disk.restart()
        func check() throws {
            let provider = try FolderProvider(root: root)
            #expect(try provider.text("Journal/user/day.md") == "new")
            #expect(try attributes(of: root.appendingPathComponent("Journal/user/day.md")) == ["user.tag": "red"])
            #expect(try provider.text("Research/moby/full_text.txt") == "text")
            #expect(try provider.names(WorkspacePath("Journal/user")) == ["day.md"])
        }
        try check()
    }

    @Test(
        "disk-full: a full disk is reported, the old content stays, and writes succeed after space is freed",
        .needs(.tinyDisk))
    func diskFull() throws {
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 64)
        let provider = try FolderProvider(root: disk.url)
        try provider.write("old", to: "a/b.md", replacing: nil)
        let large = String(repeating: "x", count: 100_000)
        for (path, old) in [("a/b.md", "old"), ("a/c.md", nil)] {
            let error = #expect(throws: RecollectError.self) { try provider.write(large, to: path, replacing: old) }
            #expect(error?.code == .diskFull)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path + "/a") == ["b.md"])
        #expect(try provider.text("a/b.md") == "old")
        try disk.resize(kilobytes: 512)
        try provider.write(large, to: "a/b.md", replacing: "old")
        try disk.makeReadOnly()
        let error = #expect(throws: RecollectError.self) { try provider.write("x", to: "a/b.md", replacing: large) }
        #expect(error?.code == .readOnly)
    }
}

/// Whether the file system of the tests distinguishes the normalization forms of a name.
let keepsForms: Bool = {
    guard let folder = try? TestFolder() else { return false }
    try? folder.put("", at: "e\u{301}")
    try? folder.put("", at: "\u{E9}")
    return (try? folder.names().count) == 2
}()
