import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Failures after a change was made: nobody is told that it was not, and doing it again does it once.
@Suite("A change that was made before something failed") struct AppliedChangeTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        test = try TestWorkspace()
    }

    private func failAfterwards() {
        test.files.state.withLock { $0.failureAfterWrite = RecollectError(.inputOutput, "the folder's sync failed") }
    }

    private func error(_ work: () async throws -> Void) async -> String {
        do {
            try await work()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("the error says so, with the version, and what is done again is done once")
    func again() async throws {
        let name = try path("a.md")
        failAfterwards()
        let version = ContentHash(of: "one\n".utf8)
        #expect(await error { try await workspace.append("one\n", to: name) }.contains(version.rawValue))
        #expect(try await workspace.append("one\n", to: name).text == "one\n")
        failAfterwards()
        #expect(await error { try await workspace.append("two\n", to: name) } != "")
        // Another process does it again.
        #expect(try await test.another().append("two\n", to: name).text == "one\ntwo\n")
        let old = try await workspace.read(name)
        failAfterwards()
        #expect(await error { try await workspace.write("new", to: name, replacing: old.version) } != "")
        #expect(try await workspace.write("new", to: name, replacing: old.version).text == "new")
        #expect(try await test.kinds("a.md") == [.written, .written, .written] && test.begun("a.md") == 0)
    }

    @Test("what was told as done is done again where it is said again")
    func twice() async throws {
        let name = try path("a.md")
        failAfterwards()
        _ = await error { try await workspace.append("one\n", to: name) }
        for _ in 0..<3 { try await workspace.append("one\n", to: name) }
        #expect(try test.files.text("a.md") == "one\none\none\n")
        // Somebody else wrote in between: this is not the text that was left in doubt.
        failAfterwards()
        _ = await error { try await workspace.append("two\n", to: name) }
        test.files.put("one\ntwo\nthree\n", at: "a.md")
        #expect(try await workspace.append("two\n", to: name).text == "one\ntwo\nthree\ntwo\n")
    }

    @Test("a move whose first half fails afterwards is taken back")
    func movedHalf() async throws {
        try await workspace.write("text", to: path("a.md"), replacing: nil)
        failAfterwards()
        #expect(await code { try await workspace.move(path("a.md"), to: path("b.md")) } == .inputOutput)
        #expect(try await workspace.list().map(\.path.description) == ["a.md"])
        #expect(try await test.kinds("a.md") == [.written] && test.begun("a.md") == 0 && test.begun("b.md") == 0)
        try await workspace.move(path("a.md"), to: path("b.md"))
        #expect(try await workspace.list().map(\.path.description) == ["b.md"])
    }

    @Test(
        "an append whose folder cannot be synced adds its line once, also where it is done again; one whose old file stays is done",
        .needs(.strace), arguments: ["fsync", "unlinkat"])
    func disk(call: String) async throws {
        let folder = try TestFolder()
        let state = folder.url.appendingPathComponent("state")
        try folder.put("first\n", at: "a.md")
        let arguments = ["workspace", "append", folder.root.path, state.path, "a.md", "w", "1"]
        let worker = try Worker(
            arguments,
            under: [
                try #require(strace), "-f", "-qq", "-o", "/dev/null", "-P", folder.root.path, "-e", "trace=\(call)",
                "-e",
                "inject=\(call):error=EIO:when=1",
            ])
        _ = await worker.finish()
        #expect(worker.endedWell == (call == "unlinkat"))
        #expect(try folder.text(at: "a.md") == "first\nw 0\n")
        if !worker.endedWell {
            let again = try Worker(arguments)
            #expect(await again.finish().count == 1)
        }
        #expect(try folder.text(at: "a.md") == "first\nw 0\n")
    }
}
