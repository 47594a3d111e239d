import Foundation
import RecollectCore
import RecollectWorkspace
import Testing

/// The published samples of the workspace, run through the public API.
@Suite("Published workspace samples") struct PageTests {
    private let folder: RemovedFolder
    private let workspace: SharedWorkspace

    init() throws {
        folder = try RemovedFolder()
        workspace = try SharedWorkspace(
            root: folder.url.appendingPathComponent("root"),
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
    }

    @Test("The samples' calls compile and have the documented results")
    func calls() throws {
        let workspace: SharedWorkspace = workspace
        let root: URL = workspace.rootURL
        #expect(workspace.researchPath(for: "moby-dick") == root.appendingPathComponent("Research/moby-dick"))
        #expect(workspace.journalPath() == root.appendingPathComponent("Journal"))
        let day = workspace.journalPath().appendingPathComponent("user/2025-01-15.md")
        try workspace.writeFile("Read for an hour.", to: day)
        #expect(try workspace.readFile(at: day) == "Read for an hour.")
        #expect(try String(contentsOf: day, encoding: .utf8) == "Read for an hour.")
        try workspace.writeFile("Read for two hours.", to: day)
        let text = workspace.researchPath(for: "moby-dick").appendingPathComponent("full_text.txt")
        try workspace.writeFile("Call me Ishmael.", to: text)
        #expect(try workspace.readFile(at: text) == "Call me Ishmael.")
        _ = workspace.iCloudDocumentsURL() as URL?
        _ = FileNotYetAvailableError()
    }

    @Test("A write throws its error, and overwrites no content that was not read here")
    func unseen() async throws {
        let file = workspace.rootURL.appendingPathComponent("context.md")
        try Data("theirs".utf8).write(to: file)
        #expect(await changed { try workspace.writeFile("mine", to: file) }?.current?.text == "theirs")
        _ = try workspace.readFile(at: file)
        try Data("theirs, later".utf8).write(to: file)
        #expect(await changed { try workspace.writeFile("mine", to: file) }?.current?.text == "theirs, later")
        #expect(await changed { try workspace.writeFile("mine", to: file) }?.current?.text == "theirs, later")
        _ = try workspace.readFile(at: file)
        try workspace.writeFile("mine", to: file)
        try workspace.writeFile("mine again", to: file)
        try FileManager.default.removeItem(at: file)
        let gone = await changed { try workspace.writeFile("mine once more", to: file) }
        #expect(gone != nil && gone?.current == nil)
        // Reading it again, as the error says, shows that there is nothing to overwrite.
        #expect(throws: RecollectError.self) { try workspace.readFile(at: file) }
        try workspace.writeFile("mine once more", to: file)
        #expect(try workspace.readFile(at: file) == "mine once more")
    }

    @Test("Error messages name the problem and contain no file contents")
    func words() throws {
        let current = WorkspaceFile(path: try WorkspacePath("context.md"), bytes: Array("theirs".utf8))
        let errors: [(any Error, String)] = [
            (FileChangedError(path: current.path, current: current), current.version.rawValue),
            (FileChangedError(path: current.path, current: nil), "context.md was not written: it no longer exists"),
            (FileNotYetAvailableError(url: URL(fileURLWithPath: "/a/context.md")), "context.md is not on this device"),
            (FileNotYetAvailableError(), "The file is not on this device"),
            (ContentMismatchError(current: current.bytes), "expected content"),
        ]
        for (error, words) in errors {
            #expect("\(error)".contains(words) && !"\(error)".contains("theirs") && !"\(error)".contains("116"))
            #expect(error is ContentMismatchError || error.localizedDescription == "\(error)")
        }
    }

    @Test("A placeholder is not local, under its own name and under its file's name")
    func placeholder() async throws {
        let placeholder = workspace.rootURL.appendingPathComponent(".context.md.icloud")
        try Data().write(to: placeholder)
        for url in [placeholder, workspace.rootURL.appendingPathComponent("context.md")] {
            #expect(throws: FileNotYetAvailableError.self) { try workspace.readFile(at: url) }
            #expect(await code { try workspace.writeFile("x", to: url) } == .notLocal)
        }
    }

    @Test("URLs outside the root, of the root itself, and of files that are not text are refused")
    func outside() async throws {
        let root = workspace.rootURL
        for url in [
            root, root.deletingLastPathComponent(), root.appendingPathComponent("../state/log"),
            root.deletingLastPathComponent().appendingPathComponent("root2/a.md"), URL(fileURLWithPath: "/etc/passwd"),
            root.appendingPathComponent("a/../../b"), root.appendingPathComponent(".hidden"),
        ] {
            #expect(await code { _ = try workspace.readFile(at: url) } == .invalidArgument, "\(url)")
            #expect(await code { try workspace.writeFile("x", to: url) } == .invalidArgument, "\(url)")
        }
        #expect(
            await code { _ = try workspace.readFile(at: #require(URL(string: "https://example.com/a"))) }
                == .invalidArgument)
        #expect(await code { _ = try workspace.readFile(at: root.appendingPathComponent("none.md")) } == .notFound)
        try Data([0xFF, 0xFE]).write(to: root.appendingPathComponent("a.bin"))
        #expect(await code { _ = try workspace.readFile(at: root.appendingPathComponent("a.bin")) } == .unreadable)
    }
}

/// A temporary folder for one test.
private final class RemovedFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
