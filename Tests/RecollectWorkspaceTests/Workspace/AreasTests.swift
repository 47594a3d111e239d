import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Workspace areas") struct AreasTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        test = try TestWorkspace()
    }

    @Test("The context file is created, written, and extended under headings")
    func context() async throws {
        let context = workspace.context
        #expect(try await context.read() == nil)
        try await context.append("- likes whales", under: "Reading", by: .agent("scribe"))
        #expect(try test.files.text("context.md") == "## Reading\n\n- likes whales\n")
        try await context.append("- and ships", under: "Reading")
        try await context.append("short answers", under: "Tone")
        let text = "## Reading\n\n- likes whales\n- and ships\n\n## Tone\n\nshort answers\n"
        let file = try #require(try await context.read())
        #expect(file.text == text)
        try await context.write("new", replacing: file.version)
        #expect(await changed { try await context.write("newer", replacing: file.version) }?.current?.text == "new")
        #expect(await code { try await context.append("x", under: " ") } == .invalidArgument)
        #expect(await code { try await context.append("x", under: "a\nb") } == .invalidArgument)
        let latin = Array("# Caf".utf8) + [0xE9, 0x0A]
        test.files.put(latin, at: "context.md")
        #expect(await code { try await context.append("x", under: "Tone") } == .unreadable)
        #expect(try await context.read()?.bytes == latin)
    }

    @Test(
        "Text under a heading is added at the end of its section, and nothing else changes",
        arguments: [
            ("# A\n\none\n\n# B\n\ntwo\n", "A", "# A\n\none\nnew\n\n# B\n\ntwo\n"),
            ("# A\n\none\n\n# B\n\ntwo\n", "B", "# A\n\none\n\n# B\n\ntwo\nnew\n"),
            ("# A\none\n## C\nthree\n# B\ntwo", "A", "# A\none\n## C\nthree\nnew\n\n# B\ntwo\n"),
            ("# A\n# B\n", "A", "# A\n\nnew\n\n# B\n"),
            ("# A", "A", "# A\n\nnew\n"),
            ("```\n# A\n```\ntext", "A", "```\n# A\n```\ntext\n\n## A\n\nnew\n"),
            ("````\n```\n# A\n````\ntext", "A", "````\n```\n# A\n````\ntext\n\n## A\n\nnew\n"),
            ("```\r\n# B\r\n```\r\n# A\r\n", "A", "```\r\n# B\r\n```\r\n# A\r\n\r\nnew\r\n"),
            ("```x``` y\n# A\n", "A", "```x``` y\n# A\n\nnew\n"),
            ("", "A", "## A\n\nnew\n"),
            ("#A\n\n\n", "A", "#A\n\n## A\n\nnew\n"),
            ("# A\r\n\r\none\r\n\r\n# B\r\n", "A", "# A\r\n\r\none\r\nnew\r\n\r\n# B\r\n"),
            ("# A\r\n# B\r\n", "A", "# A\r\n\r\nnew\r\n\r\n# B\r\n"),
            ("text\r\n", "A", "text\r\n\r\n## A\r\n\r\nnew\r\n"),
        ])
    func headings(_ text: String, _ heading: String, _ expected: String) throws {
        #expect(try MarkdownSections(heading: heading).adding("new\n", to: text) == expected)
    }

    @Test("The full text is written once; a different text is a conflict that names both versions")
    func fullText() async throws {
        let research = workspace.research("moby-dick")
        #expect(try await research.fullText() == nil)
        let file = try await research.setFullText("Call me Ishmael.")
        #expect(try await research.setFullText("Call me Ishmael.") == file)
        #expect(try test.files.text("Research/moby-dick/full_text.txt") == "Call me Ishmael.")
        #expect(try await research.fullText() == "Call me Ishmael.")
        do {
            try await research.setFullText("It was the best of times.")
            Issue.record("no error was thrown")
        } catch let error as RecollectError {
            #expect(error.code == .conflict)
            #expect(error.message.contains(file.version.rawValue))
            #expect(error.message.contains(ContentHash(of: "It was the best of times.".utf8).rawValue))
        }
        #expect(try await research.fullText() == "Call me Ishmael.")
    }

    @Test("Sources are stored once, under portable file names")
    func sources() async throws {
        let research = workspace.research("moby-dick")
        #expect(try await research.sources() == [])
        let first = try await research.addSource(title: "Whales: a History / Vol. 2", text: "Text", by: .agent("x"))
        #expect(first.path.name.hasPrefix("whales-a-history-vol-2-") && first.path.name.hasSuffix(".md"))
        #expect(first.text == "# Whales: a History / Vol. 2\n\nText\n")
        #expect(try await research.addSource(title: "Whales: a History / Vol. 2", text: "Text\n") == first)
        try await research.addSource(title: "Whales: a History / Vol. 2", text: "Another")
        for title in ["Мир", "???", "CON", String(repeating: "鯨", count: 300), "می\u{200C}خواهم", "क्\u{200D}"] {
            let file = try await research.addSource(title: title, text: "x")
            #expect(file.path.name.utf8.count < 80)
        }
        test.files.put("# From Windows\r\n\r\nText\r\n", at: "Research/moby-dick/sources/from-windows-01234567.md")
        let sources = try await research.sources()
        #expect(sources.count == 9)
        #expect(Set(sources.map(\.title)).isSuperset(of: ["Мир", "???", "CON", "From Windows"]))
        #expect(await code { try await research.addSource(title: "a\nb", text: "x") } == .invalidArgument)
    }

    @Test("Each ID has a folder of its own in Research, named by the ID if it is a plain name")
    func bookIds() async throws {
        #expect(workspace.researchPath(for: "moby-dick").path == "/memory/Research/moby-dick")
        var paths: Set<WorkspacePath> = []
        let ids = [
            "", "..", "../x", "a/b", "a", "A", "a%2Fb", String(repeating: "x", count: 5000), "moby 2", "é", "e\u{301}",
        ]
        for id in ids {
            try await workspace.research(id).setFullText(id)
            paths.insert(workspace.research(id).path)
            #expect(workspace.researchPath(for: id).path.hasPrefix("/memory/Research/"))
        }
        #expect(paths.count == ids.count)
        #expect(paths.allSatisfy { $0.names.count == 2 })
    }
}
