import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// Changes that a killed writer began and did not make. They explain nothing that happens later.
@Suite("Changes begun by killed writers") struct KilledChangeTests {
    private let now = Locked(Date(millisecondsSince1970: 1_750_000_000_000))
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        let now = now
        test = try TestWorkspace { $0.now = { now.withLock { $0 } } }
    }

    /// Records a change as begun.
    private func begin(
        _ kind: WorkspaceVersion.Kind, _ text: String, at name: String, from parent: ContentHash? = nil,
        other: String? = nil
    ) throws {
        let version = WorkspaceVersion(
            hash: ContentHash(of: text.utf8), date: workspace.configuration.now().wholeMilliseconds,
            author: .agent("x"),
            kind: kind, parents: [parent].compactMap { $0 }, otherPath: try other.map(path))
        _ = try workspace.archive.begin(
            [VersionLine(mark: .begun, path: path(name), version: version)], keeping: [Array(text.utf8)])
    }

    @Test("A file removed weeks after a killed removal is in the trash, as removed then", arguments: [true, false])
    func oldRemoval(isMove: Bool) async throws {
        try await workspace.write("text", to: path("a.md"), replacing: nil)
        if isMove {
            try begin(.moved, "text", at: "b.md", other: "a.md")
            try begin(.movedAway, "text", at: "a.md", other: "b.md")
        } else {
            try begin(.trashed, "text", at: "a.md")
        }
        now.withLock { $0 += 40 * 86_400 }
        test.files.drop("a.md")
        _ = try workspace.scanner.scan()
        let trashed = try #require(try await workspace.trashed().first)
        #expect(trashed.removal.kind == .removed && trashed.removal.date == now.withLock { $0 })
        try await workspace.pruneVersions(olderThan: now.withLock { $0 } - 30 * 86_400)
        #expect(try await workspace.restore(path("a.md")).text == "text")
    }

    @Test("A text that another program saves weeks after a killed write of it is dated by its scan")
    func oldWrite() async throws {
        let base = try await workspace.write("- [ ] box", to: path("a.md"), replacing: nil)
        try begin(.written, "- [x] box", at: "a.md", from: base.version)
        now.withLock { $0 += 40 * 86_400 }
        for text in ["- [x] box", "later"] {
            test.files.put(text, at: "a.md")
            _ = try workspace.scanner.scan()
        }
        try await workspace.pruneVersions(olderThan: now.withLock { $0 } - 30 * 86_400)
        #expect(try await test.texts("a.md") == ["- [ ] box", "- [x] box", "later"])
    }

    @Test(
        "Pruning keeps the text of a write not recorded as done until its replacement is old", arguments: [true, false])
    func unrecordedWrite(isScanned: Bool) async throws {
        let base = try await workspace.write("first", to: path("a.md"), replacing: nil)
        try begin(.written, "second", at: "a.md", from: base.version)
        try begin(.written, "new", at: "b.md")
        func replace() throws {
            test.files.put("third", at: "a.md")
            test.files.put("third", at: "b.md")
            _ = try workspace.scanner.scan()
        }
        test.files.put("second", at: "a.md")
        test.files.put("new", at: "b.md")
        now.withLock { $0 += 3 * 86_400 }
        if isScanned { try replace() }
        try await workspace.pruneVersions(olderThan: now.withLock { $0 } - 86_400)
        if !isScanned { try replace() }
        #expect(try await test.texts("a.md") == ["first", "second", "third"])
        #expect(try await test.texts("b.md") == ["new", "third"])
        now.withLock { $0 += 86_400 }
        test.files.put("fourth", at: "a.md")
        _ = try workspace.scanner.scan()
        try await workspace.pruneVersions(olderThan: now.withLock { $0 })
        #expect(try await test.texts("a.md") == ["third", "fourth"])
    }

    @Test("A file removed soon after a killed move that made no new file is in the trash", arguments: [true, false])
    func killedMove(isTargetThere: Bool) async throws {
        try await workspace.write("text", to: path("a.md"), replacing: nil)
        try begin(.moved, "text", at: "b.md", other: "a.md")
        try begin(.movedAway, "text", at: "a.md", other: "b.md")
        _ = try workspace.scanner.scan()
        if isTargetThere { test.files.put("another text", at: "b.md") }
        test.files.drop("a.md")
        _ = try workspace.scanner.scan()
        #expect(try await workspace.trashed().map(\.path) == [path("a.md")])
    }

    @Test("A text put back after a killed writer's text was replaced is the file's newest version")
    func putBack() async throws {
        let base = try await workspace.write("base\n", to: path("a.md"), replacing: nil)
        try begin(.written, "base\none\n", at: "a.md", from: base.version)
        now.withLock { $0 += 1 }
        let one = try await workspace.write("base\none\n", to: path("a.md"), replacing: base.version)
        try await workspace.write("base\none\ntwo\n", to: path("a.md"), replacing: one.version)
        test.files.put("base\none\n", at: "a.md")
        _ = try workspace.scanner.scan()
        test.files.drop("a.md")
        _ = try workspace.scanner.scan()
        #expect(try await workspace.restore(path("a.md")).text == "base\none\n")
        #expect(try await workspace.versions(of: path("a.md")).contains { $0.author == nil && $0.hash == one.version })
    }

    @Test("A replaced text saved by another program has a version, although another writer records a change meanwhile")
    func recordedMeanwhile() async throws {
        let other = try test.another()
        let file = try path("a.md")
        try await workspace.write("first", to: file, replacing: nil)
        test.files.put("saved", at: "a.md")
        let refused = VersionLine(
            mark: .withdrawn, path: file,
            version: WorkspaceVersion(
                hash: ContentHash(of: "refused".utf8), date: Date().wholeMilliseconds, author: .user, kind: .written))
        test.files.state.withLock { $0.beforeRead[file] = { try? other.archive.withdraw([refused]) } }
        try await workspace.write("next", to: file, replacing: ContentHash(of: "saved".utf8))
        #expect(try await test.texts("a.md") == ["first", "saved", "next"])
    }
}
