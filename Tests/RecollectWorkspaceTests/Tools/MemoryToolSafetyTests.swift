import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Changes by others, credentials, and what can be restored.
@Suite("Safety of the memory tool") struct MemoryToolSafetyTests {
    private let bench: MemoryBench
    private var folder: TestFolder { bench.folder }
    private var workspace: SharedWorkspace { bench.workspace }

    init() throws {
        bench = try MemoryBench()
    }

    private func insert(_ text: String, after line: Int64 = 0, at path: String = "/memories/a.md") -> JSONValue {
        ["command": "insert", "path": .string(path), "insert_line": .integer(line), "insert_text": .string(text)]
    }

    private func replace(_ old: String, _ new: String, at path: String = "/memories/a.md") -> JSONValue {
        ["command": "str_replace", "path": .string(path), "old_str": .string(old), "new_str": .string(new)]
    }

    // MARK: Changes by others

    @Test("stale-version: an insertion is refused after a change by another program, until the file is viewed")
    func staleInsertion() async throws {
        try await bench.create("/memories/a.md", "one\ntwo\n")
        try await bench.succeed(insert("zero"))
        try folder.put("the user's\nzero\none\ntwo\n", at: "Memories/a.md")
        let refused = try await bench.fail(insert("after zero", after: 1))
        #expect(refused.hasPrefix("No text was inserted: /memories/a.md has changed since you viewed it"))
        #expect(try folder.text(at: "Memories/a.md") == "the user's\nzero\none\ntwo\n")
        // A replacement shows only a part of the file.
        try await bench.succeed(replace("two", "2"))
        try await bench.fail(insert("after zero", after: 1))
        _ = try await bench.view("/memories/a.md")
        try await bench.succeed(insert("after zero", after: 2))
        #expect(try folder.text(at: "Memories/a.md") == "the user's\nzero\nafter zero\none\n2\n")
    }

    @Test("stale-version: an insertion into a file never viewed in the session is refused")
    func unviewed() async throws {
        try folder.put("one\n", at: "Memories/a.md")
        #expect(try await bench.fail(insert("x")).contains("has not been viewed in this session"))
        let (mine, other) = (
            SessionKey(userId: "ada", sessionId: "1"), SessionKey(userId: "ada", sessionId: "2")
        )
        _ = try await bench.memory.call(["command": "view", "path": "/memories/a.md"], session: mine)
        #expect(try await bench.memory.call(insert("x"), session: other).isError)
        #expect(try await !bench.memory.call(insert("x"), session: mine).isError)
        // The other session knows the first text, and not the one with the insertion.
        _ = try await bench.memory.call(["command": "view", "path": "/memories/a.md"], session: other)
        #expect(try await !bench.memory.call(insert("y"), session: other).isError)
        #expect(try await bench.memory.call(insert("z"), session: mine).isError)
        #expect(try folder.text(at: "Memories/a.md") == "y\nx\none\n")
    }

    @Test("A renamed file stays known, and a deleted one does not")
    func knownAfterMoves() async throws {
        try await bench.create("/memories/sub/a.md", "one\n")
        try await bench.succeed(["command": "rename", "old_path": "/memories/sub", "new_path": "/memories/new"])
        try await bench.succeed(insert("zero", at: "/memories/new/a.md"))
        try await bench.succeed(["command": "delete", "path": "/memories/new/a.md"])
        try folder.put("another\n", at: "Memories/new/a.md")
        #expect(try await bench.fail(insert("x", at: "/memories/new/a.md")).contains("not been viewed"))
    }

    @Test("A replacement starts again if the user saves during it, and keeps what the user saved")
    func replacementDuringSave() async throws {
        let provider = MemoryProvider()
        let state = folder.url.appendingPathComponent("memory-state")
        let workspace = try SharedWorkspace(
            provider: provider, configuration: WorkspaceConfiguration(stateURL: state))
        let tool = MemoryTool(workspace: workspace, agentId: "scribe")
        provider.put("one\ntwo\n", at: "Memories/a.md")
        provider.state.withLock { $0.beforeChange = { provider.put("the user's\none\ntwo\n", at: "Memories/a.md") } }
        let result = try await tool.call(replace("two", "2"))
        #expect(!result.isError && result.content.stringValue?.hasSuffix("     3\t2\n     4\t") == true)
        #expect(try provider.text("Memories/a.md") == "the user's\none\n2\n")
        // The text to replace is gone in the user's version.
        provider.state.withLock { $0.beforeChange = { provider.put("the user's\n", at: "Memories/a.md") } }
        #expect(try await tool.call(replace("one", "1")).isError)
        #expect(try provider.text("Memories/a.md") == "the user's\n")
        provider.state.withLock { $0.beforeChange = { provider.put("new\n", at: "Memories/a.md") } }
        _ = try await tool.call(["command": "view", "path": "/memories/a.md"])
        #expect(try await tool.call(insert("x")).isError)
        #expect(try provider.text("Memories/a.md") == "new\n")
    }

