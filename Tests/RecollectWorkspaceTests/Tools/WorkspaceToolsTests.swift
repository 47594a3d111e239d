import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// A workspace in a temporary folder and its tools, called as a model calls them.
private final class ToolBench {
    let folder: URL
    let workspace: SharedWorkspace
    let tools: [String: AgentTool]
    private let context = AgentContext(userId: "ada", sessionId: "s")

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("workspace-tools-\(UUID().uuidString)")
        workspace = try SharedWorkspace(
            root: folder.appendingPathComponent("root"),
            configuration: WorkspaceConfiguration(stateURL: folder.appendingPathComponent("state")))
        let all = WorkspaceTools(workspace: workspace, agentId: "scribe").all
        tools = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Returns the arguments for the page named by a note.
    static func nextPage(_ path: String, _ note: String) throws -> [String: JSONValue] {
        let words = note.split(separator: " ")
        let part = try #require(words.dropLast(4).last)
        let offset = try #require(words.last.flatMap { Int64($0) })
        return ["path": .string(path), "part": .string(String(part)), "offset": .integer(offset)]
    }

    /// Returns the result of a call. Every result must be bounded.
    func call(_ name: String, _ arguments: JSONValue) async throws -> ToolResult {
        let result = try await #require(tools[name]).call(arguments, context: context)
        #expect(result.content.jsonString.utf8.count <= 16_384, "\(name) returns more than 16 KB")
        return result
    }

    func succeed(_ name: String, _ arguments: JSONValue) async throws -> JSONValue {
        let result = try await call(name, arguments)
        #expect(!result.isError, "\(name): \(result.content.jsonString.prefix(400))")
        return result.content
    }

    func fail(_ name: String, _ arguments: JSONValue) async throws -> JSONValue {
        let result = try await call(name, arguments)
        #expect(
            result.isError && result.content["error"]?.stringValue?.isEmpty == false,
            "\(name): \(arguments.jsonString.prefix(400))")
        // The workspace's location must not reach the model's server, unless the model passed it in.
        let lies = folder.lastPathComponent
        #expect(
            !result.content.jsonString.contains(lies) || arguments.jsonString.contains(lies),
            "\(result.content.jsonString.prefix(400))")
        return result.content
    }
}

@Suite("Workspace tools")
struct WorkspaceToolsTests {
    @Test("A model lists, reads, writes, appends and searches, and each version names the agent")
    func roundTrip() async throws {
        let bench = try ToolBench()
        let made = try await bench.succeed(
            "write_file", ["path": "Notes/tea.md", "text": "# Tea\n\nAssam, no milk\n", "version": "new"])
        let version = try #require(made["version"])
        let read = try await bench.succeed("read_file", ["path": "Notes/tea.md"])
        #expect(read["text"] == "# Tea\n\nAssam, no milk\n" && read["version"] == version && read["note"] == nil)
        let second = try await bench.succeed(
            "write_file", ["path": "Notes/tea.md", "text": "# Tea\n\nDarjeeling", "version": version])
        let third = try await bench.succeed("append_file", ["path": "Notes/tea.md", "text": "no sugar"])
        #expect(second["version"] != version && third["version"] != second["version"])
        #expect(try await bench.workspace.read(WorkspacePath("Notes/tea.md")).text == "# Tea\n\nDarjeeling\nno sugar\n")
        let versions = try await bench.workspace.versions(of: WorkspacePath("Notes/tea.md"))
        #expect(versions.count == 3 && versions.allSatisfy { $0.author == .agent("scribe") })
        let found = try await bench.succeed("search_files", ["query": "DARJEELING tea"])
        #expect(found["files"]?.arrayValue?.first?["path"] == "Notes/tea.md")
        let listed = try await bench.succeed("list_files", ["recursive": true])
        #expect(listed["files"]?.arrayValue?.compactMap { $0["path"]?.stringValue } == ["Notes", "Notes/tea.md"])
        #expect(try await bench.succeed("list_files", [:])["files"]?.arrayValue?.first?["folder"] == true)
        #expect(try await bench.succeed("search_files", ["query": "coffee"])["note"] != nil)
        // An empty file can be written and read.
        _ = try await bench.succeed("write_file", ["path": "empty.md", "text": "", "version": "new"])
        #expect(try await bench.succeed("read_file", ["path": "empty.md"])["text"] == "")
    }

