import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Restoring versions and trashed files") struct RestoringTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }
    private let date = Locked(Date(millisecondsSince1970: 0))

    init() throws {
        // The clock advances by one second at each call.
        test = try TestWorkspace { [date] in
            $0.now = {
                date.withLock { date in
                    date += 1
                    return date
                }
            }
        }
    }

    @Test("A version is restored only over the expected version, and the restored file can be reverted")
    func toVersion() async throws {
        let first = try await workspace.write("first", to: path("a.md"), replacing: nil)
        let second = try await workspace.write("second", to: path("a.md"), replacing: first.version)
        test.files.put("theirs", at: "a.md")
        let stale = await changed {
            try await workspace.restore(path("a.md"), to: first.version, replacing: second.version)
        }
        #expect(stale?.current?.text == "theirs")
        #expect(try test.files.text("a.md") == "theirs")
        let theirs = ContentHash(of: "theirs".utf8)
        let restored = try await workspace.restore(path("a.md"), to: first.version, replacing: theirs, by: .agent("x"))
        #expect(restored.text == "first")
        let version = try await workspace.versions(of: path("a.md")).first
        #expect((version?.kind, version?.author, version?.parents) == (.restored, .agent("x"), [theirs]))
        try await workspace.restore(path("a.md"), to: theirs, replacing: first.version)
        #expect(try await test.texts("a.md") == ["first", "second", "theirs", "first", "theirs"])
        // Restoring the current version changes nothing.
        try await workspace.restore(path("a.md"), to: theirs, replacing: theirs)
        #expect(try await test.kinds("a.md").count == 5)
    }

    @Test("A version of a trashed file is restored only while the file is absent")
    func toVersionOfAbsent() async throws {
        let first = try await workspace.write("first", to: path("a.md"), replacing: nil)
        let second = try await workspace.write("second", to: path("a.md"), replacing: first.version)
        try await workspace.trash(path("a.md"), replacing: second.version)
        let gone = await changed {
            try await workspace.restore(path("a.md"), to: first.version, replacing: second.version)
        }
        #expect(gone != nil && gone?.current == nil)
        try await workspace.restore(path("a.md"), to: first.version, replacing: nil)
        #expect(try test.files.text("a.md") == "first")
        #expect(
            await changed { try await workspace.restore(path("a.md"), to: second.version, replacing: nil) }?.current?
                .text
                == "first")
    }

    @Test("Versions of other files and unarchived versions are not restored; credentials are")
    func whatComesBack() async throws {
        let other = try await workspace.write("other", to: path("b.md"), replacing: nil)
        let file = try await workspace.write("text", to: path("a.md"), replacing: nil)
        #expect(
            await code { try await workspace.restore(path("a.md"), to: other.version, replacing: file.version) }
                == .notFound)
        test.files.put([0, 1], at: "bytes")
        _ = try workspace.scanner.scan()
        test.files.put([2, 3], at: "bytes")
        let (lost, here) = (ContentHash(of: [0, 1]), ContentHash(of: [2, 3]))
        #expect(await code { try await workspace.restore(path("bytes"), to: lost, replacing: here) } == .notFound)
        #expect(try await workspace.sizes(of: [lost, other.version]) == [other.version: 5])
        let secret = "key: ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
        test.files.put(secret, at: "a.md")
        let theirs = ContentHash(of: secret.utf8)
        try await workspace.restore(path("a.md"), to: file.version, replacing: theirs)
        #expect(try await workspace.restore(path("a.md"), to: theirs, replacing: file.version).text == secret)
    }

    @Test("The trash lists removed files that can be restored, latest first, and no moved files")
    func trashed() async throws {
        #expect(try await workspace.trashed().isEmpty)
        for name in ["mine.md", "moved.md", "theirs.md", "stays.md"] {
            try await workspace.write(name, to: path(name), replacing: nil)
        }
        try await workspace.trash(path("mine.md"), replacing: ContentHash(of: "mine.md".utf8), by: .agent("x"))
        try await workspace.move(path("moved.md"), to: path("in/moved.md"))
        test.files.put([0], at: "bytes")
        _ = try workspace.scanner.scan()
        test.files.drop("theirs.md")
        test.files.drop("bytes")
        #expect(try await workspace.trashed().map(\.path) == [path("mine.md")])
        _ = try workspace.scanner.scan()
        let trashed = try await workspace.trashed()
        #expect(try trashed.map(\.path) == [path("theirs.md"), path("mine.md")])
        #expect(trashed.map(\.removal.kind) == [.removed, .trashed])
        #expect(trashed.map(\.removal.author) == [nil, .agent("x")] && trashed.map(\.size) == [9, 7])
        for file in trashed { try await workspace.restore(file.path) }
        #expect(try await workspace.trashed().isEmpty)
    }
}
