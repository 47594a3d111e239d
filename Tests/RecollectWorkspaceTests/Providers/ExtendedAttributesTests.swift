import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// What other programs keep beside a file's content, tags and comments for instance.
@Suite("Extended attributes of a file that is written", .enabled(if: keepsAttributes, "the file system keeps none"))
struct ExtendedAttributesTests {
    private let folder: TestFolder
    private let provider: FolderProvider
    private var url: URL { folder.root.appendingPathComponent("a.md") }

    init() throws {
        folder = try TestFolder()
        provider = try FolderProvider(root: folder.root)
        try folder.put("one", at: "a.md")
    }

    @Test("stay with a file that is given new content again and again, and so do its rights")
    func stay() throws {
        var attributes = ["user.tag": "red", "user.comment": String(repeating: "x", count: 2_000)]
        for number in 0..<20 { attributes["user.\(number)"] = "\(number)" }
        try setAttributes(attributes, of: url)
        #expect(chmod(url.path, 0o640) == 0)
        try provider.write("two", to: "a.md", replacing: "one")
        #expect(try self.attributes() == attributes)
        attributes["user.tag"] = "blue"
        try setAttributes(["user.tag": "blue"], of: url)
        try provider.write("three", to: "a.md", replacing: "two")
        #expect(try self.attributes() == attributes && folder.text(at: "a.md") == "three")
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o640)
    }

    @Test("stay also where nobody may write the file")
    func readOnly() throws {
        try setAttributes(["user.tag": "red"], of: url)
        #expect(chmod(url.path, 0o444) == 0)
        try provider.write("two", to: "a.md", replacing: "one")
        #expect(try attributes() == ["user.tag": "red"])
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o444)
    }

    @Test("stay when the workspace appends")
    func append() async throws {
        try setAttributes(["user.tag": "red"], of: url)
        let state = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))
        let workspace = try SharedWorkspace(root: folder.root, configuration: state)
        try await workspace.append("two", to: WorkspacePath("a.md"))
        #expect(try attributes() == ["user.tag": "red"] && folder.text(at: "a.md") == "one\ntwo")
    }

    @Test(
        "that do not fit, or are the system's, keep nobody from writing",
        .needs(.tinyDisk))
    func left() throws {
        try setAttributes(["user.tag": "red", "trusted.mark": "system"], of: url)
        try provider.write("two", to: "a.md", replacing: "one")
        #expect(try attributes() == ["user.tag": "red"])
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 64)
        let full = try FolderProvider(root: disk.url)
        try full.write("one", to: "a.md", replacing: nil)
        let file = disk.url.appendingPathComponent("a.md")
        // The file system takes them from the same few kilobytes as contents.
        try setAttributes(["user.large": String(repeating: "x", count: 40_000)], of: file)
        try full.write("two", to: "a.md", replacing: "one")
        #expect(try full.text("a.md") == "two")
    }

    private func attributes() throws -> [String: String] {
        try RecollectWorkspaceTests.attributes(of: url)
    }
}

/// Whether the file system of the tests keeps attributes of users.
let keepsAttributes: Bool = {
    guard let folder = try? TestFolder(), (try? folder.put("x", at: "a")) != nil else { return false }
    let url = folder.root.appendingPathComponent("a")
    try? setAttributes(["user.tag": "red"], of: url)
    return (try? attributes(of: url)) == ["user.tag": "red"]
}()
