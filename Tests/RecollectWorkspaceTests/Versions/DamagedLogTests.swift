import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Damaged version log") struct DamagedLogTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }
    private var log: URL { test.stateURL.appendingPathComponent("log") }

    init() throws {
        test = try TestWorkspace()
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: test.stateURL.path).sorted()
    }

    @Test(
        "A damaged head does not prevent lists, reads or status, and no complete line is lost",
        arguments: [0, 1, 20, 57, 90])
    func head(cut: Int) async throws {
        let file = try await workspace.write("one", to: path("a.md"), replacing: nil)
        try await workspace.write("two", to: path("a.md"), replacing: file.version)
        let whole = try Data(contentsOf: log)
        // Arbitrary bytes; with 57, the whole head is overwritten.
        let damaged = Data((0..<cut).map { UInt8($0 % 200) + 11 }) + (cut == 0 ? Data() : whole.dropFirst(cut))
        try damaged.write(to: log)
        let another = try test.another()
        #expect(try await another.list().map(\.path.description) == ["a.md"])
        #expect(try await another.read(path("a.md")).text == "two")
        #expect(try await another.status().fileCount == 1)
        let events = another.events.takeUndelivered().filter { $0.kind == .salvaged }
        let aside = try #require(events.first?.setAsideURL)
        #expect(events.count == 1 && aside.deletingLastPathComponent().path == test.stateURL.path)
        #expect(try Data(contentsOf: aside) == damaged)
        // The damage is reported once, and the log is intact afterwards.
        #expect(try await test.another().status().fileCount == 1)
        #expect(try names().count { $0.hasPrefix("log") } == 2)
        try await another.write("three", to: path("a.md"), replacing: ContentHash(of: "two".utf8))
        let kinds = try await another.versions(of: path("a.md")).map(\.kind)
        #expect(kinds.last == (cut == 0 ? .observed : .written) && kinds.first == .written)
        // Pruning does not delete contents that no line names any more.
        try await another.pruneVersions(olderThan: Date(timeIntervalSince1970: 0))
        #expect(try await another.content(of: file.version) == Array("one".utf8))
    }

    @Test(
        "Without the lines of a lost or older log, pruning deletes no content saved since its date",
        arguments: [true, false])
    func missing(isOlder: Bool) async throws {
        let first = try await workspace.write("one", to: path("a.md"), replacing: nil)
        let older = try Data(contentsOf: log)
        let second = try await workspace.write("two", to: path("a.md"), replacing: first.version)
        try await workspace.write("three", to: path("a.md"), replacing: second.version)
        if isOlder { try older.write(to: log) } else { try FileManager.default.removeItem(at: log) }
        let another = try test.another()
        _ = try await another.status()
        try await another.pruneVersions(olderThan: Date(timeIntervalSinceNow: -3_600))
        for text in ["one", "two", "three"] {
            #expect(try await another.content(of: ContentHash(of: text.utf8)) == Array(text.utf8))
        }
        try await another.pruneVersions(olderThan: .distantFuture)
        #expect(await code { _ = try await another.content(of: second.version) } == .notFound)
        #expect(try await another.read(path("a.md")).text == "three")
    }

    @Test("A hole of NUL bytes is reported, and the lines around it and all contents survive")
    func hole() async throws {
        var version: ContentHash?
        for text in ["one", "two", "three"] {
            version = try await workspace.write(text, to: path("a.md"), replacing: version).version
        }
        var bytes = try Data(contentsOf: log)
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
        // The lines of the second write, and half of the line before them.
        bytes.replaceSubrange(ends[1] + 20..<ends[4], with: Data(count: ends[4] - ends[1] - 20))
        try bytes.write(to: log)
        let another = try test.another()
        _ = try await another.status()
        #expect(another.events.takeUndelivered().contains { $0.kind == .salvaged })
        #expect(try await another.versions(of: path("a.md")).map(\.hash).first == version)
        try await another.pruneVersions(olderThan: Date(timeIntervalSince1970: 0))
        for text in ["one", "two", "three"] {
            #expect(try await another.content(of: ContentHash(of: text.utf8)) == Array(text.utf8))
        }
    }

    @Test("A partial line left by a killed process is not damage")
    func half() async throws {
        try await workspace.write("one", to: path("a.md"), replacing: nil)
        let bytes = try Data(contentsOf: log)
        try (bytes + Data("=\t170".utf8)).write(to: log)
        let another = try test.another()
        try await another.write("two", to: path("b.md"), replacing: nil)
        #expect(another.events.takeUndelivered().isEmpty)
        #expect(try names().count { $0.hasPrefix("log") } == 1)
    }

    @Test("A log of a newer version is refused and stays unchanged")
    func newer() async throws {
        try await workspace.write("one", to: path("a.md"), replacing: nil)
        let bytes = Data("recollect-archive 2 \(UUID().uuidString)\n".utf8)
        try bytes.write(to: log)
        #expect(await code { _ = try test.another() } == .newerSchema)
        #expect(try Data(contentsOf: log) == bytes)
    }
}
