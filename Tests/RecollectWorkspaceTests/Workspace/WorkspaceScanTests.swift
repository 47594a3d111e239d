import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Workspace scans") struct WorkspaceScanTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        test = try TestWorkspace()
    }

    private func putTen() {
        for number in 0..<10 { test.files.put("text \(number)", at: "in/\(number).md") }
    }

    @Test("External edits are archived as observed, and own writes are not")
    func others() async throws {
        test.files.put("first", at: "a.md")
        _ = try workspace.scanner.scan()
        #expect(try test.lastSeen("a.md") == "first")
        try await workspace.write("ours", to: path("a.md"), replacing: ContentHash(of: "first".utf8))
        _ = try workspace.scanner.scan()
        #expect(try test.lastSeen("a.md") == "first")
        test.files.put("theirs", at: "a.md")
        _ = try workspace.scanner.scan()
        #expect(try test.lastSeen("a.md") == "theirs")
        #expect(try await test.texts("a.md") == ["first", "ours", "theirs"])
    }

    @Test("A content that arrives with a conflict copy is archived as conflicted, and so is its conflict copy")
    func conflicted() async throws {
        test.files.put("first", at: "a.md")
        _ = try workspace.scanner.scan()
        test.files.put("theirs", at: "a.md")
        test.files.put("ours", at: "a.sync-conflict-20261121-101010-ABCDEFG.md")
        let scan = try workspace.scanner.scan()
        #expect(try test.lastSeen("a.md") == "first")
        #expect(try await test.kinds("a.md") == [.observed, .conflicted])
        #expect(try await test.texts("a.sync-conflict-20261121-101010-ABCDEFG.md") == ["ours"])
        #expect(try scan.files[path("a.md")]?.isConflicted == true)
        #expect(try await workspace.item(at: path("a.md")).state == .conflicted)
        #expect(try await workspace.list().map(\.state) == [.conflicted, .local])
        #expect(try await workspace.status().conflicted == [path("a.md")])
        // A write before the next scan records the content as conflicted, too.
        test.files.put("later", at: "a.md")
        try await workspace.write("over it", to: path("a.md"), replacing: ContentHash(of: "later".utf8))
        #expect(try test.lastSeen("a.md") == "first")
    }

    @Test("A content that arrives with conflict versions in the provider is archived as conflicted")
    func contestedByVersions() async throws {
        test.files.put("theirs", at: "a.md")
        test.files.put("theirs", at: "b.md")
        try test.files.state.withLock { $0.conflictVersions = [try path("a.md"): [], try path("b.md"): []] }
        #expect(try workspace.scanner.scan().files[path("a.md")]?.isConflicted == true)
        #expect(try await test.kinds("a.md") == [.conflicted] && test.lastSeen("a.md") == nil)
        // A write before the next scan records the content as conflicted, too.
        test.files.put("later", at: "b.md")
        try await workspace.write("over it", to: path("b.md"), replacing: ContentHash(of: "later".utf8))
        #expect(try await test.kinds("b.md") == [.conflicted, .conflicted, .written] && test.lastSeen("b.md") == nil)
    }

    @Test("Unchanged files are not read again, in this process or the next")
    func cheap() async throws {
        putTen()
        _ = try workspace.scanner.scan()
        let reads = test.files.state.withLock { $0.reads }
        _ = try workspace.scanner.scan()
        _ = try test.another().scanner.scan()
        #expect(test.files.state.withLock { $0.reads } == reads)
        test.files.put("new", at: "in/3.md")
        _ = try workspace.scanner.scan()
        #expect(test.files.state.withLock { $0.reads } == reads + 1)
    }

    @Test("A first scan of more files than one batch holds finds all, and reads each once")
    func manyFiles() async throws {
        for number in 0..<1_005 { test.files.put("text \(number)", at: "\(number).md") }
        #expect(try workspace.scanner.scan().files.values.allSatisfy { $0.content != nil && !$0.isOwn })
        #expect(test.files.state.withLock { $0.reads } == 1_005)
        #expect(try workspace.archive.index().contents.count == 1_005)
        #expect(try workspace.archive.size().contents == 1_005)
        #expect(try await test.texts("1004.md") == ["text 1004"])
    }

    @Test("A stamp that may hide a second change is not trusted")
    func restless() throws {
        let date = Locked(Date(timeIntervalSince1970: 1))
        let test = try TestWorkspace { $0.now = { date.withLock { $0 } } }
        test.files.put("one", at: "a.md")
        _ = try test.workspace.scanner.scan()
        // The same stamp with other content, as within one tick of a coarse clock.
        test.files.state.withLock { state in
            for (path, file) in state.files { state.files[path] = (Array("two".utf8), file.stamp) }
        }
        _ = try test.workspace.scanner.scan()
        #expect(try test.lastSeen("a.md") == "two")
        date.withLock { $0 = Date(timeIntervalSince1970: 10) }
        _ = try test.workspace.scanner.scan()
        let reads = test.files.state.withLock { $0.reads }
        _ = try test.workspace.scanner.scan()
        #expect(test.files.state.withLock { $0.reads } == reads)
    }

    @Test("not-local: a file that is not local is never read or taken for removed, and keeps its known content")
    func notLocal() async throws {
        test.files.put("text", at: "a.md")
        _ = try workspace.scanner.scan()
        let known = try path("a.md")
        test.files.state.withLock { _ = $0.notLocal.insert(known) }
        test.files.put("elsewhere", at: "b.md")
        test.files.state.withLock { state in state.notLocal.formUnion(state.files.keys) }
        let scan = try workspace.scanner.scan()
        #expect(try scan.files[path("a.md")]?.content == ContentHash(of: "text".utf8))
        #expect(try scan.files[path("b.md")] != nil && scan.files[path("b.md")]?.content == nil)
        #expect(try await test.kinds("a.md") == [.observed])
        #expect(try await workspace.status().notLocal.count == 2)
        #expect(
            await code { try await workspace.write("x", to: known, replacing: ContentHash(of: "text".utf8)) }
                == .notLocal)
        #expect(await code { try await workspace.append("x", to: known) } == .notLocal)
        #expect(test.files.state.withLock { $0.requested }.isEmpty)
    }

    @Test("An unreadable file does not prevent scanning the others, and is not taken for removed")
    func unreadable() async throws {
        test.files.put("whale", at: "a.md")
        test.files.put("whale too", at: "b.md")
        _ = try workspace.scanner.scan()
        let shut = try path("a.md")
        test.files.state.withLock { _ = $0.unreadable.insert(shut) }
        test.files.put("another whale", at: "a.md")
        test.files.put("whale three", at: "b.md")
        #expect(try Set(workspace.scanner.scan().files.keys) == [path("a.md"), path("b.md")])
        #expect(try await test.texts("a.md") == ["whale"])
        #expect(try await test.texts("b.md") == ["whale too", "whale three"])
        let found = try await workspace.search(WorkspaceQuery("whale"))
        #expect(found.files.map(\.path.description) == ["b.md"] && found.filesNotSearched == 1)
        test.files.state.withLock { $0.unreadable = [] }
        _ = try workspace.scanner.scan()
        #expect(try await test.texts("a.md") == ["whale", "another whale"])
    }

    @Test("stale-version: binary content is archived when it is replaced here, not when it arrives")
    func binary() async throws {
        test.files.put([0xFF, 0x00, 0x01], at: "a.png")
        _ = try workspace.scanner.scan()
        let hash = ContentHash(of: [0xFF, 0x00, 0x01])
        #expect(await code { _ = try await workspace.content(of: hash) } == .notFound)
        try await workspace.write([1, 2, 3], to: path("a.png"), replacing: hash)
        #expect(try await workspace.content(of: hash) == [0xFF, 0x00, 0x01])
    }

    @Test("concurrent-edits: a write begun by another process is not taken for an external edit")
    func otherProcess() async throws {
        let other = try test.another()
        let change = VersionLine(
            mark: .begun, path: try path("a.md"),
            version: WorkspaceVersion(
                hash: ContentHash(of: "ours".utf8), date: Date().wholeMilliseconds, author: .agent("x"),
                kind: .written))
        try other.archive.begin([change], keeping: [Array("ours".utf8)])
        _ = try workspace.scanner.scan()
        try other.provider.write(Array("ours".utf8), to: path("a.md"), replacing: nil)
        _ = try workspace.scanner.scan()
        // The other process continues after the scan.
        try other.archive.finish([change])
        #expect(try await test.kinds("a.md") == [.written])
        #expect(try test.lastSeen("a.md") == nil)
        #expect(try workspace.scanner.scan().files[path("a.md")]?.isOwn == true)
    }

    @Test("A write over a change begun by another process records that change first")
    func settling() async throws {
        let change = VersionLine(
            mark: .begun, path: try path("a.md"),
            version: WorkspaceVersion(
                hash: ContentHash(of: "one".utf8), date: Date().wholeMilliseconds, author: .agent("x"),
                kind: .written))
        try test.another().archive.begin([change], keeping: [Array("one".utf8)])
        test.files.put("one", at: "a.md")
        try await workspace.write("two", to: path("a.md"), replacing: ContentHash(of: "one".utf8))
        try test.another().archive.finish([change])
        _ = try workspace.scanner.scan()
        #expect(try await test.texts("a.md") == ["one", "two"])
        #expect(try await test.kinds("a.md") == [.written, .written])
    }

    @Test("name-collisions: a name collision is reported once")
    func nameCollisions() async throws {
        test.files.put("a", at: "Notes.md")
        test.files.put("b", at: "notes.md")
        _ = try workspace.scanner.scan()
        _ = try workspace.scanner.scan()
        #expect(workspace.events.takeUndelivered().filter { $0.kind == .nameCollision }.count == 1)
        #expect(try await workspace.status().nameCollisions == [[path("Notes.md"), path("notes.md")]])
    }

    // MARK: Mass deletion guard

    @Test("mass-deletion: while most files are missing, reads throw, and no deletion is recorded")
    func vanished() async throws {
        putTen()
        _ = try workspace.scanner.scan()
        let all = test.files.state.withLock { $0.files }
        test.files.state.withLock { $0.files = [:] }
        var scan = try workspace.scanner.scan()
        #expect(scan.isMassDeletion && scan.isAvailable && scan.missing.count == 10 && scan.files.count == 10)
        #expect(workspace.events.takeUndelivered().map(\.kind) == [.massDeletion])
        #expect(await code { _ = try await workspace.read(path("in/1.md")) } == .unavailable)
        let known = ContentHash(of: "text 1".utf8)
        #expect(await code { try await workspace.write("x", to: path("in/1.md"), replacing: known) } == .unavailable)
        #expect(try await workspace.status().isMassDeletion)
        // The guard also stands in another process, and with a part of the files back.
        test.files.state.withLock { state in state.files = all.filter { $0.key.name < "8" } }
        scan = try test.another().scanner.scan()
        #expect(scan.isMassDeletion && scan.missing.count == 2)
        test.files.state.withLock { $0.files = all }
        scan = try workspace.scanner.scan()
        #expect(!scan.isMassDeletion && scan.missing.isEmpty)
        for number in 0..<10 { #expect(try await test.kinds("in/\(number).md") == [.observed]) }
    }

    @Test("mass-deletion: a missing root records no deletion, and none can be accepted")
    func rootGone() async throws {
        putTen()
        _ = try workspace.scanner.scan()
        test.files.state.withLock { $0.isUnavailable = true }
        let status = try await workspace.status()
        #expect(status.isMassDeletion && !status.isAvailable && status.missing.count == 10)
        #expect(await code { try await workspace.acceptDeletions() } == .unavailable)
        #expect(await code { _ = try await workspace.read(path("in/1.md")) } == .unavailable)
        test.files.state.withLock { $0.isUnavailable = false }
        #expect(try await !workspace.status().isMassDeletion)
        #expect(try await test.kinds("in/1.md") == [.observed])
    }

    @Test("mass-deletion: accepted deletions are recorded, and the files can be restored")
    func accepted() async throws {
        putTen()
        _ = try workspace.scanner.scan()
        test.files.state.withLock { $0.files = [:] }
        _ = try workspace.scanner.scan()
        try await workspace.acceptDeletions()
        #expect(try !workspace.scanner.scan().isMassDeletion)
        #expect(try await test.kinds("in/1.md") == [.observed, .removed])
        #expect(try await workspace.restore(path("in/1.md")).text == "text 1")
    }

    @Test("A few deletions are recorded, and so are many files trashed by Recollect")
    func deletions() async throws {
        putTen()
        _ = try workspace.scanner.scan()
        for number in 0..<3 { test.files.drop("in/\(number).md") }
        #expect(try !workspace.scanner.scan().isMassDeletion)
        #expect(try await test.kinds("in/0.md") == [.observed, .removed])
        for number in 3..<9 {
            try await workspace.trash(path("in/\(number).md"), replacing: ContentHash(of: "text \(number)".utf8))
        }
        #expect(try !workspace.scanner.scan().isMassDeletion)
        #expect(try await test.kinds("in/5.md") == [.observed, .trashed])
    }

    @Test(
        "name-collisions: of two folders with one name in different forms, one is read, and no file counts as deleted",
        .enabled(if: keepsForms, "the file system ignores Unicode normalization"))
    func twoFormsOfAFolder() async throws {
        let synced = try SyncedWorkspace()
        for number in 0..<3 { try synced.put("text \(number)", at: "Cafe\u{301}/\(number).md") }
        for number in 0..<3 { try synced.put("other", at: "\(number).md") }
        _ = try await synced.workspace.status()
        try synced.put("new", at: "Caf\u{E9}/new.md")
        let status = try await synced.workspace.status()
        #expect(try status.nameCollisions == [[path("Café"), path("Café")]])
        #expect(status.ignored.map { $0.utf8.count } == ["Cafe\u{301}".utf8.count])
        #expect(status.missing.isEmpty)
        #expect(try await synced.workspace.trashed().isEmpty)
        #expect(try await synced.workspace.read(path("Café/new.md")).text == "new")
        // Once one folder has all files, everything is there.
        for name in ["0.md", "1.md", "2.md"] { try synced.move("Cafe\u{301}/\(name)", to: "Caf\u{E9}/\(name)") }
        try synced.remove("Cafe\u{301}")
        let repaired = try await synced.workspace.status()
        #expect(repaired.nameCollisions.isEmpty && repaired.ignoredCount == 0 && repaired.fileCount == 7)
        #expect(try await synced.workspace.versions(of: path("Café/0.md")).map(\.kind) == [.observed])
    }
}