    @Test("stale-version: a write with a stale or invalid version is refused with the current content")
    func staleVersion() async throws {
        let bench = try ToolBench()
        let path = try WorkspacePath("context.md")
        let read = try await bench.workspace.write("one", to: path, replacing: nil)
        let version = JSONValue.string(read.version.rawValue)
        let user = try await bench.workspace.write("the user's", to: path, replacing: read.version)
        for stale in [
            version, "new", "", "  ", "0", "ffffffffffffffff", .string(String(user.version.rawValue.prefix(8))),
        ] as [JSONValue] {
            _ = try await bench.fail("write_file", ["path": "context.md", "text": "the agent's", "version": stale])
            #expect(try await bench.workspace.read(path).text == "the user's")
        }
        let refused = try await bench.fail("write_file", ["path": "context.md", "text": "x", "version": version])
        #expect(refused["text"] == "the user's")
        let current = try #require(refused["version"])
        _ = try await bench.succeed(
            "write_file", ["path": "context.md", "text": "the user's, and x", "version": current])
        // The file was trashed meanwhile: the error reports it, and only the version "new" creates it again.
        try await bench.workspace.trash(path, replacing: bench.workspace.read(path).version)
        let gone = try await bench.fail("write_file", ["path": "context.md", "text": "y", "version": current])
        #expect(gone["version"] == "new" && gone["text"] == nil)
        _ = try await bench.succeed("write_file", ["path": "context.md", "text": "y", "version": "new"])
    }

