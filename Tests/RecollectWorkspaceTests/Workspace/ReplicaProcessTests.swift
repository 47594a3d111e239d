import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// A process that is killed while it merges a replica into a container.
@Suite("container: processes that merge a replica", .needs(.processes)) struct ReplicaProcessTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// A container and a replica with different files.
    private struct Setup {
        let container: URL
        let state: URL
        let account: ContainerCache
        /// All contents of both sides.
        let contents: [[UInt8]]

        init(in url: URL) async throws {
            (container, state) = (url.appendingPathComponent("cloud"), url.appendingPathComponent("state"))
            account = ContainerCache(token: Data("anna".utf8), state: state)
            try account.remember(container)
            let theirs: [String: [UInt8]] = [
                "Journal/user/2026-11-21.md": Self.day(["a", "b"]), "data.bin": [0xFF, 1],
            ]
            let ours: [String: [UInt8]] = [
                "Journal/user/2026-11-21.md": Self.day(["b", "c"]), "data.bin": [0xFF, 2],
                "notes/only.md": Array("- only\n".utf8),
            ]
            contents = [theirs, ours].flatMap(\.values)
            let provider = try FolderProvider(root: container)
            for (path, bytes) in theirs { try provider.write(bytes, to: WorkspacePath(path), replacing: nil) }
            let replica = try replica()
            for (path, bytes) in ours {
                try await replica.write(bytes, to: WorkspacePath(path), replacing: nil, by: .agent("ahab"))
            }
        }

        private static func day(_ words: [String]) -> [UInt8] {
            let entries = words.map {
                "\n## 10:00 <!-- note \($0) 2026-11-21T10:00:00.000Z -->\n\n> It is \($0).\n"
            }
            return Array(("# 2026-11-21\n" + entries.joined()).utf8)
        }

        func replica() throws -> SharedWorkspace {
            try SharedWorkspace(
                root: account.replica.files, configuration: WorkspaceConfiguration(stateURL: account.replica.state))
        }

        func workspace() throws -> SharedWorkspace {
            try SharedWorkspace(root: container, configuration: WorkspaceConfiguration(stateURL: account.state))
        }

        func merge(under tracer: [String] = []) async throws -> Worker {
            let worker = try Worker(["workspace", "merge", container.path, state.path], under: tracer)
            _ = await worker.finish()
            return worker
        }

        func files() async throws -> [WorkspacePath: [UInt8]] {
            let workspace = try workspace()
            var files: [WorkspacePath: [UInt8]] = [:]
            for item in try await workspace.list(recursively: true) where !item.isFolder {
                files[item.path] = try await workspace.read(item.path).bytes
            }
            return files
        }

        /// Checks the state after a complete merge.
        func check(_ expected: [WorkspacePath: [UInt8]], _ name: String) async throws {
            #expect(try await replica().list(recursively: true).allSatisfy(\.isFolder), "\(name)")
            #expect(try await files() == expected, "\(name)")
            let workspace = try workspace()
            _ = try workspace.scanner.scan()
            let given = Set(contents.map { ContentHash(of: $0) })
            for path in expected.keys {
                for version in try await workspace.versions(of: path) {
                    let isTheirs = version.author == nil && version.kind == .observed
                    // The killed process may have begun a change that the next one made.
                    let isOurs = version.author == .agent("ahab") && [.written, .begun].contains(version.kind)
                    let isBoth = version.author == .recollect && [.merged, .begun].contains(version.kind)
                    #expect(
                        given.contains(version.hash) ? isTheirs || isOurs : isBoth, "\(name): \(path) \(version)")
                }
            }
            for content in contents {
                let hash = ContentHash(of: content)
                let isHere = try expected.values.contains(content) || workspace.archive.bytes(of: hash) != nil
                #expect(isHere, "\(name): \(String(decoding: content, as: UTF8.self))")
            }
        }
    }

    @Test("A merge killed at any system call and run again saves each text once, with its author", .needs(.strace))
    func killedAtEveryCall() async throws {
        let strace = try #require(strace)
        let whole = try await Setup(in: folder.url.appendingPathComponent("whole"))
        #expect(try await whole.merge().endedWell)
        let expected = try await whole.files()
        #expect(expected.count == 4)
        try await whole.check(expected, "not killed")
        for call in ["pwrite64", "fdatasync", "fsync", "renameat", "renameat2", "unlinkat", "mkdirat"] {
            for number in 1...200 {
                let name = "\(call)-\(number)"
                let setup = try await Setup(in: folder.url.appendingPathComponent(name))
                let killed = try await setup.merge(
                    under: [
                        strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)",
                    ])
                #expect(try await setup.merge().endedWell, "\(name)")
                try await setup.check(expected, name)
                if killed.endedWell { break }
            }
        }
    }
}
