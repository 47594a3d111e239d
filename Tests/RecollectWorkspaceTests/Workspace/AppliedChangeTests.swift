import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Failures after a change was made. The error names the new version, and a retry applies the change only once.
@Suite("Failures after an applied change") struct AppliedChangeTests {
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

    @Test("The error names the version, and a retry applies the change once")
    func again() async throws {
        let name = try path("a.md")
        failAfterwards()
        let version = ContentHash(of: "one\n".utf8)
        #expect(await error { try await workspace.append("one\n", to: name) }.contains(version.rawValue))
        #expect(try await workspace.append("one\n", to: name).text == "one\n")
        failAfterwards()
        #expect(await error { try await workspace.append("two\n", to: name) } != "")
        // Another process retries.
        #expect(try await test.another().append("two\n", to: name).text == "one\ntwo\n")
        let old = try await workspace.read(name)
        failAfterwards()
        #expect(await error { try await workspace.write("new", to: name, replacing: old.version) } != "")
        #expect(try await workspace.write("new", to: name, replacing: old.version).text == "new")
        #expect(try await test.kinds("a.md") == [.written, .written, .written] && test.begun("a.md") == 0)
    }

    @Test("An append repeated after a successful retry is applied again")
    func twice() async throws {
        let name = try path("a.md")
        failAfterwards()
        _ = await error { try await workspace.append("one\n", to: name) }
        for _ in 0..<3 { try await workspace.append("one\n", to: name) }
        #expect(try test.files.text("a.md") == "one\none\none\n")
        // An editor wrote in between, so that this append is not a retry.
        failAfterwards()
        _ = await error { try await workspace.append("two\n", to: name) }
        test.files.put("one\ntwo\nthree\n", at: "a.md")
        #expect(try await workspace.append("two\n", to: name).text == "one\ntwo\nthree\ntwo\n")
    }

    @Test("A move whose first half fails after it was applied is undone")
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
        "After a move that ended halfway, a later removal of the old file is listed in the trash",
        arguments: [true, false])
    func halfMove(isTrashed: Bool) async throws {
        let (old, new) = try (path("old.md"), path("new.md"))
        let hash = try await workspace.write("text", to: old, replacing: nil).version
        let lines = [(new, WorkspaceVersion.Kind.moved, old), (old, .movedAway, new)].map { path, kind, other in
            VersionLine(
                mark: .begun, path: path,
                version: WorkspaceVersion(
                    hash: hash, date: Date().wholeMilliseconds, author: .user, kind: kind, otherPath: other))
        }
        _ = try workspace.archive.begin(lines, keeping: [])
        test.files.put("text", at: "new.md")
        if isTrashed {
            _ = try workspace.scanner.scan()
            try await workspace.trash(new, replacing: hash)
        }
        test.files.drop("old.md")
        _ = try workspace.scanner.scan()
        #expect(try await test.kinds("old.md") == [.written, isTrashed ? .removed : .movedAway])
        // Both may be removed in the same millisecond.
        #expect(try await Set(workspace.trashed().map(\.path)) == (isTrashed ? [old, new] : []))
    }

    @Test("A file stays, with its versions, if the copy of a version is not confirmed", arguments: [true, false])
    func unconfirmedCopy(isMoved: Bool) async throws {
        let (old, new) = try (path("a.md"), path("b.md"))
        let version = try await workspace.write("here", to: old, replacing: nil).version
        let versions = [ConflictVersion(id: "1", bytes: Array("elsewhere".utf8))]
        let files = test.files
        files.state.withLock { $0.conflictVersions[old] = versions }
        if isMoved {
            // The first write is the moved file's.
            files.state.withLock {
                $0.beforeChange = { [self] in files.state.withLock { $0.beforeChange = failAfterwards } }
            }
            #expect(await code { try await workspace.move(old, to: new) } == .inputOutput)
        } else {
            failAfterwards()
            #expect(await code { try await workspace.trash(old, replacing: version) } == .inputOutput)
        }
        #expect(try files.text("a.md") == "here" && files.text("b.md") == nil)
        #expect(try files.conflictVersions(of: old) == versions)
        #expect(try test.begun("a.md") == 0)
        if isMoved {
            try await workspace.move(old, to: new)
            #expect(try files.text("a.md") == nil && files.text("b.md") == "here")
        } else {
            try await workspace.trash(old, replacing: version)
            #expect(try files.text("a.md") == nil)
        }
        #expect(try files.conflictVersions(of: old) == [])
        #expect(files.state.withLock { $0.files.values.contains { $0.bytes == versions[0].bytes } })
    }

    @Test(
        "An append adds its line once, even if syncing the folder or removing the old file fails",
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
