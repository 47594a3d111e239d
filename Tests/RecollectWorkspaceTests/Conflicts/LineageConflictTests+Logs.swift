import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// The lineage log itself, and folders emptied or replaced together with it.
extension LineageConflictTests {
    @Test("A write is logged without a scan, and a folder that replaces the workspace gets no log")
    func writeWithoutScan() async throws {
        let written = try await here.workspace.write("one\n", to: path, replacing: nil)
        func lines() throws -> [VersionLine] {
            try here.workspace.provider.lineageFiles().compactMap { LineageSegment($0.bytes) }.flatMap(\.lines)
        }
        #expect(try lines().map(\.version.hash) == [written.version])
        // Another write within the same second is published by the next scan or a later write.
        let second = try await here.workspace.write("two\n", to: path, replacing: written.version)
        #expect(try lines().count == 1)
        pass(on: here)
        let third = try await here.workspace.write("three\n", to: path, replacing: second.version)
        #expect(try lines().map(\.version.hash) == [written, second, third].map(\.version))
        let root = here.workspace.rootURL
        try FileManager.default.moveItem(at: root, to: here.folder.url.appendingPathComponent("elsewhere"))
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        pass(on: here)
        _ = try await here.workspace.pruneVersions(olderThan: here.now.withLock { $0 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
    }

    @Test("A new process continues the lineage log, which is bounded and drops its oldest lines first", .needs(.time))
    func bounded() async throws {
        var text = "start\n"
        for number in 0..<400 {
            text += "\(number)\n"
            try await here.putAndScan(text, at: "notes.md")
        }
        let files = try here.workspace.provider.lineageFiles()
        #expect(files.count >= 4 && files.allSatisfy { $0.bytes.count < 20_000 })
        let segments = files.compactMap { LineageSegment($0.bytes) }.sorted { $0.number < $1.number }
        #expect(segments.map(\.number) == Array(0..<files.count) && Set(segments.map(\.device)).count == 1)
        #expect(segments.flatMap(\.lines).count == 399)
        let again = try SharedWorkspace(root: here.folder.root, configuration: here.workspace.configuration)
        try here.put("end\n", at: "notes.md")
        _ = try await again.status()
        let last = try again.provider.lineageFiles().compactMap { LineageSegment($0.bytes) }.flatMap(\.lines)
        #expect(last.count == 400 && last.contains { $0.version.hash == ContentHash(of: "end\n".utf8) })
    }

    @Test("A state folder copied to another device gets a log of its own")
    func copiedState() async throws {
        for text in ["one\n", "two\n"] { try await here.putAndScan(text, at: "notes.md") }
        let state = try #require(here.workspace.configuration.stateURL)
        let copied = there.folder.url.appendingPathComponent("copied")
        try FileManager.default.copyItem(at: state, to: copied)
        try there.put("two\n", at: "notes.md")
        try there.takeLineage(of: here)
        var configuration = here.workspace.configuration
        configuration.stateURL = copied
        let clone = try SharedWorkspace(root: there.folder.root, configuration: configuration)
        _ = try await clone.status()
        try await here.putAndScan("three here\n", at: "notes.md")
        try there.takeLineage(of: here)
        try there.put("three there\n", at: "notes.md")
        _ = try await clone.status()
        let devices = try clone.provider.lineageFiles().compactMap { LineageSegment($0.bytes)?.device }
        #expect(Set(devices).count == 2)
        #expect(
            try clone.provider.lineageFiles().contains { file in
                try here.workspace.provider.lineageFiles().contains(file)
            })
    }

    @Test("mass-deletion: if all files and logs are missing, nothing is written, and nothing counts as deleted")
    func unmounted() async throws {
        for text in ["one\n", "two\n", "three\n"] { try await here.putAndScan(text, at: "notes.md") }
        let (root, aside) = (here.folder.root, here.folder.url.appendingPathComponent("aside"))
        try FileManager.default.moveItem(at: root, to: aside)
        let mountPoint = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        #expect(await code { try await mountPoint.append("x", to: path) } == .unavailable)
        #expect(
            await code { try await mountPoint.write("x", to: WorkspacePath("new.md"), replacing: nil) } == .unavailable)
        #expect(try await mountPoint.status().missing == [path])
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
        try FileManager.default.removeItem(at: root)
        try FileManager.default.moveItem(at: aside, to: root)
        let back = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        #expect(try await back.append("x", to: path).text == "three\nx")
        try await back.write("y", to: WorkspacePath("new.md"), replacing: nil)
    }

    @Test("mass-deletion: a folder emptied with its logs counts as unmounted")
    func emptied() async throws {
        for line in ["one\n", "two\n", "three\n"] {
            try await here.workspace.append(line, to: path)
            _ = try await here.workspace.status()
        }
        for name in ["notes.md", ".recollect"] { try here.remove(name) }
        #expect(await code { try await here.workspace.append("x", to: path) } == .unavailable)
        #expect(try await here.workspace.status().missing == [path])
    }

    @Test("mass-deletion: no file is created in a folder that replaced the root", arguments: [1, 3], [false, true])
    func replacedRoot(count: Int, isWritten: Bool) async throws {
        let paths = try (0..<count).map { try WorkspacePath("\($0).md") }
        for path in paths {
            if isWritten {
                try await here.workspace.write("text", to: path, replacing: nil)
            } else {
                try Data("text".utf8).write(to: here.folder.root.appendingPathComponent("\(path)"))
            }
        }
        if !isWritten { _ = try await here.workspace.status() }
        let (root, aside) = (here.folder.root, here.folder.url.appendingPathComponent("aside"))
        try FileManager.default.moveItem(at: root, to: aside)
        let mountPoint = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        for path in [try WorkspacePath("new.md"), paths[0]] {
            #expect(await code { try await mountPoint.append("x", to: path) } == .unavailable)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
        try FileManager.default.removeItem(at: root)
        // A copy of the folder is the workspace, too.
        try FileManager.default.copyItem(at: aside, to: root)
        let back = try SharedWorkspace(root: root, configuration: here.workspace.configuration)
        #expect(try await back.append("x", to: paths[0]).text == "text\nx")
        try await back.write("y", to: WorkspacePath("new.md"), replacing: nil)
        // Deletions in the same folder are no reason to refuse writes.
        for path in try paths + [WorkspacePath("new.md")] {
            try FileManager.default.removeItem(at: root.appendingPathComponent("\(path)"))
            _ = try await back.status()
        }
        try await back.write("z", to: paths[0], replacing: nil)
    }

    @Test("A removed lineage folder is created again, and no file counts as missing")
    func removed() async throws {
        for text in ["one\n", "two\n", "three\n"] { try await here.putAndScan(text, at: "notes.md") }
        try FileManager.default.removeItem(at: here.folder.root.appendingPathComponent(LineageFile.folderName))
        try await here.putAndScan("four\n", at: "notes.md")
        #expect(try await here.workspace.status().missing.isEmpty)
        #expect(try here.workspace.provider.lineageFiles().count == 1)
        try await here.workspace.write("new", to: WorkspacePath("new.md"), replacing: nil)
    }

    @Test("The lineage folder is not part of the workspace")
    func hidden() async throws {
        for text in ["one\n", "two\n"] { try await here.putAndScan(text, at: "notes.md") }
        #expect(try !here.workspace.provider.lineageFiles().isEmpty)
        #expect(try await here.workspace.list(recursively: true).map(\.path.description) == ["notes.md"])
        #expect(try await here.workspace.status().ignoredCount == 0)
    }
}
