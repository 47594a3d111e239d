import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Recovery after crashes") struct RecoveryTests {
    private let folder: TestFolder
    private let now = Date()
    private var state: URL { folder.url.appendingPathComponent("state") }

    init() throws {
        folder = try TestFolder()
    }

    /// Opens the workspace with a fixed clock: a second later, another write would be published.
    private func open() throws -> SharedWorkspace {
        var configuration = WorkspaceConfiguration(stateURL: state)
        configuration.now = { [now] in now }
        return try SharedWorkspace(root: folder.root, configuration: configuration)
    }

    private func text(_ hash: ContentHash, _ workspace: SharedWorkspace) async throws -> String {
        String(decoding: try await workspace.content(of: hash), as: UTF8.self)
    }

    @Test("Recovery of an intact workspace finds nothing and changes nothing")
    func whole() async throws {
        let workspace = try open()
        let file = try await workspace.write("one", to: path("a.md"), replacing: nil)
        try await workspace.write("two", to: path("a.md"), replacing: file.version)
        let log = try Data(contentsOf: state.appendingPathComponent("log"))
        #expect(try await workspace.recover() == WorkspaceRecovery())
        #expect(try Data(contentsOf: state.appendingPathComponent("log")) == log)
        #expect(try await workspace.list().map(\.path.description) == ["a.md"])
    }

    @Test("Without the log, contents are again versions of the files named by the lineage, else in the trash")
    func lostLog() async throws {
        let workspace = try open()
        let one = try await workspace.write("one", to: path("a.md"), replacing: nil)
        let two = try await workspace.write("two", to: path("a.md"), replacing: one.version, by: .agent("scribe"))
        let gone = try await workspace.write("gone", to: path("d/b.md"), replacing: nil)
        try await workspace.trash(path("d/b.md"), replacing: gone.version)
        _ = try workspace.scanner.scan()
        // No scan follows these writes, so that no device's lineage names them.
        let three = try await workspace.write("three", to: path("c.md"), replacing: nil)
        try await workspace.trash(path("c.md"), replacing: three.version)
        try Data().write(to: state.appendingPathComponent("log"))

        let recovery = try await open().recover()
        let unnamed = "Recovered/\(three.version.rawValue.prefix(16)).txt"
        #expect(recovery.recoveredFiles.map(\.description) == [unnamed, "a.md", "d/b.md"])
        #expect(
            recovery.damagedLogs.count == 1 && recovery.filesFromLeftovers.isEmpty && recovery.removedLeftovers == 0)
        let after = try open()
        let versions = try await after.versions(of: path("a.md"))
        #expect(versions.map(\.hash) == [two.version, one.version])
        #expect(versions.last?.kind == .written && versions.last?.author == .user)
        #expect(try await after.trashed().map(\.path.description).sorted() == [unnamed, "d/b.md"])
        #expect(try await after.restore(path("d/b.md")).text == "gone")
        #expect(try await after.restore(path(unnamed)).text == "three")
        #expect(try await !after.status().isMassDeletion)
        // Once all contents are named again, old ones can be pruned, and none is found a second time.
        #expect(try await after.recover().recoveredFiles.isEmpty)
        try await after.pruneVersions(olderThan: .distantFuture)
        #expect(try await after.sizes(of: [one.version]).isEmpty)
    }

    @Test("A version written by another device is not attributed to this device's user")
    func othersLines() async throws {
        let other = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("other")))
        let one = try await other.write("one", to: path("a.md"), replacing: nil)
        _ = try other.scanner.scan()
        let mine = try open()
        _ = try mine.scanner.scan()
        try await other.write("two", to: path("a.md"), replacing: one.version)
        _ = try other.scanner.scan()
        try Data().write(to: state.appendingPathComponent("log"))
        #expect(try await mine.recover().recoveredFiles == [path("a.md")])
        let versions = try await mine.versions(of: path("a.md"))
        #expect(versions.map(\.kind) == [.observed, .observed] && versions.map(\.hash).last == one.version)
        #expect(versions.allSatisfy { $0.author == nil })
    }

    @Test("A content archived for a write that never began is found, as text or as binary data")
    func orphan() async throws {
        let workspace = try open()
        try await workspace.write("one", to: path("a.md"), replacing: nil)
        for bytes in [Array("orphan".utf8), [0, 1, 2]] {
            try workspace.archive.locked { folder, _ in
                try ContentStore(in: folder).save([ContentHash(of: bytes): bytes])
            }
        }
        let recovery = try await workspace.recover()
        #expect(recovery.recoveredFiles.count == 2 && recovery.damagedLogs.isEmpty)
        let text = try #require(recovery.recoveredFiles.first { $0.name.hasSuffix(".txt") })
        #expect(try await workspace.restore(text).text == "orphan")
        #expect(try await workspace.restore(recovery.recoveredFiles.first { $0 != text } ?? .root).bytes == [0, 1, 2])
    }

    @Test("Recent leftovers are resolved, too")
    func leftovers() async throws {
        let workspace = try open()
        let one = try await workspace.write("one", to: path("d/a.md"), replacing: nil).version
        try folder.put("one", at: "d/" + TemporaryName.aside(for: "a.md", from: one, to: one))
        try folder.put("half", at: TemporaryName.draft())
        let long = String(repeating: "n", count: 240) + ".md"
        for (text, name) in [("foreign", "a.md"), ("other", long)] {
            try folder.put(text, at: "d/" + TemporaryName.aside(for: name, from: one, to: one))
        }
        let recovery = try await workspace.recover()
        #expect(recovery.filesFromLeftovers.count == 2 && recovery.removedLeftovers == 2)
        let kept = KeptCopyName.name(for: "a.md", holding: ContentHash(of: "foreign".utf8))
        #expect(recovery.filesFromLeftovers.first?.description == "d/" + kept)
        #expect(try folder.names(in: "d").count == 3 && folder.text(at: "d/" + kept) == "foreign")
        let other = try #require(recovery.filesFromLeftovers.last?.name)
        #expect(other.hasPrefix("nnnn") && other.hasSuffix(").md") && other.utf8.count <= 255)
        #expect(try await workspace.versions(of: path("d/" + kept)).map(\.kind) == [.observed])
        #expect(try await workspace.recover() == WorkspaceRecovery())
    }
}
