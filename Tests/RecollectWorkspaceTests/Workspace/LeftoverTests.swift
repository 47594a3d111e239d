import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Temporary files left by killed writers. Such a file may be the only copy of text saved by an editor.
@Suite("Leftovers of killed writers") struct LeftoverTests {
    private let folder: TestFolder
    private var state: URL { folder.url.appendingPathComponent("state") }

    init() throws {
        folder = try TestFolder()
    }

    /// The workspace two hours later, when no current writer is running any more.
    private func later() throws -> SharedWorkspace {
        var configuration = WorkspaceConfiguration(stateURL: state)
        configuration.now = { Date().addingTimeInterval(7_200) }
        return try SharedWorkspace(
            provider: FolderProvider(root: folder.root, now: configuration.now), configuration: configuration)
    }

    private func temporaryNames() throws -> [String] {
        try folder.names().filter { $0.hasPrefix(".syncthing.") }
    }

    /// The texts of all files in the root, except the lineage.
    private func texts() throws -> [String: String] {
        let names = try folder.names().filter { $0 != ".recollect" }
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try folder.text(at: $0)) })
    }

    /// Leaves the temporary file of a killed writer.
    /// - Parameters:
    ///   - text: The text that the file had when the names were exchanged.
    ///   - old: The text that the writer was to replace.
    ///   - new: The text that the writer was to write.
    private func putAside(_ text: String, of name: String, from old: String, to new: String) throws {
        let (old, new) = (ContentHash(of: old.utf8), ContentHash(of: new.utf8))
        try folder.put(text, at: TemporaryName.aside(for: name, from: old, to: new))
    }

    private func kept(_ text: String, of name: String) -> String {
        KeptCopyName.name(for: name, holding: ContentHash(of: text.utf8))
    }

    /// Runs a worker that writes `a.md` and moves it to `b.md`, and kills it when it is about to remove a temporary
    /// file: the first one, of the write, or the second one, of the move.
    /// - Returns: The name of the temporary file that it left.
    private func kill(atRemoval number: Int) async throws -> String {
        try folder.put("first", at: "a.md")
        let worker = try Worker(
            ["workspace", "life", folder.root.path, state.path, "1"],
            under: [
                try #require(strace), "-f", "-qq", "-o", "/dev/null", "-P", folder.root.path, "-e", "trace=unlinkat",
                "-e",
                "inject=unlinkat:signal=KILL:when=\(number)",
            ])
        _ = await worker.finish()
        #expect(!worker.endedWell)
        let names = try temporaryNames()
        #expect(names.count == 1, "\(names)")
        return try #require(names.first)
    }

    @Test(
        "A leftover with an unknown text becomes a file beside the original",
        .needs(.strace), arguments: [1, 2])
    func unseen(removal: Int) async throws {
        let name = try await kill(atRemoval: removal)
        // An editor saved just before the names were exchanged, so that the leftover has the editor's text.
        try Data("foreign".utf8).write(to: folder.root.appendingPathComponent(name))
        let workspace = try later()
        _ = try workspace.scanner.scan()
        try await workspace.write("next", to: path("z.md"), replacing: nil)
        #expect(try temporaryNames() == [])
        #expect(try texts()[kept("foreign", of: "a.md")] == "foreign")
        #expect(try await workspace.versions(of: path(kept("foreign", of: "a.md"))).map(\.kind) == [.observed])
    }

    @Test(
        "A leftover with a text archived for its file is removed", .needs(.strace), arguments: [1, 2])
    func known(removal: Int) async throws {
        _ = try await kill(atRemoval: removal)
        let workspace = try later()
        _ = try workspace.scanner.scan()
        #expect(try texts() == [removal == 1 ? "a.md" : "b.md": "life 0"])
    }

    @Test("The first scan of a workspace settles recent leftovers, unless a writer is active")
    func recent() throws {
        try folder.put("now", at: "a.md")
        try putAside("foreign", of: "a.md", from: "now", to: "new")
        let name = try #require(temporaryNames().first)
        let open = { try SharedWorkspace(root: folder.root, configuration: WorkspaceConfiguration(stateURL: state)) }
        var writer = try FolderProvider(root: folder.root).folder(at: .root)
        #expect(try writer?.lockAgainstWriters(maxWait: .zero) == true)
        _ = try open().scanner.scan()
        #expect(try temporaryNames() == [name])
        writer = nil
        // A process that another test is starting has a copy of the lock for a moment.
        for _ in 0..<100 where try temporaryNames() == [name] {
            _ = try open().scanner.scan()
            usleep(50_000)
        }
        #expect(try texts() == ["a.md": "now", kept("foreign", of: "a.md"): "foreign"])
    }

    @Test("A leftover with a text archived only for another file becomes a file")
    func anotherFile() async throws {
        try await later().write("template", to: path("b.md"), replacing: nil)
        try folder.put("now", at: "a.md")
        try putAside("template", of: "a.md", from: "now", to: "new")
        _ = try later().scanner.scan()
        #expect(try texts() == ["a.md": "now", "b.md": "template", kept("template", of: "a.md"): "template"])
    }

    @Test(
        "A leftover with a text that another program put back during a killed write becomes a file, whatever was begun before",
        arguments: ["a.md", String(repeating: "n", count: 240) + ".md"])
    func putBack(name: String) async throws {
        let workspace = try later()
        let user = try await workspace.write("user", to: path(name), replacing: nil)
        try await workspace.write("agent", to: path(name), replacing: user.version)
        // An earlier writer of the same text was killed.
        let version = WorkspaceVersion(
            hash: user.version, date: Date().wholeMilliseconds, author: .user, kind: .written, parents: [])
        _ = try workspace.archive.begin(
            [VersionLine(mark: .begun, path: path(name), version: version)], keeping: [Array("user".utf8)])
        // The state after the exchange. An editor had saved the first text again just before.
        try folder.put("agent two", at: name)
        try putAside("user", of: name, from: "agent", to: "agent two")
        _ = try later().scanner.scan()
        #expect(try texts().values.sorted() == ["agent two", "user"])
    }

    @Test(
        "A leftover with a text of its killed writer is removed, if the text is archived",
        arguments: ["a.md", String(repeating: "n", count: 240) + ".md"], ["old", "new"])
    func writers(name: String, text: String) async throws {
        let old = try await later().write("old", to: path(name), replacing: nil)
        let new = try await later().write("new", to: path(name), replacing: old.version)
        try await later().write("newest", to: path(name), replacing: new.version)
        try putAside(text, of: name, from: "old", to: "new")
        _ = try later().scanner.scan()
        #expect(try texts() == [name: "newest"])
    }

    @Test(
        "A leftover with the text that its writer was to replace becomes a file, if the archive does not have the text")
    func notArchived() async throws {
        try folder.put("now", at: "a.md")
        try putAside("user", of: "a.md", from: "user", to: "new")
        _ = try later().scanner.scan()
        #expect(try texts() == ["a.md": "now", kept("user", of: "a.md"): "user"])
    }

    @Test("A leftover whose name contains no file name becomes a file")
    func unnamed() async throws {
        try folder.put("foreign", at: ".syncthing.recollect-\(UUID().uuidString).tmp")
        try await later().write("known", to: path("a.md"), replacing: nil)
        _ = try later().scanner.scan()
        #expect(try texts() == ["a.md": "known", kept("foreign", of: "unnamed.txt"): "foreign"])
    }
}
