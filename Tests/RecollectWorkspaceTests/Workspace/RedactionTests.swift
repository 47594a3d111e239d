import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Redaction of versions") struct RedactionTests {
    private let folder: TestFolder
    private let workspace: SharedWorkspace
    private var state: URL { folder.url.appendingPathComponent("state") }

    /// A string with no other occurrence than in the redacted version.
    private static let leaked = "The harbor master's number is 5550198.\n"

    init() throws {
        folder = try TestFolder()
        workspace = try Self.open(folder)
    }

    private static func open(_ folder: TestFolder) throws -> SharedWorkspace {
        try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
    }

    /// Writes a file with the leaked text as its second of three versions, and returns the second one.
    private func made(_ name: String = "a.md", by author: WorkspaceAuthor = .agent("scribe")) async throws
        -> ContentHash
    {
        let first = try await workspace.write("first of \(name)\n", to: path(name), replacing: nil)
        let leaked = try await workspace.write(Self.leaked, to: path(name), replacing: first.version, by: author)
        try await workspace.write("third of \(name)\n", to: path(name), replacing: leaked.version)
        return leaked.version
    }

    /// The files below a folder with some bytes.
    private func files(with text: String, in folder: URL) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.filter { name in
            let url = folder.appendingPathComponent(name)
            guard
                try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType == .typeRegular
            else { return false }
            return try Data(contentsOf: url).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("After a redaction, no file of ours has the text, and the version is still listed with its author")
    func erased() async throws {
        let hash = try await made()
        _ = try await workspace.status()
        #expect(try files(with: "5550198", in: state).count == 1)
        let before = try await workspace.versions(of: path("a.md"))
        let paths = try await workspace.redact(hash, of: path("a.md"), by: .agent("cleaner"))
        #expect(paths.map(\.description) == ["a.md"])
        #expect(try files(with: "5550198", in: folder.url).isEmpty)
        for workspace in [workspace, try Self.open(folder)] {
            let versions = try await workspace.versions(of: path("a.md"))
            #expect(versions.map(\.hash) == before.map(\.hash) && versions.map(\.date) == before.map(\.date))
            #expect(versions.map(\.author) == [.user, .agent("scribe"), .user])
            #expect(versions.map { $0.redaction?.author } == [nil, .agent("cleaner"), nil])
            #expect(try await workspace.sizes(of: versions.map(\.hash))[hash] == nil)
        }
        #expect(try await workspace.read(path("a.md")).text == "third of a.md\n")
    }

    @Test("A redacted version cannot be read or restored, and the error says why")
    func refused() async throws {
        let hash = try await made()
        let current = try await workspace.read(path("a.md")).version
        try await workspace.redact(hash, of: path("a.md"))
        for work in [
            { try await workspace.restore(path("a.md"), to: hash, replacing: current) },
            { try await workspace.content(of: hash) },
        ] as [() async throws -> Any] {
            let error = await #expect(throws: RecollectError.self) { _ = try await work() }
            #expect(error?.code == .notFound && error?.message.contains("was redacted") == true, "\(error as Any)")
        }
        #expect(try await workspace.read(path("a.md")).version == current)
        // The other versions can be restored.
        let first = try #require(try await workspace.versions(of: path("a.md")).last)
        #expect(try await workspace.restore(path("a.md"), to: first.hash, replacing: current).text == "first of a.md\n")
    }

    @Test("Versions with the same content are redacted together, in all files, and the call returns the files")
    func shared() async throws {
        let hash = try await made()
        #expect(try await made("sub/b.md") == hash)
        let gone = try await workspace.write(Self.leaked, to: path("c.md"), replacing: nil)
        try await workspace.move(path("c.md"), to: path("d.md"))
        try await workspace.trash(path("d.md"), replacing: gone.version)
        let paths = try await workspace.redact(hash, of: path("sub/b.md"))
        #expect(paths.map(\.description) == ["a.md", "c.md", "d.md", "sub/b.md"])
        #expect(try files(with: "5550198", in: folder.url).isEmpty)
        #expect(try await workspace.versions(of: path("d.md")).allSatisfy { $0.redaction != nil })
        #expect(try await workspace.trashed().isEmpty)
        let error = await #expect(throws: RecollectError.self) { try await workspace.restore(path("d.md")) }
        #expect(error?.message.contains("was redacted") == true)
    }

    @Test("A content that a file has now is not redacted, also if another program wrote it since the last scan")
    func current() async throws {
        let hash = try await made()
        try folder.put(Self.leaked, at: "copy.md")
        let error = await #expect(throws: RecollectError.self) { try await workspace.redact(hash, of: path("a.md")) }
        #expect(error?.code == .conflict && error?.message.contains("copy.md") == true, "\(error as Any)")
        #expect(try await workspace.content(of: hash) == Array(Self.leaked.utf8))
        #expect(try await workspace.versions(of: path("a.md")).allSatisfy { $0.redaction == nil })
        try folder.put("harmless", at: "copy.md")
        #expect(try await workspace.redact(hash, of: path("a.md")).map(\.description) == ["a.md", "copy.md"])
        #expect(try files(with: "5550198", in: folder.url).isEmpty)
    }

    @Test("A content written again after its redaction is a new version, and can be redacted again")
    func again() async throws {
        let hash = try await made()
        try await workspace.redact(hash, of: path("a.md"))
        let third = try await workspace.read(path("a.md"))
        try await workspace.write(Self.leaked, to: path("a.md"), replacing: third.version)
        try await workspace.write("fifth\n", to: path("a.md"), replacing: hash)
        let versions = try await workspace.versions(of: path("a.md"))
        #expect(versions.map { $0.redaction != nil } == [false, false, false, true, false])
        #expect(try await workspace.content(of: hash) == Array(Self.leaked.utf8))
        for _ in 0..<2 { try await workspace.redact(hash, of: path("a.md")) }
        #expect(
            try await workspace.versions(of: path("a.md")).map { $0.redaction != nil } == [
                false, true, false, true, false,
            ])
        #expect(try files(with: "5550198", in: folder.url).isEmpty)
    }

    @Test("Pruning keeps the marks of the versions that stay, and versions after them unmarked")
    func pruned() async throws {
        let hash = try await made()
        let old = try await workspace.versions(of: path("a.md"))
        try await workspace.redact(hash, of: path("a.md"))
        let third = try await workspace.read(path("a.md"))
        try await workspace.write(Self.leaked, to: path("a.md"), replacing: third.version)
        try await workspace.pruneVersions(olderThan: .distantPast)
        for workspace in [workspace, try Self.open(folder)] {
            let versions = try await workspace.versions(of: path("a.md"))
            #expect(versions.dropFirst().map(\.hash) == old.map(\.hash))
            #expect(versions.map { $0.redaction != nil } == [false, false, true, false])
        }
        #expect(try await workspace.content(of: hash) == Array(Self.leaked.utf8))
        #expect(try await workspace.recover() == WorkspaceRecovery())
    }

    @Test("A version of a missing file, and a version unknown to the file, are told apart")
    func unknown() async throws {
        let hash = try await made()
        for (hash, name) in [(hash, "b.md"), (ContentHash(of: "never".utf8), "a.md")] {
            #expect(await code { try await workspace.redact(hash, of: path(name)) } == .notFound)
        }
        try await workspace.trash(path("a.md"), replacing: workspace.read(path("a.md")).version)
        #expect(try await workspace.redact(hash, of: path("a.md")).map(\.description) == ["a.md"])
        #expect(try await workspace.restore(path("a.md")).text == "third of a.md\n")
    }

    @Test("Nothing is redacted while the folder or most files are missing")
    func unavailable() async throws {
        let hash = try await made()
        for number in 0..<5 { try await workspace.write("\(number)", to: path("\(number).md"), replacing: nil) }
        _ = try await workspace.status()
        let moved = folder.url.appendingPathComponent("moved")
        try FileManager.default.moveItem(at: folder.root, to: moved)
        #expect(await code { try await workspace.redact(hash, of: path("a.md")) } == .unavailable)
        try FileManager.default.moveItem(at: moved, to: folder.root)
        for number in 0..<5 {
            try FileManager.default.removeItem(at: folder.root.appendingPathComponent("\(number).md"))
        }
        #expect(await code { try await workspace.redact(hash, of: path("a.md")) } == .unavailable)
        #expect(try await workspace.content(of: hash) == Array(Self.leaked.utf8))
    }

    @Test("Temporary files of killed writers with the content are removed, in the archive and in the folder")
    func leftovers() async throws {
        let hash = try await made()
        let objects = state.appendingPathComponent("objects/\(hash.rawValue.prefix(2))")
        let staged = objects.appendingPathComponent(".recollect-\(UUID().uuidString)")
        try Data(Self.leaked.utf8).write(to: staged)
        let digits = "01234567" + hash.rawValue.prefix(8) + hash.rawValue.prefix(8)
        try folder.put(Self.leaked, at: ".syncthing.recollect-\(digits)-a.md.tmp")
        #expect(try files(with: "5550198", in: folder.url).count == 3)
        try await workspace.redact(hash, of: path("a.md"))
        #expect(try files(with: "5550198", in: folder.url).isEmpty)
    }

    @Test("A write whose writer was killed before the file changed is withdrawn")
    func begunWrite() async throws {
        let version = WorkspaceVersion(
            hash: ContentHash(of: Self.leaked.utf8), date: Date().wholeMilliseconds, author: .user, kind: .written)
        try workspace.archive.begin(
            [VersionLine(mark: .begun, path: path("a.md"), version: version)], keeping: [Array(Self.leaked.utf8)])
        try await workspace.redact(version.hash, of: path("a.md"))
        #expect(try files(with: "5550198", in: folder.url).isEmpty)
        // Another program writes the text a day later: this is its version, not the withdrawn one.
        try folder.put(Self.leaked, at: "a.md")
        _ = try await workspace.status()
        let versions = try await workspace.versions(of: path("a.md"))
        #expect(versions.map(\.kind) == [.observed] && versions[0].redaction == nil)
    }

    @Test("A redaction without a recorded end is completed by the next change, and its content is not read before")
    func unfinished() async throws {
        let hash = try await made()
        let mark = WorkspaceVersion(
            hash: hash, date: Date().wholeMilliseconds, author: .user, kind: .init(rawValue: "redacted"))
        let log = try FileHandle(forWritingTo: state.appendingPathComponent("log"))
        try log.seekToEnd()
        try log.write(contentsOf: Data(VersionLine(mark: .redacting, path: path("a.md"), version: mark).bytes))
        try log.close()
        #expect(try await workspace.versions(of: path("a.md")).map { $0.redaction != nil } == [false, true, false])
        #expect(await code { _ = try await workspace.content(of: hash) } == .notFound)
        let current = try await workspace.read(path("a.md")).version
        #expect(await code { try await workspace.restore(path("a.md"), to: hash, replacing: current) } == .notFound)
        #expect(try files(with: "5550198", in: state).count == 1)
        try await workspace.write("other\n", to: path("b.md"), replacing: nil)
        #expect(try files(with: "5550198", in: state).isEmpty)
        #expect(try workspace.archive.index().unfinishedRedactions.isEmpty)
    }

    @Test(
        "A process killed after any write, sync or removal has marked and erased the version, or neither",
        .needs(.strace))
    func killed() async throws {
        let strace = try #require(strace)
        let hash = try await made()
        _ = try await workspace.status()
        for call in ["pwrite64", "fdatasync", "fsync", "unlinkat"] {
            var isComplete = false
            for number in 1...100 where !isComplete {
                let name = "\(call)-\(number)"
                let copy = folder.url.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
                for part in ["state", "root"] {
                    try FileManager.default.copyItem(
                        at: part == "state" ? state : folder.root, to: copy.appendingPathComponent(part))
                }
                let worker = try Worker(
                    [
                        "workspace", "redact", copy.appendingPathComponent("root").path,
                        copy.appendingPathComponent("state").path, "a.md", hash.rawValue,
                    ],
                    under: [
                        strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)",
                    ])
                let heard = await worker.finish()
                let after = try SharedWorkspace(
                    root: copy.appendingPathComponent("root"),
                    configuration: WorkspaceConfiguration(stateURL: copy.appendingPathComponent("state")))
                let isMarked = try await after.versions(of: path("a.md"))[1].redaction != nil
                #expect(isMarked || heard.isEmpty, "\(name)")
                if isMarked {
                    // The text cannot be read, and the next change of the archive erases it.
                    #expect(await code { _ = try await after.content(of: hash) } == .notFound, "\(name)")
                    try await after.append("fourth", to: path("a.md"))
                    #expect(try files(with: "5550198", in: copy).isEmpty, "\(name)")
                } else {
                    #expect(try await after.content(of: hash) == Array(Self.leaked.utf8), "\(name)")
                }
                try FileManager.default.removeItem(at: copy)
                isComplete = worker.endedWell
                #expect(isComplete == (heard == ["redacted"]), "\(name)")
            }
            #expect(isComplete, "\(call)")
        }
    }
}
