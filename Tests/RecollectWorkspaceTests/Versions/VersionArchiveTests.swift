import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Version archive") struct VersionArchiveTests {
    private let test: TestWorkspace
    private var archive: VersionArchive { test.workspace.archive }

    init() throws {
        test = try TestWorkspace()
    }

    private var logURL: URL { test.stateURL.appendingPathComponent("log") }

    /// The same folder, opened as by another process.
    private var another: VersionArchive { VersionArchive(path: test.stateURL.path) }

    private func note(
        _ text: String, _ kind: WorkspaceVersion.Kind, at name: String = "a.md", parents: [String] = [],
        by author: WorkspaceAuthor? = .user, date: Date = Date(millisecondsSince1970: 1)
    ) throws {
        let version = WorkspaceVersion(
            hash: ContentHash(of: text.utf8), date: date, author: author, kind: kind,
            parents: parents.map { ContentHash(of: $0.utf8) })
        let line = VersionLine(mark: .begun, path: try path(name), version: version)
        try archive.finish(archive.begin([line], keeping: [Array(text.utf8)]))
    }

    private func object(_ text: String) -> URL {
        let hash = ContentHash(of: text.utf8).rawValue
        return test.stateURL.appendingPathComponent("objects/\(hash.prefix(2))/\(hash.dropFirst(2))")
    }

    @Test("Pruning keeps the content of a write in progress, and removes that of a write begun days before a version")
    func pruningWhileWriting() throws {
        let hash = ContentHash(of: "new".utf8)
        let begun = Date(millisecondsSince1970: 5_000)
        let version = WorkspaceVersion(hash: hash, date: begun, author: .user, kind: .written)
        let lines = try archive.begin(
            [VersionLine(mark: .begun, path: try path("a.md"), version: version)], keeping: [Array("new".utf8)])
        try another.prune(olderThan: .distantFuture, now: begun + 60)
        #expect(try archive.bytes(of: hash) == Array("new".utf8))
        #expect(try archive.versions(of: path("a.md")).map(\.kind) == [.begun])
        try another.prune(olderThan: .distantFuture, now: begun + 2 * 86_400)
        #expect(try archive.bytes(of: hash) == Array("new".utf8))
        try note("later", .written)
        try another.prune(olderThan: .distantFuture, now: begun + 2 * 86_400)
        #expect(try archive.bytes(of: hash) == nil)
        _ = lines
    }

    @Test("A change replaced and pruned before its end is recorded is no version", arguments: [true, false])
    func endAfterPruning(isPruned: Bool) throws {
        let version = WorkspaceVersion(
            hash: ContentHash(of: "ours".utf8), date: Date(millisecondsSince1970: 5_000), author: .user, kind: .written)
        let lines = try archive.begin(
            [VersionLine(mark: .begun, path: try path("a.md"), version: version)], keeping: [Array("ours".utf8)])
        try note("later", .edited, by: nil, date: version.date + 86_400)
        if isPruned { try another.prune(olderThan: .distantFuture, now: version.date + 2 * 86_400) }
        try archive.finish(lines)
        let versions = try another.versions(of: path("a.md"))
        #expect(versions.map(\.kind) == (isPruned ? [.edited] : [.edited, .written]))
        #expect(try another.bytes(of: version.hash) == (isPruned ? nil : Array("ours".utf8)))
    }

    @Test(
        "Pruning keeps the content before a change that its writer made after a sleep of days",
        arguments: [WorkspaceVersion.Kind.written, .trashed], [true, false])
    func endAfterSleep(kind: WorkspaceVersion.Kind, isReplaced: Bool) throws {
        let begun = Date(millisecondsSince1970: 5_000)
        let now = begun + 40 * 86_400
        try note("old", .written)
        let hash = ContentHash(of: (kind == .trashed ? "old" : "ours").utf8)
        let version = WorkspaceVersion(
            hash: hash, date: begun, author: .user, kind: kind, parents: [ContentHash(of: "old".utf8)])
        let lines = try archive.begin(
            [VersionLine(mark: .begun, path: try path("a.md"), version: version)], keeping: [Array("ours".utf8)])
        if isReplaced { try note("later", .edited, parents: ["old"], by: nil, date: begun + 86_400) }
        try archive.finish(lines, now: now)
        #expect(try another.versions(of: path("a.md")).first?.kind == (isReplaced ? .edited : kind))
        try another.prune(olderThan: now - 30 * 86_400, now: now + 2)
        let isKept = try another.bytes(of: ContentHash(of: "old".utf8)) != nil
        #expect(isKept || isReplaced)
    }

    @Test("A line is parsed as it was written, for any agent ID")
    func lines() throws {
        var random = SeededGenerator(seed: 1)
        let ids = ["", "scribe", "a\tb\nc", "ünï", "agent:x", "\0"]
        for _ in 0..<500 {
            let hash = { ContentHash(of: [UInt8.random(in: 0...255, using: &random)]) }
            let author: WorkspaceAuthor? =
                [nil, .user, .agent(ids.randomElement(using: &random) ?? "")]
                .randomElement(using: &random) ?? nil
            let line = VersionLine(
                mark: [.begun, .done, .withdrawn].randomElement(using: &random) ?? .done,
                path: try path(["a.md", "-", "Journal/user/é.md"].randomElement(using: &random) ?? "-"),
                version: WorkspaceVersion(
                    hash: hash(),
                    date: Date(millisecondsSince1970: .random(in: -9_999...2_000_000_000_000, using: &random)),
                    author: author,
                    kind: [.observed, .moved, .init(rawValue: "later")].randomElement(using: &random) ?? .observed,
                    parents: (0..<Int.random(in: 0...3, using: &random)).map { _ in hash() },
                    otherPath: Bool.random(using: &random) ? try path("-") : nil))
            #expect(VersionLine(line.bytes.dropLast()) == line)
            // Fields added by newer versions are ignored.
            #expect(VersionLine(Array(line.bytes.dropLast() + Array("\tmore".utf8))[...]) == line)
        }
    }

    @Test("A truncated line is not parsed as a line")
    func halves() throws {
        let line = VersionLine(
            mark: .done, path: try path("a"),
            version: WorkspaceVersion(
                hash: ContentHash(of: [1]), date: Date(millisecondsSince1970: 5), author: .agent("x"), kind: .written,
                otherPath: try path("b")))
        for count in 0..<line.bytes.count - 2 { #expect(VersionLine(line.bytes[..<count]) == nil) }
    }

    @Test("A log truncated at any byte keeps its complete lines and accepts new ones")
    func cut() throws {
        for text in ["one", "two", "three"] { try note(text, .written) }
        let whole = try Data(contentsOf: logURL)
        let header = try #require(whole.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for end in stride(from: header, through: whole.count, by: 3) {
            try whole[..<end].write(to: logURL)
            let archive = another
            let before = try archive.versions(of: path("a.md")).count
            let line = VersionLine(
                mark: .begun, path: try path("a.md"),
                version: WorkspaceVersion(
                    hash: ContentHash(of: [9]), date: Date(millisecondsSince1970: 9), author: .user, kind: .written))
            try archive.finish(archive.begin([line], keeping: []))
            #expect(try archive.versions(of: path("a.md")).count >= before)
            #expect(try another.versions(of: path("a.md")).contains(line.version), "cut at \(end)")
        }
    }

    @Test("A log of a newer version is refused and stays unchanged")
    func newerLog() async throws {
        try note("text", .written)
        let text = "recollect-archive 2 \(UUID().uuidString)\n"
        try Data(text.utf8).write(to: logURL)
        #expect(await code { _ = try another.index() } == .newerSchema)
        #expect(await code { try another.finish([]) } == .newerSchema)
        #expect(try String(contentsOf: logURL, encoding: .utf8) == text)
    }

    @Test("A log restored from a backup while in use is read again")
    func rolledBack() throws {
        try note("one", .written, at: "a.md")
        let old = try Data(contentsOf: logURL)
        try note("two", .written, at: "b.md")
        try old.write(to: logURL)
        try note("three", .written, at: "c.md")
        #expect(try archive.index().contents == another.index().contents)
        #expect(try Set(archive.index().files.keys) == [path("a.md"), path("c.md")])
    }

    @Test("Only the owner may read the archive")
    func permissions() throws {
        try note("secret", .written)
        let manager = FileManager.default
        let names = try #require(manager.enumerator(atPath: test.stateURL.path)).compactMap { $0 as? String }
        #expect(names.count > 3)
        for name in names {
            let mode = try manager.attributesOfItem(atPath: test.stateURL.path + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600 || mode == 0o700, "\(name)")
        }
    }

    @Test("A change repeated within a millisecond is recorded again, and a repeated line only once")
    func sameMillisecond() throws {
        for _ in 0..<2 {
            try note("text", .written)
            try note("text", .trashed)
        }
        #expect(try archive.versions(of: path("a.md")).map(\.kind) == [.trashed, .written, .trashed, .written])
        let version = try #require(try archive.versions(of: path("a.md")).first)
        try archive.finish([VersionLine(mark: .done, path: path("a.md"), version: version)])
        #expect(try archive.versions(of: path("a.md")).count == 4)
    }

    @Test("A change made by two processes in the same millisecond is recorded twice, however late")
    func sameMoment() throws {
        func line(_ text: String, over parent: String) throws -> VersionLine {
            VersionLine(
                mark: .begun, path: try path("a.md"),
                version: WorkspaceVersion(
                    hash: ContentHash(of: text.utf8), date: Date(millisecondsSince1970: 1), author: .user,
                    kind: .written, parents: [ContentHash(of: parent.utf8)]))
        }
        let one = try archive.begin([line("B", over: "A")], keeping: [])
        let other = try another.begin([line("B", over: "A")], keeping: [])
        try archive.finish(one)
        try archive.finish(archive.begin([line("A", over: "B")], keeping: []))
        #expect(try archive.index().contents[path("a.md")] == ContentHash(of: "A".utf8))
        try another.finish(other)
        #expect(try archive.index().contents[path("a.md")] == ContentHash(of: "B".utf8))
        for number in 0..<20 { try note("\(number)", .written) }
        try another.finish(one + other)
        #expect(try archive.index().contents[path("a.md")] == ContentHash(of: "19".utf8))
        #expect(try archive.versions(of: path("a.md")).count == 23)
    }

    @Test("ancestors: found over any number of own writes, but never in a cycle")
    func ancestors() throws {
        try note("b", .written, parents: ["a"])
        try note("c", .written, parents: ["b"])
        try note("x", .observed, by: nil)
        func isAncestor(_ left: String, _ right: String) throws -> Bool {
            try archive.index().files[path("a.md")]?
                .isAncestor(ContentHash(of: left.utf8), of: ContentHash(of: right.utf8)) ?? false
        }
        #expect(try isAncestor("a", "c"))
        #expect(try isAncestor("b", "c"))
        #expect(try !isAncestor("c", "a"))
        #expect(try !isAncestor("c", "c"))
        #expect(try !isAncestor("x", "c"))
        try note("a", .written, parents: ["c"])
        #expect(try !isAncestor("a", "c"))
        #expect(try !isAncestor("c", "a"))
    }

    @Test(
        "Pruning keeps each file's current and last observed content and contents replaced since, and removes old trash"
    )
    func pruning() async throws {
        let (old, new) = (Date(millisecondsSince1970: 1000), Date(millisecondsSince1970: 9000))
        try note("base", .observed, by: nil, date: old)
        for text in ["one", "two", "now"] { try note(text, .written, date: old) }
        try note("merged", .merged, at: "f.md", date: old)
        try note("gone", .trashed, at: "t.md", date: old)
        for text in ["older", "replaced"] { try note(text, .written, at: "u.md", date: old) }
        for kind in [WorkspaceVersion.Kind.written, .trashed] { try note("just gone", kind, at: "u.md", date: new) }
        let before = try archive.size().contents
        #expect(before == 9)
        let other = another
        _ = try other.index()
        try archive.prune(olderThan: Date(millisecondsSince1970: 5000), now: Date())
        for archive in [archive, other, another] {
            #expect(try archive.versions(of: path("a.md")).map(\.kind) == [.written, .observed])
            #expect(try archive.bytes(of: ContentHash(of: "base".utf8)) == Array("base".utf8))
            #expect(try archive.bytes(of: ContentHash(of: "now".utf8)) == Array("now".utf8))
            #expect(try archive.bytes(of: ContentHash(of: "one".utf8)) == nil)
            #expect(try archive.versions(of: path("t.md")).isEmpty)
            #expect(try archive.versions(of: path("u.md")).map(\.kind) == [.trashed, .written, .written])
            #expect(try archive.bytes(of: ContentHash(of: "replaced".utf8)) == Array("replaced".utf8))
            #expect(try archive.versions(of: path("f.md")).map(\.kind) == [.merged])
        }
        #expect(try archive.size().contents == 5)
        try note("later", .written)
        #expect(try other.versions(of: path("a.md")).count == 3)
    }

    @Test("Pruning removes files left by killed writers, and no other program's files")
    func leftovers() throws {
        try note("text", .written)
        let folders = [test.stateURL, object("text").deletingLastPathComponent()]
        let theirs = test.stateURL.appendingPathComponent("objects/.DS_Store")
        for url in folders.map({ $0.appendingPathComponent(".recollect-\(UUID().uuidString)") }) + [theirs] {
            try Data("half".utf8).write(to: url)
        }
        try archive.prune(olderThan: Date(millisecondsSince1970: 5000), now: Date())
        for folder in folders {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!names.contains { $0.hasPrefix(".") } && !names.isEmpty)
        }
        #expect(FileManager.default.fileExists(atPath: theirs.path))
        #expect(try archive.size() == (1, 4))
        #expect(try archive.bytes(of: ContentHash(of: "text".utf8)) == Array("text".utf8))
    }

    /// The observed contents of `count` files, each with a string of its own.
    private func found(_ count: Int) throws -> [ObservedContent] {
        try (0..<count).map { number in
            let bytes = Array("text \(number)".utf8)
            return ObservedContent(
                path: try path("\(number).md"), hash: ContentHash(of: bytes), bytes: bytes, isConflicted: false)
        }
    }

    @Test("Contents observed together are stored like single ones, and lines written meanwhile take priority")
    func together() throws {
        let moment = try archive.snapshot().position
        try note("ours", .written, at: "3.md")
        try archive.found(found(20), since: moment, now: Date(millisecondsSince1970: 5))
        for number in 0..<20 {
            let versions = try archive.versions(of: path("\(number).md"))
            #expect(versions.map(\.kind) == [number == 3 ? .written : .observed])
            #expect(try versions.allSatisfy { try archive.bytes(of: $0.hash) != nil })
        }
        #expect(try archive.size().contents == 20)
        // A damaged content is repaired.
        try Data("te".utf8).write(to: object("text 5"))
        try archive.recordDeleted(
            [path("5.md")], since: archive.snapshot().position, now: Date(millisecondsSince1970: 6))
        try archive.found(found(20), since: archive.snapshot().position, now: Date(millisecondsSince1970: 7))
        #expect(try archive.bytes(of: ContentHash(of: "text 5".utf8)) == Array("text 5".utf8))
        #expect(try archive.versions(of: path("5.md")).map(\.kind) == [.observed, .removed, .observed])
    }

    @Test("A batch of observed contents is bounded in size and count")
    func batches() throws {
        var batch = ObservedBatch()
        let large = ObservedContent(
            path: try path("a.md"), hash: ContentHash(of: []), bytes: [UInt8](repeating: 0x61, count: 1 << 20),
            isConflicted: false)
        while !batch.isFull { batch.add(large) }
        #expect(batch.contents.count <= 8)
        batch = ObservedBatch()
        while !batch.isFull { batch.add(try found(1)[0]) }
        #expect(batch.contents.count <= 1_000)
    }

    @Test(
        "An observed content is durable before a line names it, even after a power loss",
        .needs(.cuttableDisk), arguments: [1, 20])
    func powerCut(count: Int) throws {
        let folder = test.stateURL.appendingPathComponent("power-\(count)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let disk = try CuttableDisk(in: folder)
        let state = disk.url.appendingPathComponent("state")
        let archive = VersionArchive(path: state.path)
        try archive.found(found(count), since: archive.snapshot().position, now: Date(millisecondsSince1970: 5))
        // The lines may become durable at any time from now on; here, immediately.
        let log = try FileHandle(forWritingTo: state.appendingPathComponent("log"))
        try log.synchronize()
        try log.close()
        try disk.cutPower()
        try disk.restart()
        for content in try found(count) {
            #expect(try VersionArchive(path: state.path).index().contents[content.path] == content.hash)
            #expect(try VersionArchive(path: state.path).bytes(of: content.hash) == content.bytes)
        }
    }

    @Test("A damaged content is never returned, and writing it again repairs it")
    func damagedContent() async throws {
        try note("text", .written)
        let hash = ContentHash(of: "text".utf8)
        for damaged in ["te", "tEXT", "text and more"] {
            try Data(damaged.utf8).write(to: object("text"))
            #expect(await code { _ = try archive.bytes(of: hash) } == .damaged)
            try note("text", .written)
            #expect(try archive.bytes(of: hash) == Array("text".utf8))
        }
    }

    @Test("An archive removed while in use starts again")
    func removed() async throws {
        try note("text", .written)
        try FileManager.default.removeItem(at: test.stateURL)
        #expect(try archive.versions(of: path("a.md")).isEmpty)
        try await test.workspace.write("more", to: path("b.md"), replacing: nil)
        #expect(try await test.texts("b.md") == ["more"])
    }

    @Test("A state folder inside the workspace is refused under any name")
    func stateInside() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        let root = folder.appendingPathComponent("root")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: root)
        for inside in [root, root.appendingPathComponent("a/b"), link, link.appendingPathComponent("a")] {
            #expect(await code { _ = try StateFolder.url(inside, root: root) } == .invalidArgument, "\(inside)")
            #expect(await code { _ = try StateFolder.url(inside, root: link) } == .invalidArgument, "\(inside)")
        }
        #expect(try StateFolder.url(folder.appendingPathComponent("rooted"), root: root).lastPathComponent == "rooted")
        #expect(StateFolder.standard(root: root).path.contains("Recollect/Workspaces/"))
        // The default state folder is inside some folders, too.
        for above in [
            DefaultDirectory.applicationSupport, DefaultDirectory.applicationSupport.deletingLastPathComponent(),
        ] {
            #expect(await code { _ = try StateFolder.url(nil, root: above) } == .invalidArgument, "\(above)")
        }
        #expect(try StateFolder.url(nil, root: root) == StateFolder.standard(root: root))
    }
}
