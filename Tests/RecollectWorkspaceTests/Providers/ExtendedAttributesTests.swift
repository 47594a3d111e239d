import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Metadata that other programs store with a file, for example tags and comments.
@Suite(
    "Extended attributes of written files", .enabled(if: keepsAttributes, "the file system has no extended attributes"))
struct ExtendedAttributesTests {
    private let folder: TestFolder
    private let provider: FolderProvider
    private var url: URL { folder.root.appendingPathComponent("a.md") }

    init() throws {
        folder = try TestFolder()
        provider = try FolderProvider(root: folder.root)
        try folder.put("one", at: "a.md")
    }

    @Test("Repeated writes preserve extended attributes and permissions")
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

    @Test("Writing a read-only file preserves its attributes and permissions")
    func readOnly() throws {
        try setAttributes(["user.tag": "red"], of: url)
        #expect(chmod(url.path, 0o444) == 0)
        try provider.write("two", to: "a.md", replacing: "one")
        #expect(try attributes() == ["user.tag": "red"])
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o444)
    }

    @Test("Appending through the workspace preserves extended attributes")
    func append() async throws {
        try setAttributes(["user.tag": "red"], of: url)
        let state = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))
        let workspace = try SharedWorkspace(root: folder.root, configuration: state)
        try await workspace.append("two", to: WorkspacePath("a.md"))
        #expect(try attributes() == ["user.tag": "red"] && folder.text(at: "a.md") == "one\ntwo")
    }

    @Test("Attributes that do not fit or belong to the system do not prevent a write", .needs(.tinyDisk))
    func left() throws {
        try setAttributes(["user.tag": "red", "trusted.mark": "system"], of: url)
        try provider.write("two", to: "a.md", replacing: "one")
        #expect(try attributes() == ["user.tag": "red"])
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 64)
        let full = try FolderProvider(root: disk.url)
        try full.write("one", to: "a.md", replacing: nil)
        let file = disk.url.appendingPathComponent("a.md")
        // The file system stores attributes in the same few kilobytes as contents.
        try setAttributes(["user.large": String(repeating: "x", count: 40_000)], of: file)
        try full.write("two", to: "a.md", replacing: "one")
        #expect(try full.text("a.md") == "two")
    }

    private func attributes() throws -> [String: String] {
        try RecollectWorkspaceTests.attributes(of: url)
    }
}

/// Whether the file system of the tests supports user attributes.
let keepsAttributes: Bool = {
    guard let folder = try? TestFolder(), (try? folder.put("x", at: "a")) != nil else { return false }
    let url = folder.root.appendingPathComponent("a")
    try? setAttributes(["user.tag": "red"], of: url)
    return (try? attributes(of: url)) == ["user.tag": "red"]
}()
