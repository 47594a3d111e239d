import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Processes that use one workspace at the same time, or are killed.
@Suite("Processes that share a workspace", .needs(.processes)) struct WorkspaceProcessTests {
    private let url: URL
    private let removal: Removal

    private final class Removal: Sendable {
        let url: URL
        init(_ url: URL) { self.url = url }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    init() throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        url = (isThere ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory)
            .appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        removal = Removal(url)
    }

    private func folders(_ name: String) -> (root: URL, state: URL) {
        (url.appendingPathComponent(name + "-root"), url.appendingPathComponent(name + "-state"))
    }

    private func open(_ folders: (root: URL, state: URL)) throws -> SharedWorkspace {
        try SharedWorkspace(root: folders.root, configuration: WorkspaceConfiguration(stateURL: folders.state))
    }

    @Test("Four processes append to one file: each line is there once, with its author")
    func appending() async throws {
        let folders = folders("append")
        let count = 50
        let workers = try (0..<4).map {
            try Worker(["workspace", "append", folders.root.path, folders.state.path, "a.md", "w\($0)", "\(count)"])
        }
        let workspace = try open(folders)
        // This process scans concurrently.
        let scanning = Task {
            while !Task.isCancelled {
                _ = try await workspace.status()
            }
        }
        for worker in workers {
            #expect(await worker.finish().count == count)
            #expect(worker.endedWell)
        }
        scanning.cancel()
        // The scan may have been canceled; its effects are checked below.
        _ = await scanning.result
        let lines = try await workspace.read(path("a.md")).text.split(separator: "\n").map(String.init)
        for writer in 0..<4 {
            #expect(lines.filter { $0.hasPrefix("w\(writer) ") } == (0..<count).map { "w\(writer) \($0)" })
        }
        #expect(lines.count == 4 * count)
        _ = try workspace.scanner.scan()
        let versions = try await workspace.versions(of: path("a.md"))
        #expect(versions.allSatisfy { $0.kind == .written && $0.author?.agentId?.hasPrefix("w") ?? false })
        #expect(Set(versions.map(\.hash)).count == 4 * count)
    }

    @Test("Processes that create the same memory files: one of them succeeds for each file, and the others are refused")
    func creating() async throws {
        let folders = folders("remember")
        let count = 30
        let agents = ["ada", "bob", "cyd"]
        let workers = try agents.map {
            try Worker(["workspace", "remember", folders.root.path, folders.state.path, $0, "\(count)"])
        }
        var heard: [[String]] = []
        for worker in workers {
            heard.append(await worker.finish())
            #expect(worker.endedWell)
        }
        let workspace = try open(folders)
        for number in 0..<count {
            let text = try await workspace.read(path("Memories/\(number).md")).text
            for (agent, lines) in zip(agents, heard) {
                let expected =
                    agent == text
                    ? "File created successfully at: /memories/\(number).md"
                    : "File /memories/\(number).md already exists"
                #expect(lines[number] == expected)
            }
            #expect(try await workspace.versions(of: path("Memories/\(number).md")).map(\.author) == [.agent(text)])
        }
    }

    /// Checks the state after a kill: the file is complete at one path at least, or in the trash; every written text is
    /// archived; and no text is attributed to another author.
    private func check(_ folders: (root: URL, state: URL), heard: [String], _ name: String) async throws {
        let workspace = try open(folders)
        let scan = try workspace.scanner.scan()
        #expect(!scan.isMassDeletion, "\(name)")
        var kept: Set<String> = []
        for file in ["a.md", "b.md"] {
            for version in try await workspace.versions(of: path(file)) {
                #expect(
                    version.author == .agent("worker") || (version.kind == .observed && version.hash == Self.first),
                    "\(name): \(version)")
                kept.insert(String(decoding: try await workspace.content(of: version.hash), as: UTF8.self))
            }
        }
        let said = heard.compactMap { $0.hasPrefix("wrote ") ? Int($0.dropFirst(6)) : nil }
        #expect(kept.isSuperset(of: said.map { "life \($0)" }), "\(name)")
        let last = said.last ?? -1
        let isThere = try scan.files[path("a.md")] != nil || scan.files[path("b.md")] != nil
        if !isThere {
            #expect(
                try await workspace.versions(of: path("a.md")).first { $0.kind != .begun }?.kind == .trashed, "\(name)")
        }
        for file in ["a.md", "b.md"] where try scan.files[path(file)] != nil {
            let text = try await workspace.read(path(file)).text
            #expect([last == -1 ? "first" : "life \(last)", "life \(last + 1)"].contains(text), "\(name): \(text)")
        }
    }

    private static let first = ContentHash(of: "first".utf8)

    private func begin(_ name: String) throws -> (root: URL, state: URL) {
        let folders = folders(name)
        try FileManager.default.createDirectory(at: folders.root, withIntermediateDirectories: true)
        try Data("first".utf8).write(to: folders.root.appendingPathComponent("a.md"))
        return folders
    }

    @Test(
        "A worker killed at any write, sync, rename or removal loses nothing and records nothing false",
        .needs(.strace))
    func killedAtEveryCall() async throws {
        let strace = try #require(strace)
        for call in ["pwrite64", "fdatasync", "fsync", "renameat", "renameat2", "unlinkat", "linkat", "mkdirat"] {
            for number in 1...200 {
                let name = "\(call)-\(number)"
                let folders = try begin(name)
                let worker = try Worker(
                    ["workspace", "life", folders.root.path, folders.state.path, "2"],
                    under: [
                        strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)",
                    ])
                let heard = await worker.finish()
                try await check(folders, heard: heard, name)
                if worker.endedWell { break }
            }
        }
    }

    @Test("A scan killed at any write, sync or rename is completed by the next scan", .needs(.strace))
    func scanKilled() async throws {
        let strace = try #require(strace)
        let root = folders("looked").root
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let names = (0..<9).map { "\($0).md" }
        for name in names { try Data("text of \(name)".utf8).write(to: root.appendingPathComponent(name)) }
        for (call, step) in [
            ("syncfs", 1), ("fdatasync", 1), ("fsync", 1), ("pwrite64", 3), ("renameat", 3), ("mkdirat", 5),
        ] {
            for number in stride(from: 1, through: 200, by: step) {
                let state = folders("\(call)-\(number)").state
                let worker = try Worker(
                    ["workspace", "look", root.path, state.path],
                    under: [
                        strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)",
                    ])
                let heard = await worker.finish()
                #expect(heard == (worker.endedWell ? ["looked"] : []))
                // The lines of the killed scan have their contents; the next scan records the rest.
                let archive = VersionArchive(path: state.path)
                for (path, content) in try archive.index().contents {
                    #expect(try archive.bytes(of: content) == Array("text of \(path)".utf8), "\(call) \(number)")
                }
                let workspace = try open((root, state))
                #expect(try workspace.scanner.scan().files.count == names.count, "\(call) \(number)")
                for name in names {
                    let versions = try await workspace.versions(of: path(name))
                    #expect(versions.map(\.kind) == [.observed], "\(call) \(number) \(name)")
                    #expect(try await workspace.content(of: versions[0].hash) == Array("text of \(name)".utf8))
                }
                if worker.endedWell { break }
            }
        }
    }

    @Test("The default workspace is in Application Support; if it cannot be created, every call throws")
    func standard() async throws {
        let home = url.appendingPathComponent("home").path
        func lines() async throws -> [String] {
            let environment = ["/usr/bin/env", "HOME=\(home)", "XDG_DATA_HOME=\(home)/data"]
            return try await Worker(["workspace", "default"], under: environment).finish()
        }
        #expect(try await lines() == ["\(home)/data/Recollect/Workspace", "text"])
        try FileManager.default.removeItem(atPath: home)
        try Data().write(to: URL(fileURLWithPath: home))
        #expect(try await lines().last == "foreignStore")
    }

    @Test(
        "The default workspace is the offline replica, then the container with all files of the replica",
        .endsHanging)
    func standardContainer() async throws {
        let (home, cloud) = (url.appendingPathComponent("home2").path, url.appendingPathComponent("cloud").path)
        let environment = ["/usr/bin/env", "HOME=\(home)", "XDG_DATA_HOME=\(home)/data"]
        let first = try await Worker(["workspace", "default", cloud], under: environment).finish()
        #expect(first.first?.hasPrefix("\(home)/data/Recollect/Container/") == true)
        #expect(first.first?.hasSuffix("/replica/files") == true && first.dropFirst() == ["text", "found"])
        #expect(try await Worker(["workspace", "merged", cloud], under: environment).finish() == [cloud, "text"])
    }

    @Test("A worker killed at any time loses nothing and records nothing false")
    func killed() async throws {
        for round in 0..<15 {
            let folders = try begin("killed-\(round)")
            let worker = try Worker(["workspace", "life", folders.root.path, folders.state.path, "100000"])
            _ = await worker.wait(forLines: 1 + round * 3 % 20)
            worker.kill()
            try await check(folders, heard: await worker.finish(), "round \(round)")
        }
    }

    @Test(
        "Without space for the archive, a write throws and changes nothing; with space, writes succeed",
        .needs(.tinyDisk))
    func fullDisk() async throws {
        let disk = try TinyDisk(at: url.appendingPathComponent("disk"), kilobytes: 128)
        let workspace = try open((url.appendingPathComponent("full-root"), disk.url.appendingPathComponent("state")))
        let first = try await workspace.write("first", to: path("a.md"), replacing: nil)
        let large = String(repeating: "x", count: 200_000)
        #expect(
            await code { try await workspace.write(large, to: path("a.md"), replacing: first.version) } == .diskFull)
        #expect(try await workspace.read(path("a.md")) == first)
        try disk.resize(kilobytes: 1024)
        try await workspace.write(large, to: path("a.md"), replacing: first.version)
        _ = try workspace.scanner.scan()
        #expect(try await workspace.versions(of: path("a.md")).map(\.kind) == [.written, .written])
    }
}
