import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// File metadata: permissions, owner, extended attributes, and modification date.
@Suite("File metadata") struct FileDetailsTests {
    private let folder: TestFolder
    private let workspace: SharedWorkspace

    init() throws {
        folder = try TestFolder()
        workspace = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
    }

    private func url(_ name: String) -> URL { folder.root.appendingPathComponent(name) }

    private func made(_ name: String) throws {
        try folder.put("text", at: name)
        try setAttributes(["user.tag": "red"], of: url(name))
        #expect(chmod(url(name).path, 0o755) == 0)
        try FileManager.default.setAttributes([.modificationDate: Self.date], ofItemAtPath: url(name).path)
    }

    private static let date = Date(timeIntervalSince1970: 1_500_000_000)

    private func status(_ name: String) throws -> stat {
        var status = stat()
        guard stat(url(name).path, &status) == 0 else { throw POSIXFailure.last }
        return status
    }

    private func mode(_ name: String) throws -> mode_t { try status(name).st_mode & 0o7777 }

    private func tags(_ name: String) throws -> [String: String] { try attributes(of: url(name)) }

    @Test(
        "Moving a file preserves its metadata",
        .enabled(if: keepsAttributes, "the file system has no extended attributes"))
    func moved() async throws {
        try made("a.md")
        try await workspace.move(path("a.md"), to: path("folder/b.md"))
        #expect(try mode("folder/b.md") == 0o755 && tags("folder/b.md") == ["user.tag": "red"])
        let date = try FileManager.default.attributesOfItem(atPath: url("folder/b.md").path)[.modificationDate]
        #expect(date as? Date == Self.date)
        #expect(try workspace.scanner.scan().files.keys.map(\.description) == ["folder/b.md"])
    }

    @Test(
        "Restoring a file restores its metadata, and a new file under its name gets none of it",
        .enabled(if: keepsAttributes, "the file system has no extended attributes"))
    func restored() async throws {
        try made("a.md")
        let file = try await workspace.read(path("a.md"))
        try await workspace.trash(path("a.md"), replacing: file.version)
        try await workspace.restore(path("a.md"))
        #expect(try mode("a.md") == 0o755 && tags("a.md") == ["user.tag": "red"])
        try await workspace.trash(path("a.md"), replacing: file.version)
        try await workspace.write("another", to: path("a.md"), replacing: nil)
        #expect(try mode("a.md") == 0o600 && tags("a.md") == [:])
    }

    @Test(
        "A kept copy has the metadata of its file",
        .enabled(if: keepsAttributes, "the file system has no extended attributes"))
    func kept() async throws {
        try made("a.bin")
        try folder.put("other", at: "a.sync-conflict-20261121-101112-ABCDEFG.bin")
        let kept = try #require(try await workspace.resolveConflicts().first?.kept.first?.name)
        #expect(try mode(kept) == 0o755 && tags(kept) == ["user.tag": "red"])
        #expect(try mode("a.bin") == 0o755 && tags("a.bin") == ["user.tag": "red"])
    }

    @Test("A file owned by another user keeps its owner", .enabled(if: geteuid() == 0, "needs root"))
    func owner() async throws {
        try folder.put("text", at: "a.md")
        #expect(chown(url("a.md").path, 1234, 2345) == 0 && chmod(url("a.md").path, 0o600) == 0)
        try await workspace.append("more", to: path("a.md"))
        #expect(try status("a.md").st_uid == 1234 && status("a.md").st_gid == 2345 && mode("a.md") == 0o600)
        try await workspace.move(path("a.md"), to: path("b.md"))
        #expect(try status("b.md").st_uid == 1234 && status("b.md").st_gid == 2345 && mode("b.md") == 0o600)
    }

    @Test("Text is not appended to a file in another encoding")
    func encodings() async throws {
        for bytes: [UInt8] in [[0xFF, 0xFE, 0x61, 0], [0x61, 0, 0x62, 0], [0x61, 0xE9]] {
            try Data(bytes).write(to: url("a.txt"))
            #expect(await code { try await workspace.append("x", to: path("a.txt")) } == .unreadable)
            #expect(try Data(contentsOf: url("a.txt")) == Data(bytes))
        }
    }

    @Test("Reading a pipe or a folder throws an error that names the kind")
    func pipe() async throws {
        #expect(mkfifo(url("p.md").path, 0o600) == 0)
        try FileManager.default.createDirectory(at: url("f.md"), withIntermediateDirectories: false)
        for (name, words) in [("p.md", "pipe"), ("f.md", "is a folder")] {
            do {
                _ = try await workspace.read(path(name))
                Issue.record("\(name) was read")
            } catch let error as RecollectError {
                #expect(error.code == .foreignStore && error.message.contains(words), "\(error)")
            }
        }
    }
}