    @Test("A change that may not be durable is reported, and its repetition changes nothing more")
    func unconfirmed() async throws {
        let provider = MemoryProvider()
        let state = folder.url.appendingPathComponent("memory-state")
        let tool = MemoryTool(
            workspace: try SharedWorkspace(
                provider: provider, configuration: WorkspaceConfiguration(stateURL: state)), agentId: "scribe")
        let create: JSONValue = ["command": "create", "path": "/memories/a.md", "file_text": "one\none\ntwo\n"]
        for input in [create, replace("two", "two two"), insert("zero")] {
            provider.state.withLock {
                $0.failureAfterWrite = RecollectError(.inputOutput, "the folder's sync failed")
            }
            let text = try #require(try await tool.call(input).content.stringValue)
            #expect(text.hasPrefix("/memories/a.md was written as version"), "\(text)")
            #expect(try await !tool.call(input).isError)
        }
        #expect(try await tool.call(create).isError)
        #expect(try provider.text("Memories/a.md") == "zero\none\none\ntwo two\n")
        // Another replacement is not a repetition, also if the earlier text would refuse it.
        provider.state.withLock { $0.failureAfterWrite = RecollectError(.inputOutput, "the folder's sync failed") }
        _ = try await tool.call(replace("zero\none\n", ""))
        #expect(try await !tool.call(replace("one", "1")).isError)
        #expect(try provider.text("Memories/a.md") == "1\ntwo two\n")
    }

    @Test("Of two instances creating a file, one succeeds, and the other one is told that it exists")
    func creations() async throws {
        let others = try (0..<4).map { MemoryTool(workspace: try bench.another(), agentId: "agent \($0)") }
        for number in 0..<10 {
            let path = JSONValue.string("/memories/\(number).md")
            let results = try await withThrowingTaskGroup(of: ToolResult.self) { group in
                for (agent, other) in others.enumerated() {
                    group.addTask {
                        try await other.call(["command": "create", "path": path, "file_text": .string("by \(agent)")])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { !$0.isError } == 1)
            #expect(
                results.filter(\.isError).allSatisfy {
                    $0.content == .string("File /memories/\(number).md already exists")
                })
            let file = try await workspace.read(WorkspacePath("Memories/\(number).md"))
            #expect(
                try await workspace.versions(of: file.path).map(\.author) == [.agent("agent \(file.text.suffix(1))")])
        }
    }

