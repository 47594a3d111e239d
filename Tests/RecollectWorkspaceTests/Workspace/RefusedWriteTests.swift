import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Changes that a disk refuses. The archive must not record them.
@Suite("Changes refused by the disk") struct RefusedWriteTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        test = try TestWorkspace()
    }

    private func refuse(_ names: String..., with refusal: RecollectError.Code) throws {
        let paths = try names.map { try path($0) }
        test.files.state.withLock { state in
            for path in paths { state.refused[path] = RecollectError(refusal, "refused") }
        }
    }

    @Test(
        "A refused write, append, trash or move is not recorded as begun, and later writes succeed",
        arguments: [RecollectError.Code.permissionDenied, .readOnly, .diskFull, .busy])
    func nothingBegun(refusal: RecollectError.Code) async throws {
        let old = try await workspace.write("old", to: path("old.md"), replacing: nil)
        try refuse("old.md", "new.md", with: refusal)
        let attempts: [() async throws -> Void] = [
            { _ = try await workspace.write("new", to: path("new.md"), replacing: nil) },
            { _ = try await workspace.write("newer", to: path("old.md"), replacing: old.version, by: .agent("x")) },
            { _ = try await workspace.append("more", to: path("old.md")) },
            { try await workspace.trash(path("old.md"), replacing: old.version) },
            { try await workspace.move(path("old.md"), to: path("new.md")) },
        ]
        for attempt in attempts { #expect(await code(attempt) == refusal) }
        _ = try workspace.scanner.scan()
        for workspace in [workspace, try test.another()] {
            #expect(try await workspace.versions(of: path("old.md")).map(\.kind) == [.written])
            #expect(try await workspace.versions(of: path("new.md")).isEmpty)
        }
        #expect(try test.begun("old.md") == 0 && test.begun("new.md") == 0)
        test.files.state.withLock { $0.refused = [:] }
        try await workspace.write("newer", to: path("old.md"), replacing: old.version)
        #expect(try await test.kinds("old.md") == [.written, .written])
    }

    @Test("A file that may not be removed stays where it was and is not moved")
    func removalRefused() async throws {
        try await workspace.write("text", to: path("a.md"), replacing: nil)
        try refuse("a.md", with: .permissionDenied)
        #expect(await code { try await workspace.move(path("a.md"), to: path("b.md")) } == .permissionDenied)
        #expect(try test.begun("a.md") == 0)
        #expect(try test.files.text("a.md") == "text")
        #expect(try await workspace.item(at: path("a.md")).state == .local)
        #expect(try await workspace.list().map(\.path.description) == ["a.md"])
    }

    @Test("A change that cannot be logged succeeds, and the next scan records it")
    func notWrittenDown() async throws {
        let (log, away) = (test.stateURL.appendingPathComponent("log"), test.stateURL.appendingPathComponent("away"))
        test.files.state.withLock { state in
            state.beforeChange = {
                try? FileManager.default.moveItem(at: log, to: away)
                try? FileManager.default.createDirectory(at: log, withIntermediateDirectories: false)
            }
        }
        let file = try await workspace.write("text", to: path("a.md"), replacing: nil, by: .agent("x"))
        #expect(try test.files.text("a.md") == file.text)
        try FileManager.default.removeItem(at: log)
        try FileManager.default.moveItem(at: away, to: log)
        _ = try workspace.scanner.scan()
        #expect(try await test.kinds("a.md") == [.written])
    }

    @Test("A change with an unknown outcome stays begun until the next scan records the outcome")
    func unknown() async throws {
        let name = try path("a.md")
        test.files.state.withLock { state in
            state.failureAfterWrite = RecollectError(.inputOutput, "the folder's sync failed")
            state.unreadable = [name]
        }
        #expect(
            await code { try await workspace.write("text", to: name, replacing: nil, by: .agent("x")) } == .inputOutput)
        #expect(try await test.kinds("a.md") == [.begun])
        test.files.state.withLock { $0.unreadable = [] }
        _ = try workspace.scanner.scan()
        #expect(try await test.kinds("a.md") == [.written])
    }

    @Test(
        "On a full or read-only disk, a refused write adds no version",
        .needs(.tinyDisk), arguments: [true, false])
    func disk(isArchiveThere: Bool) async throws {
        let folder = try TestFolder()
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 128)
        let state = (isArchiveThere ? disk.url : folder.url).appendingPathComponent("state")
        let root = disk.url.appendingPathComponent("root")
        func open() throws -> SharedWorkspace {
            try SharedWorkspace(root: root, configuration: WorkspaceConfiguration(stateURL: state))
        }
        let workspace = try open()
        let old = try await workspace.write("old", to: path("a.md"), replacing: nil)
        // Each size between one that does not fit at all and one that fits together with its copy in the archive.
        for kilobytes in stride(from: 200, through: 40, by: -20) {
            let large = String(repeating: "x", count: kilobytes * 1024)
            let failure = await code { try await workspace.write(large, to: path("b.md"), replacing: nil) }
            guard failure != nil else { break }
            #expect(failure == .diskFull)
            #expect(try await open().versions(of: path("b.md")).isEmpty, "\(kilobytes) kB")
        }
        try disk.makeReadOnly()
        #expect(
            await code { try await workspace.write("new", to: path("a.md"), replacing: old.version) } == .readOnly)
        #expect(try await open().versions(of: path("a.md")).map(\.kind) == [.written])
    }

    @Test(
        "After any failed sync, the next scan records the change as made or not made, never as begun",
        .needs(.strace))
    func failingSync() async throws {
        let strace = try #require(strace)
        let folder = try TestFolder()
        for number in 1...50 {
            let root = folder.root.appendingPathComponent("\(number)")
            let state = folder.url.appendingPathComponent("\(number)-state")
            let worker = try Worker(
                ["workspace", "append", root.path, state.path, "a.md", "w", "1"],
                under: [
                    strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                    "inject=fdatasync:error=EIO:when=\(number)",
                ])
            _ = await worker.finish()
            let workspace = try SharedWorkspace(root: root, configuration: WorkspaceConfiguration(stateURL: state))
            let isThere = try workspace.scanner.scan().files[path("a.md")] != nil
            let kinds = try await workspace.versions(of: path("a.md")).map(\.kind)
            #expect(kinds == (isThere ? [.written] : []) && isThere == worker.endedWell, "sync \(number)")
            if worker.endedWell { return #expect(number > 3) }
        }
        Issue.record("no append succeeded")
    }
}
