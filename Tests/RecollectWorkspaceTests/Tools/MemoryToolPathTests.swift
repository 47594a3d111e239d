import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Paths of the memory tool") struct MemoryToolPathTests {
    private let bench: MemoryBench
    private var folder: TestFolder { bench.folder }

    init() throws {
        bench = try MemoryBench()
    }

    @Test("unsafe-names: no path leads out of the folder, in any spelling")
    func escapes() async throws {
        let outside = folder.root.appendingPathComponent("outside.md")
        try folder.put("outside", at: "outside.md")
        try folder.put("above", at: "../above.md")
        let names = [
            "..", "../outside.md", "../../above.md", "./../outside.md", "a/../../outside.md", "a/..", "a/../b.md",
            "//../outside.md",
            "..\\outside.md", "a\\..\\..\\outside.md", "a\\b.md", "%2e%2e/outside.md", "%2E%2E%2Foutside.md",
            "..%2foutside.md", "..%5coutside.md", "%252e%252e%252foutside.md", "%25252e%25252e/outside.md",
            ".%2e/outside.md",
            "%2e/a.md", "a%2f..%2f..%2foutside.md", "a%2fb.md", "％2e％2e/outside.md", "．．/outside.md", "‥/outside.md",
            "․․/outside.md", "..／outside.md", "a／b.md", "..∕outside.md", "..⁄outside.md", "..\u{2060}/outside.md",
            ".\u{200B}./outside.md", ". ./outside.md", ".. /outside.md", " ../outside.md", "..;/outside.md",
            "..\0/outside.md",
            "a\0.md", "a\n../outside.md", "...", ".../outside.md", ".hidden.md", ".git/config", "~", "a/~",
            "C:\\outside.md", "C:/outside.md", "\\\\server\\share", "con.md", "a.tmp", "a\u{202E}dm.md",
            String(repeating: "../", count: 400) + "outside.md", String(repeating: "a/", count: 80) + "b.md",
            String(repeating: "a", count: 300) + ".md", String(repeating: "a\u{301}", count: 100_000),
        ]
        let absolute = [
            "", "/", "outside.md", "../outside.md", outside.path, "/memoriesx/a.md", "/memories.md", "/Memories/a.md",
            "memories/a.md", "/memories\\..\\outside.md", "/memories%2fa.md", "/memories\u{301}/a.md",
            "file:///memories/a.md",
            "~/memories/a.md", "/./memories/a.md", "//memories/a.md", " /memories/a.md", "/memories\0/a.md",
        ]
        for path in (names.map { "/memories/" + $0 } + absolute).map({ JSONValue.string($0) }) {
            for command in ["view", "create", "str_replace", "insert", "delete"] {
                try await bench.fail([
                    "command": .string(command), "path": path, "file_text": "x", "old_str": "outside", "new_str": "x",
                    "insert_line": 0, "insert_text": "x",
                ])
            }
            try await bench.fail(["command": "rename", "old_path": path, "new_path": "/memories/in.md"])
            try await bench.fail(["command": "rename", "old_path": "/memories/in.md", "new_path": path])
        }
        #expect(try folder.names().filter { !$0.hasPrefix(".") } == ["outside.md"])
        #expect(try folder.text(at: "outside.md") == "outside" && folder.text(at: "../above.md") == "above")
    }

    @Test(
        "Names that resemble none of these are ordinary names",
        arguments: [
            "100%.md", "100%25.md", "a½b.md", "a..b.md", "Notes….md", "茶/お茶.md", "e\u{301}.md", "a;b.md", "$HOME.md",
            "a//b.md",
            "./a.md", "a/./b.md", "👩‍💻.md",
        ])
    func ordinary(name: String) async throws {
        try await bench.create("/memories/" + name, "inside\n")
        #expect(try await bench.view("/memories/" + name).hasSuffix(":\n     1\tinside\n     2\t"))
        let items = try await bench.workspace.list(recursively: true).filter { !$0.isFolder }
        #expect(items.count == 1 && items[0].path.names[0] == "Memories")
    }

    @Test("unsafe-names: symbolic links in the folder are neither followed nor listed, replaced nor deleted")
    func links() async throws {
        try folder.put("outside", at: "../outside/a.md")
        try folder.put("elsewhere", at: "other/a.md")
        try await bench.create("/memories/here.md", "here")
        let memories = folder.root.appendingPathComponent("Memories")
        for (name, target) in [
            ("out", "../../outside"), ("out.md", "../../outside/a.md"), ("other", "../other"), ("here", "here.md"),
            ("dangling.md", "nothing.md"), ("self", "."),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: memories.appendingPathComponent(name).path, withDestinationPath: target)
        }
        #expect(try await bench.view("/memories").hasSuffix(":\n4B\t/memories\n4B\t/memories/here.md"))
        for path in [
            "out", "out/a.md", "out/new.md", "out.md", "other/a.md", "here", "dangling.md", "self", "self/here.md",
        ] {
            for command in ["view", "create", "str_replace", "insert", "delete"] {
                try await bench.fail([
                    "command": .string(command), "path": .string("/memories/" + path), "file_text": "x", "old_str": "e",
                    "new_str": "x", "insert_line": 0, "insert_text": "x",
                ])
            }
            let target = JSONValue.string("/memories/" + path)
            try await bench.fail(["command": "rename", "old_path": target, "new_path": "/memories/new.md"])
            try await bench.fail(["command": "rename", "old_path": "/memories/here.md", "new_path": target])
        }
        #expect(try folder.text(at: "../outside/a.md") == "outside" && folder.names(in: "../outside") == ["a.md"])
        #expect(try folder.text(at: "other/a.md") == "elsewhere" && folder.text(at: "Memories/here.md") == "here")
        // A directory with a link is neither deleted nor renamed: the link would be lost, or left behind.
        try folder.put("text", at: "Memories/sub/a.md")
        try FileManager.default.createSymbolicLink(
            atPath: memories.appendingPathComponent("sub/link").path, withDestinationPath: "a.md")
        #expect(try await bench.fail(["command": "delete", "path": "/memories/sub"]).contains("/memories/sub/link"))
        try await bench.fail(["command": "rename", "old_path": "/memories/sub", "new_path": "/memories/new"])
        #expect(try folder.names(in: "Memories/sub").contains("a.md") && !folder.names(in: "Memories").contains("new"))
        // The memory folder itself is a link.
        try FileManager.default.moveItem(at: memories, to: folder.root.appendingPathComponent("moved"))
        try FileManager.default.createSymbolicLink(atPath: memories.path, withDestinationPath: "../outside")
        try await bench.fail(["command": "view", "path": "/memories/a.md"])
        try await bench.fail(["command": "create", "path": "/memories/b.md", "file_text": "x"])
        #expect(try folder.names(in: "../outside") == ["a.md"])
    }
}