    @Test("Two instances replace different words of a file at the same time, and no change is lost")
    func replacements() async throws {
        try await bench.create("/memories/a.md", (0..<40).map { "word\($0).\n" }.joined())
        let others = try (0..<4).map { MemoryTool(workspace: try bench.another(), agentId: "agent \($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (agent, other) in others.enumerated() {
                group.addTask {
                    for number in stride(from: agent, to: 40, by: 4) {
                        let result = try await other.call(replace("word\(number).", "done\(number)."))
                        #expect(!result.isError, "\(result)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try folder.text(at: "Memories/a.md") == (0..<40).map { "done\($0).\n" }.joined())
    }

    // MARK: Credentials

    @Test("Credentials are refused in created, replaced and inserted text, with the model's path and without the text")
    func credentials() async throws {
        let key = "AKIAIOSFODNN7EXAMPLF"
        try await bench.create("/memories/a.md", "one\n")
        for input in [
            ["command": "create", "path": "/memories/b.md", "file_text": .string("key \(key)")],
            replace("one", "key \(key)"), insert("key \(key)"),
        ] as [JSONValue] {
            let text = try await bench.fail(input)
            #expect(text.contains("AWS access key") && text.contains("/memories/") && !text.contains(key), "\(text)")
        }
        #expect(try folder.text(at: "Memories/a.md") == "one\n")
        #expect(try await workspace.list(path("Memories")).map(\.path.name) == ["a.md"])
    }

    // MARK: Versions and trash

    @Test("Each change is a version by the agent, and every earlier text can be restored")
    func versions() async throws {
        try await bench.create("/memories/a.md", "one\n")
        try await bench.succeed(replace("one", "two"))
        try await bench.succeed(insert("zero"))
        try await bench.succeed([
            "command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/sub/b.md",
        ])
        try await bench.succeed(["command": "delete", "path": "/memories/sub"])
        let old = try await workspace.versions(of: path("Memories/a.md"))
        #expect(old.map(\.kind) == [.movedAway, .written, .written, .written])
        let new = try await workspace.versions(of: path("Memories/sub/b.md"))
        #expect(new.map(\.kind) == [.trashed, .moved])
        #expect((old + new).allSatisfy { $0.author == .agent("scribe") })
        #expect(try await workspace.trashed().map(\.path.description) == ["Memories/sub/b.md"])
        #expect(try await workspace.restore(path("Memories/sub/b.md")).text == "zero\ntwo\n")
        let texts = try await old.reversed().asyncMap {
            String(decoding: try await workspace.content(of: $0.hash), as: UTF8.self)
        }
        #expect(texts == ["one\n", "two\n", "zero\ntwo\n", "zero\ntwo\n"])
    }

    @Test("A deleted file that changed since it was viewed is in the trash with the change")
    func deletedChange() async throws {
        try await bench.create("/memories/a.md", "one\n")
        try folder.put("the user's\n", at: "Memories/a.md")
        try await bench.succeed(["command": "delete", "path": "/memories/a.md"])
        #expect(try await workspace.restore(path("Memories/a.md")).text == "the user's\n")
    }

    @Test("Directories are deleted with all levels, and hidden files stay in them")
    func deletedDirectory() async throws {
        for name in ["a.md", "b/c.md", "b/d/e.md"] { try await bench.create("/memories/sub/" + name, name) }
        try await bench.create("/memories/kept/f.md", "f")
        try await bench.succeed(["command": "delete", "path": "/memories/sub"])
        #expect(try !folder.names(in: "Memories").contains("sub"))
        #expect(
            try await workspace.trashed().map(\.path.description).sorted()
                == ["Memories/sub/a.md", "Memories/sub/b/c.md", "Memories/sub/b/d/e.md"])
        try folder.put("", at: "Memories/kept/.app")
        let text = try await bench.succeed(["command": "delete", "path": "/memories/kept"])
        #expect(text.hasPrefix("Successfully deleted /memories/kept\n") && text.contains("remains"))
        #expect(try folder.names(in: "Memories/kept").contains(".app"))
        #expect(try await workspace.trashed().count == 4)
        // An empty directory, left by the deletion of its only file.
        try await bench.create("/memories/empty/a.md", "a")
        try await bench.succeed(["command": "delete", "path": "/memories/empty/a.md"])
        #expect(
            try await bench.fail(["command": "rename", "old_path": "/memories/empty", "new_path": "/memories/x"])
                .hasPrefix("/memories/empty has no files"))
        try await bench.succeed(["command": "delete", "path": "/memories/empty"])
        #expect(try !folder.names(in: "Memories").contains("empty"))
    }

    @Test("A directory is renamed with all levels, and not into itself")
    func renamedDirectory() async throws {
        for name in ["a.md", "b/c.md", "b/d/e.md"] { try await bench.create("/memories/sub/" + name, name) }
        let inside = try await bench.fail([
            "command": "rename", "old_path": "/memories/sub", "new_path": "/memories/sub/b/f",
        ])
        #expect(inside == "Cannot rename /memories/sub to a path inside itself: /memories/sub/b/f")
        try await bench.succeed(["command": "rename", "old_path": "/memories/sub", "new_path": "/memories/x/y"])
        let paths = try await workspace.list(path("Memories"), recursively: true).filter { !$0.isFolder }.map(\.path)
        #expect(paths.map(\.description) == ["a.md", "b/c.md", "b/d/e.md"].map { "Memories/x/y/" + $0 })
        for path in paths { #expect(try await workspace.versions(of: path).map(\.kind) == [.moved]) }
        #expect(try !folder.names(in: "Memories").contains("sub"))
    }

    /// Returns a workspace with the files a, b and c in `Memories/sub`.
    private func threeFiles() throws -> (workspace: SharedWorkspace, provider: MemoryProvider) {
        let provider = MemoryProvider()
        let state = folder.url.appendingPathComponent("memory-state")
        let workspace = try SharedWorkspace(provider: provider, configuration: WorkspaceConfiguration(stateURL: state))
        for name in ["a", "b", "c"] { provider.put(name, at: "Memories/sub/\(name).md") }
        return (workspace, provider)
    }

    @Test("If a file of a directory cannot be moved, the files moved before are moved back")
    func halfRenamed() async throws {
        let (workspace, provider) = try threeFiles()
        let refused = RecollectError(.busy, "/memory/Memories/new/c.md is locked")
        provider.state.withLock { $0.refused[WorkspacePath(checked: ["Memories", "new", "c.md"])] = refused }
        let old = try path("Memories/sub")
        let new = try path("Memories/new")
        let error = await #expect(throws: RecollectError.self) {
            try await workspace.writing { _ = try workspace.writer.moveFolder(old, to: new, by: .user) }
        }
        #expect(
            error?.code == .busy && error?.message.hasPrefix("no file was moved, because Memories/sub/c.md") == true)
        for name in ["a", "b", "c"] {
            #expect(
                try provider.text("Memories/sub/\(name).md") == name && provider.text("Memories/new/\(name).md") == nil)
        }
        // The third change is the write of the second file. From then on, the first file cannot be moved back, either.
        provider.state.withLock { $0.refused = [:] }
        Self.run(atChange: 3, of: provider) {
            provider.state.withLock {
                for name in [["new", "b.md"], ["sub", "a.md"]] {
                    $0.refused[WorkspacePath(checked: ["Memories"] + name)] = refused
                }
            }
        }
        let left = await #expect(throws: RecollectError.self) {
            try await workspace.writing { _ = try workspace.writer.moveFolder(old, to: new, by: .user) }
        }
        #expect(
            left?.code == .conflict && left?.message.contains("could not be moved back: Memories/new/a.md;") == true)
        #expect(try provider.text("Memories/new/a.md") == "a" && provider.text("Memories/sub/a.md") == nil)
        #expect(try provider.text("Memories/sub/b.md") == "b" && provider.text("Memories/sub/c.md") == "c")
    }

    /// Runs work directly before a change of a provider, counted from now.
    private static func run(
        atChange number: Int, of provider: MemoryProvider, _ work: @escaping @Sendable () -> Void
    ) {
        provider.state.withLock {
            $0.beforeChange = { number == 1 ? work() : Self.run(atChange: number - 1, of: provider, work) }
        }
    }

    @Test("If a file of a directory cannot be deleted, the result names it, and the deleted ones are in the trash")
    func halfDeleted() async throws {
        let (workspace, provider) = try threeFiles()
        provider.state.withLock {
            $0.refused[WorkspacePath(checked: ["Memories", "sub", "b.md"])] = RecollectError(.busy, "b.md is locked")
        }
        let sub = try path("Memories/sub")
        let error = await #expect(throws: RecollectError.self) {
            try await workspace.writing { _ = try workspace.writer.trashFolder(sub, by: .user) }
        }
        #expect(error?.message.hasPrefix("1 of the 3 files in Memories/sub were moved to the trash") == true)
        #expect(try await workspace.trashed().map(\.path.name) == ["a.md"])
        #expect(try provider.text("Memories/sub/b.md") == "b" && provider.text("Memories/sub/c.md") == "c")
    }

    @Test("During a mass deletion, nothing is reported as missing, and nothing is created")
    func massDeletion() async throws {
        for name in ["a", "b", "c", "d", "e"] { try await bench.create("/memories/\(name).md", name) }
        _ = try await workspace.status()
        for name in ["a", "b", "c", "d", "e"] {
            try FileManager.default.removeItem(at: folder.root.appendingPathComponent("Memories/\(name).md"))
        }
        _ = try await workspace.status()
        for input in [
            ["command": "view", "path": "/memories/a.md"],
            ["command": "create", "path": "/memories/a.md", "file_text": "x"],
            ["command": "delete", "path": "/memories/a.md"], replace("a", "b"),
        ] as [JSONValue] {
            #expect(try await bench.fail(input).contains("missing"))
        }
    }
}

extension Sequence where Element: Sendable {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
