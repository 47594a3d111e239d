import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Memory tool") struct MemoryToolTests {
    @Test("Every command and error has the text of Anthropic's memory tool, byte for byte")
    func contract() async throws {
        let bench = try MemoryBench()
        for (number, step) in MemoryToolSteps.all.enumerated() {
            let result = try await bench.memory.call(step.input)
            let text = try #require(result.content.stringValue)
            #expect(
                text.utf8.elementsEqual(step.text.utf8) && result.isError == step.isError,
                "step \(number): \(step.input.jsonString.prefix(200))\n\(text)\nexpected:\n\(step.text)")
        }
        #expect(MemoryToolSteps.all.count >= 60)
    }

    @Test(
        "The declaration for Anthropic's API has a type and a name only; the schema for other models lists all commands"
    )
    func declarations() throws {
        #expect(MemoryTool.declaration == ["type": "memory_20250818", "name": "memory"])
        let tool = try MemoryBench().memory.tool
        #expect(tool.name == "memory")
        let properties = try #require(tool.inputSchema["properties"]?.objectValue)
        #expect(properties["command"]?["enum"] == ["view", "create", "str_replace", "insert", "delete", "rename"])
        let known = MemoryToolSteps.all.reduce(into: Set<String>()) { $0.formUnion(($1.input.objectValue ?? [:]).keys) }
        #expect(Set(properties.keys) == known)
    }

    @Test("A file of 999,999 lines is shown, and of one more is an error", .needs(.time))
    func lineLimit() async throws {
        let bench = try MemoryBench()
        try await bench.create("/memories/a.md", String(repeating: "\n", count: 999_998))
        #expect(try await bench.view("/memories/a.md").contains("\n     2\t\n"))
        let range: JSONValue = ["command": "view", "path": "/memories/a.md", "view_range": [999_999, -1]]
        #expect(try await bench.succeed(range).hasSuffix(":\n999999\t"))
        try await bench.create("/memories/b.md", String(repeating: "\n", count: 999_999))
        #expect(
            try await bench.fail(["command": "view", "path": "/memories/b.md", "view_range": [1, 2]])
                == "File /memories/b.md exceeds maximum line limit of 999,999 lines.")
    }

    @Test(
        "Sizes have one decimal, unless they are whole",
        arguments: [
            (0, "0B"), (1, "1B"), (1_023, "1023B"), (1_024, "1K"), (1_025, "1.0K"), (1_536, "1.5K"),
            (1_048_575, "1024.0K"),
            (1_048_576, "1M"), (5 << 30, "5G"), (1 << 41, "2048G"),
        ])
    func sizes(size: Int, text: String) {
        #expect(MemoryTool.shown(size) == text)
    }

    @Test("Directories are shown 2 levels deep, sorted by name, without hidden items, also before the first file")
    func listing() async throws {
        let bench = try MemoryBench()
        let heading = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        #expect(try await bench.view("/memories") == heading + "0B\t/memories")
        for name in ["a.md", "a/b.md", "a/c/d.md", "a-b.md", "Z.md", "é.md", ".hidden/x.md", "a/.y.md"] {
            try bench.folder.put("12345", at: "Memories/" + name)
        }
        #expect(
            try await bench.view("/memories/") == heading.replacingOccurrences(of: "memories,", with: "memories/,")
                + """
                30B\t/memories
                5B\t/memories/Z.md
                10B\t/memories/a/
                5B\t/memories/a/b.md
                5B\t/memories/a/c/
                5B\t/memories/a-b.md
                5B\t/memories/a.md
                5B\t/memories/é.md
                """)
    }

    @Test("Long files, long lines and large directories are shown in parts that lead on to the rest")
    func bounds() async throws {
        let bench = try MemoryBench(maxResultBytes: 1_000)
        func shown(_ path: String) async throws -> [String] {
            var lines: [String] = []
            var range: JSONValue = [1, -1]
            for _ in 0..<100 {
                let text = try await bench.succeed(
                    ["command": "view", "path": .string(path), "view_range": range])
                #expect(text.utf8.count <= 1_000)
                let parts = text.components(separatedBy: "\n\n[")
                lines += parts[0].components(separatedBy: "\n").dropFirst()
                guard let next = parts.last?.firstMatch(of: /view_range \[(\d+), (\d+)\]/) else { return lines }
                range = [.integer(try #require(Int64(next.1))), .integer(try #require(Int64(next.2)))]
            }
            Issue.record("the parts of \(path) do not end")
            return lines
        }
        let long = (1...200).map { "line \($0)" }
        try await bench.create("/memories/long.md", long.joined(separator: "\n"))
        let lines = try await shown("/memories/long.md")
        #expect(lines.map { String($0.dropFirst(7)) } == long)
        #expect(lines.last == "   200\tline 200")
        try await bench.create("/memories/wide.md", "a\n" + String(repeating: "漢", count: 1_000) + "\nb")
        let wide = try await shown("/memories/wide.md")
        #expect(wide.count == 3 && wide[0] == "     1\ta" && wide[2] == "     3\tb" && wide[1].hasSuffix("漢"))
        for number in 100..<200 { try bench.folder.put("x", at: "Memories/many/file \(number).md") }
        let names = try await shown("/memories/many")
        #expect(names.filter { $0.contains("file") } == (100..<200).map { "1B\t/memories/many/file \($0).md" })
        let echo = try await bench.fail(
            [
                "command": "str_replace", "path": "/memories/wide.md",
                "old_str": .string(String(repeating: "b", count: 5_000)),
                "new_str": "",
            ])
        #expect(echo.utf8.count <= 1_000)
    }

    @Test(
        "Invalid inputs are errors in words",
        arguments: [
            [:], "view", [], ["command": "view"], ["command": "View", "path": "/memories"], ["command": 1],
            ["command": "view", "path": 7], ["command": "view", "path": .null],
            ["command": "create", "path": "/memories/a.md"],
            ["command": "create", "path": "/memories/a.md", "file_text": ["a"]],
            ["command": "str_replace", "path": "/memories/notes.md", "old_str": "one"],
            ["command": "insert", "path": "/memories/notes.md", "insert_line": "1", "insert_text": "x"],
            ["command": "insert", "path": "/memories/notes.md", "insert_line": 1.5, "insert_text": "x"],
            ["command": "insert", "path": "/memories/notes.md", "insert_line": true, "insert_text": "x"],
            ["command": "insert", "path": "/memories/notes.md", "insert_line": 1],
            ["command": "view", "path": "/memories/notes.md", "view_range": ["a", "b"]],
            ["command": "rename", "old_path": "/memories/notes.md"], ["command": "clear"],
        ] as [JSONValue])
    func invalid(input: JSONValue) async throws {
        let bench = try MemoryBench()
        try await bench.create("/memories/notes.md", "one\n")
        try await bench.fail(input)
        #expect(try bench.folder.text(at: "Memories/notes.md") == "one\n")
        #expect(try bench.folder.names(in: "Memories").filter { !$0.hasPrefix(".") } == ["notes.md"])
    }

    @Test("Extreme ranges are empty or the whole file", arguments: [Int64.min, -7, 0, 7, Int64.max])
    func ranges(number: Int64) async throws {
        let bench = try MemoryBench()
        try await bench.create("/memories/a.md", "1\n2")
        for range in [[1, .integer(number)], [.integer(number), 2], [.integer(number), .integer(number)]] as [JSONValue]
        {
            try await bench.succeed(["command": "view", "path": "/memories/a.md", "view_range": range])
        }
    }

    @Test("Edits keep the line ends of a file, and a model sees none of them", arguments: ["\r\n", "\r", "\n"])
    func lineEnds(end: String) async throws {
        let bench = try MemoryBench()
        try bench.folder.put("one\(end)two\(end)three", at: "Memories/a.md")
        #expect(try await bench.view("/memories/a.md").hasSuffix(":\n     1\tone\n     2\ttwo\n     3\tthree"))
        try await bench.succeed([
            "command": "str_replace", "path": "/memories/a.md", "old_str": "one\ntwo", "new_str": "1\n1.5\n2",
        ])
        #expect(try bench.folder.text(at: "Memories/a.md") == "1\(end)1.5\(end)2\(end)three")
        _ = try await bench.view("/memories/a.md")
        try await bench.succeed([
            "command": "insert", "path": "/memories/a.md", "insert_line": 4, "insert_text": "four\nfive\n",
        ])
        #expect(
            try bench.folder.text(at: "Memories/a.md") == "1\(end)1.5\(end)2\(end)three\(end)four\(end)five\(end)")
        try await bench.succeed([
            "command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero",
        ])
        #expect(try bench.folder.text(at: "Memories/a.md").hasPrefix("zero\(end)1\(end)"))
        let missing = try await bench.fail([
            "command": "insert", "path": "/memories/a.md", "insert_line": 8, "insert_text": "",
        ])
        #expect(missing.hasSuffix("[0, 7]."))
    }

    @Test("An insertion keeps blank lines at the end of a file")
    func blankLines() async throws {
        let bench = try MemoryBench()
        try await bench.create("/memories/a.md", "a\n\n\n")
        try await bench.succeed(["command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "b"])
        #expect(try bench.folder.text(at: "Memories/a.md") == "a\nb\n\n\n")
    }

    @Test("Files that are not text, too large or not local are reported and not changed")
    func unusual() async throws {
        let bench = try MemoryBench { $0.maxFileSize = 1_000 }
        let binary = bench.folder.root.appendingPathComponent("Memories/photo.jpg")
        try bench.folder.put(String(repeating: "x", count: 1_001), at: "Memories/large.md")
        try Data([0xFF, 0xD8, 0, 1]).write(to: binary)
        for name in ["photo.jpg", "large.md"] {
            for command in ["view", "str_replace", "insert"] {
                let text = try await bench.fail([
                    "command": .string(command), "path": .string("/memories/\(name)"), "old_str": "x", "new_str": "y",
                    "insert_line": 0, "insert_text": "y",
                ])
                #expect(
                    text.contains("/memories/\(name)") && (name == "large.md" || text.hasSuffix("is not a text file.")))
            }
        }
        #expect(
            try await bench.fail(["command": "delete", "path": "/memories/large.md"]).contains("/memories/large.md"))
        #expect(try await bench.fail(["command": "delete", "path": "/memories/large.md"]).contains("1000"))
        // The old form of a placeholder of iCloud.
        try bench.folder.put("", at: "Memories/.cloud.md.icloud")
        for command in ["view", "str_replace", "delete", "rename", "create"] {
            let text = try await bench.fail([
                "command": .string(command), "path": "/memories/cloud.md", "old_str": "x", "new_str": "y",
                "file_text": "",
                "old_path": "/memories/cloud.md", "new_path": "/memories/here.md",
            ])
            #expect(text.contains("not on this device") || text.hasSuffix("already exists"), "\(text)")
        }
        for command in ["delete", "rename"] {
            try bench.folder.put("text", at: "Memories/sub/a.md")
            try bench.folder.put("", at: "Memories/sub/.cloud.md.icloud")
            let text = try await bench.fail([
                "command": .string(command), "path": "/memories/sub", "old_path": "/memories/sub",
                "new_path": "/memories/there",
            ])
            #expect(text.contains("nothing was changed: /memories/sub/cloud.md is not on this device"), "\(text)")
            #expect(try bench.folder.text(at: "Memories/sub/a.md") == "text")
        }
    }

    @Test("The tool can use another folder, and the root")
    func otherFolder() async throws {
        let bench = try MemoryBench()
        for folder in [try path("Agents/planner"), .root] {
            let memory = MemoryTool(workspace: bench.workspace, agentId: "planner", folder: folder)
            let made = try await memory.call(["command": "create", "path": "/memories/a/b.md", "file_text": "x"])
            #expect(made == .text("File created successfully at: /memories/a/b.md"))
            let listed = try await memory.call(["command": "view", "path": "/memories/a"])
            #expect(listed.content.stringValue?.hasSuffix(":\n1B\t/memories/a\n1B\t/memories/a/b.md") == true)
        }
        #expect(try bench.folder.text(at: "Agents/planner/a/b.md") == "x")
        #expect(try bench.folder.text(at: "a/b.md") == "x")
    }
}