    @Test("unsafe-names: no path leads outside the workspace")
    func paths() async throws {
        let bench = try ToolBench()
        let outside = bench.folder.appendingPathComponent("outside.md")
        try Data("outside".utf8).write(to: outside)
        let paths = [
            "", " ", ".", "..", "/", "//", "../outside.md", "../../outside.md", "a/../../outside.md",
            "a/./../../outside.md",
            "./../outside.md", "a/..", "a/../b", "/etc/passwd", "//etc/passwd", outside.path, "~", "~/x.md",
            "file:///etc/passwd", "file:" + outside.path, "http://example.org/x", "..\\outside.md",
            "a\\..\\..\\outside.md",
            "C:\\x.md", "C:/x.md", "\\\\server\\share", "a\0b.md", "../outside.md\0.md", "a/\u{0}/b", "a\nb.md",
            "a\u{7F}.md",
            "..\u{2060}/outside.md", ".\u{200B}./outside.md", "\u{202E}dm.edistuo", "a//b.md", "a/", "/a", "a/ /b",
            "a /b.md",
            "a./b.md", "a/b.md.", ".hidden", ".git/config", ".stfolder/x", ".syncthing.x.tmp", "x.tmp", "~$x.docx",
            "x~",
            "CON", "con.md", "a/NUL.txt", ".DS_Store", "x.md.icloud", ".x.md.icloud",
            String(repeating: "a", count: 256) + ".md", String(repeating: "a/", count: 700) + "b.md",
            String(repeating: "../", count: 300) + "etc/passwd", "a:b.md", "a*b", "a?b", "a|b", "\"a\"", "<a>",
        ]
        for path in paths.map({ JSONValue.string($0) }) {
            _ = try await bench.fail("read_file", ["path": path])
            _ = try await bench.fail("write_file", ["path": path, "text": "inside", "version": "new"])
            _ = try await bench.fail("append_file", ["path": path, "text": "inside"])
        }
        // A path that only looks like traversal is an ordinary name and stays inside.
        let harmless = [
            "~root/x.md", "%2e%2e/outside.md", "%2e%2e%2foutside.md", "．．/outside.md", "。。/outside.md",
            "..%c0%af..%c0%afx",
            "․․/x.md",
            "a／..／b.md", "∕etc∕passwd", "e\u{301}/..outside.md", "...x/y.md", "$HOME/x.md", "`id`.md", "$(id).md",
            "a;b.md",
        ]
        for (index, path) in harmless.enumerated() {
            let result = try await bench.call(
                "write_file", ["path": .string(path), "text": .string("\(index)"), "version": "new"])
            if !result.isError {
                #expect(try await bench.succeed("read_file", ["path": .string(path)])["text"] == .string("\(index)"))
            }
        }
        for folder in ["..", "/", "a/../..", "~", "/etc"] {
            _ = try await bench.fail("list_files", ["folder": .string(folder)])
            _ = try await bench.fail("search_files", ["query": "x", "folder": .string(folder)])
        }
        #expect(try String(contentsOf: outside, encoding: .utf8) == "outside")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).sorted() == [
                "outside.md", "root", "state",
            ])
    }

    @Test("unsafe-names: symbolic links are neither followed nor listed, even if created between two calls")
    func links() async throws {
        let bench = try ToolBench()
        let outside = bench.folder.appendingPathComponent("outside", isDirectory: true)
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try Data("outside".utf8).write(to: outside.appendingPathComponent("x.md"))
        _ = try await bench.succeed("write_file", ["path": "Notes/x.md", "text": "inside", "version": "new"])
        let version = try #require(try await bench.succeed("read_file", ["path": "Notes/x.md"])["version"])
        let (notes, kept) = (
            bench.workspace.rootURL.appendingPathComponent("Notes"), bench.folder.appendingPathComponent("kept")
        )
        try FileManager.default.moveItem(at: notes, to: kept)
        try FileManager.default.createSymbolicLink(at: notes, withDestinationURL: outside)
        let file = bench.workspace.rootURL.appendingPathComponent("link.md")
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside.appendingPathComponent("x.md"))
        for path in ["Notes/x.md", "Notes/new.md", "link.md"] as [JSONValue] {
            for version in [version, "new"] {
                _ = try await bench.fail("write_file", ["path": path, "text": "written", "version": version])
            }
            _ = try await bench.fail("read_file", ["path": path])
            _ = try await bench.fail("append_file", ["path": path, "text": "written"])
        }
        #expect(try await bench.succeed("list_files", ["recursive": true])["files"] == [])
        #expect(try await bench.succeed("search_files", ["query": "outside"])["files"] == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path) == ["x.md"])
        #expect(try String(contentsOf: outside.appendingPathComponent("x.md"), encoding: .utf8) == "outside")
    }

    @Test(
        "Long files are read in pages that together equal the file, for any content",
        arguments: [
            String(repeating: "A line as any other.\n", count: 5_000), String(repeating: "é日🔑", count: 9_000),
            String(repeating: "\u{1}\"\\\n", count: 8_000), "short", "",
            String(repeating: "x", count: 14_000) + "\n\ny",
        ])
    func pages(text: String) async throws {
        let bench = try ToolBench()
        let path = try WorkspacePath("long.txt")
        try await bench.workspace.write(text, to: path, replacing: nil)
        var (read, pages) = ("", 0)
        var arguments: [String: JSONValue] = ["path": "long.txt"]
        repeat {
            let page = try await bench.succeed("read_file", .object(arguments))
            read += try #require(page["text"]?.stringValue)
            pages += 1
            // A partial page has no version, so that it cannot be used to replace the whole file.
            #expect((page["version"] == nil) == (page["note"] != nil))
            guard let note = page["note"]?.stringValue else { break }
            arguments = try ToolBench.nextPage("long.txt", note)
        } while pages < 100
        #expect(Array(read.utf8) == Array(text.utf8))
        // An offset inside a character starts with the whole character; an offset past the end returns nothing.
        _ = try await bench.succeed("read_file", ["path": "long.txt", "offset": 1])
        let pastEnd = try await bench.succeed("read_file", ["path": "long.txt", "offset": 2_000_000])
        #expect(pastEnd["text"] == "" && pastEnd["version"] == nil)
        // The error of a stale write is bounded, too.
        _ = try await bench.fail("write_file", ["path": "long.txt", "text": "x", "version": "new"])
    }

    @Test("stale-version: pages of two versions of a file are not read as one, and give no version to replace it")
    func changedBetweenPages() async throws {
        let bench = try ToolBench()
        let path = try WorkspacePath("long.txt")
        let text = String(repeating: "A line as any other.\n", count: 1_000)
        let file = try await bench.workspace.write(text, to: path, replacing: nil)
        let first = try await bench.succeed("read_file", ["path": "long.txt"])
        let next = try ToolBench.nextPage("long.txt", try #require(first["note"]?.stringValue))
        #expect(try await bench.succeed("read_file", .object(next))["version"] != nil)
        try await bench.workspace.write("B" + text.dropFirst(), to: path, replacing: file.version)
        let refused = try await bench.fail("read_file", .object(next))
        #expect(refused["error"]?.stringValue?.contains("read it again from offset = 0") == true)
        // Without the part, or with that of another page, there is text, and no version.
        let offset = try #require(next["offset"])
        let rest = try await bench.succeed("read_file", ["path": "long.txt", "offset": offset])
        #expect(rest["text"]?.stringValue?.isEmpty == false && rest["version"] == nil)
        let again = try await bench.succeed("read_file", ["path": "long.txt"])
        var other = try ToolBench.nextPage("long.txt", try #require(again["note"]?.stringValue))
        #expect(other["offset"] == offset)
        other["offset"] = 20_000
        _ = try await bench.fail("read_file", .object(other))
    }

    @Test("An error of the archive reaches the model without the archive's path")
    func archivePath() async throws {
        let bench = try ToolBench()
        let archive = URL(fileURLWithPath: bench.workspace.archive.path)
        try FileManager.default.createDirectory(
            at: archive.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("no folder".utf8).write(to: archive)
        let refused = try await bench.fail("write_file", ["path": "a.md", "text": "x", "version": "new"])
        #expect(refused["error"]?.stringValue?.contains("the workspace's archive") == true)
    }

    @Test("Many files are listed in bounded pages that name the next page")
    func manyFiles() async throws {
        let bench = try ToolBench()
        for index in 0..<300 {
            try await bench.workspace.write(
                "\(index) apple",
                to: WorkspacePath("Folder of a long name/\(index) \(String(repeating: "n", count: 60)).md"),
                replacing: nil)
        }
        var (names, after, pages) = ([] as [String], JSONValue.null, 0)
        repeat {
            let page = try await bench.succeed("list_files", ["recursive": true, "after": after])
            names += page["files"]?.arrayValue?.compactMap { $0["path"]?.stringValue } ?? []
            pages += 1
            guard let note = page["note"]?.stringValue, let range = note.range(of: "after = ") else { break }
            after = .string(String(note[range.upperBound...]))
        } while pages < 50
        #expect(names.count == 301 && Set(names).count == 301 && pages > 1)
        let found = try await bench.succeed("search_files", ["query": "apple", "limit": 50])
        #expect(found["note"]?.stringValue?.contains("more") == true)
    }

    @Test("Credentials, huge texts, binary files and invalid arguments are refused with a readable error")
    func refusals() async throws {
        let bench = try ToolBench()
        let secret = "ghp" + "_" + "k7Qz91LmX0aB4cD8eF2gH6iJ3nP5rS9tU1vW"
        for (tool, more) in [("write_file", ["version": "new"]), ("append_file", [:])]
            as [(String, [String: JSONValue])]
        {
            let arguments = more.merging(["path": "context.md", "text": .string("Use \(secret)")]) { $1 }
            let refused = try await bench.fail(tool, .object(arguments))
            let words = try #require(refused["error"]?.stringValue)
            #expect(words.contains("GitHub") && words.contains("line 1") && !words.contains(secret))
            let huge = more.merging(["path": "context.md", "text": .string(String(repeating: "x", count: 300_000))]) {
                $1
            }
            _ = try await bench.fail(tool, .object(huge))
        }
        #expect(try await bench.succeed("list_files", [:])["files"] == [])
        try await bench.workspace.write([0xFF, 0xFE, 0x00], to: WorkspacePath("image.png"), replacing: nil)
        _ = try await bench.fail("read_file", ["path": "image.png"])
        _ = try await bench.fail("write_file", ["path": "image.png", "text": "x", "version": "new"])
        _ = try await bench.fail("append_file", ["path": "image.png", "text": "x"])
        #expect(try await bench.workspace.read(WorkspacePath("image.png")).bytes == [0xFF, 0xFE, 0x00])
        for (tool, arguments) in [
            ("read_file", [:]), ("read_file", ["path": 1]), ("read_file", ["path": "x", "offset": -1]),
            ("read_file", "x"),
            ("read_file", ["path": "absent.md"]), ("read_file", ["path": "x", "lines": 3]),
            ("read_file", .object(["path": "x", String(repeating: "y", count: 100_000): 1])),
            ("search_files", ["query": .string(String(repeating: "x ", count: 10_000))]),
            ("list_files", ["recursive": "yes"]),
            ("list_files", ["folder": "absent"]), ("write_file", ["path": "x.md", "text": "y"]),
            ("write_file", ["path": "x.md", "version": "new"]),
            ("write_file", ["path": "x.md", "text": ["y"], "version": "new"]), ("search_files", ["query": " "]),
            ("search_files", ["query": "x", "limit": 0]), ("append_file", ["text": "x"]),
        ] as [(String, JSONValue)] {
            _ = try await bench.fail(tool, arguments)
        }
    }
}
