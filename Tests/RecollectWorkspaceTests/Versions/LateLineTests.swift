import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Writers that finish their log lines late.
@Suite("Late log lines") struct LateLineTests {
    private let test: TestWorkspace
    private var archive: VersionArchive { test.workspace.archive }

    init() throws {
        test = try TestWorkspace()
    }

    private func begin(_ text: String, over old: String, by author: String) throws -> [VersionLine] {
        let version = WorkspaceVersion(
            hash: ContentHash(of: text.utf8), date: Date(millisecondsSince1970: 1), author: .agent(author),
            kind: .written, parents: [ContentHash(of: old.utf8)])
        return try archive.begin(
            [VersionLine(mark: .begun, path: try path("a.md"), version: version)], keeping: [Array(text.utf8)])
    }

    private func find(_ text: String) throws {
        let found = ObservedContent(
            path: try path("a.md"), hash: ContentHash(of: text.utf8), bytes: Array(text.utf8), isConflicted: false)
        try archive.found([found], since: archive.snapshot().position, now: Date(millisecondsSince1970: 2))
    }

    /// The texts and authors of the file's versions, oldest first.
    private func versions() async throws -> [String] {
        try await test.workspace.versions(of: path("a.md")).reversed().map { version in
            "\(try archive.bytes(of: version.hash).map { String(decoding: $0, as: UTF8.self) } ?? "?") \(version.author?.agentId ?? "-")"
        }
    }

    private func content() throws -> ContentHash? { try archive.index().contents[path("a.md")] }

    @Test("If the last of three writes finishes its log line first, its text stays the file's content")
    func lastFirst() async throws {
        try find("0")
        let a = try begin("1", over: "0", by: "a")
        let b = try begin("2", over: "1", by: "b")
        let c = try begin("3", over: "2", by: "c")
        for lines in [c, a, b] {
            try archive.finish(lines)
            #expect(try content() == ContentHash(of: "3".utf8))
        }
        try find("3")
        #expect(try await versions() == ["0 -", "1 a", "2 b", "3 c"])
    }

    @Test("A scan that finds the last of three writes before their log lines attributes all three")
    func scanFirst() async throws {
        try find("0")
        let a = try begin("1", over: "0", by: "a")
        let b = try begin("2", over: "1", by: "b")
        let c = try begin("3", over: "2", by: "c")
        try find("3")
        for lines in [c, b, a] {
            try archive.finish(lines)
            #expect(try content() == ContentHash(of: "3".utf8))
        }
        try find("3")
        #expect(try await versions() == ["0 -", "1 a", "2 b", "3 c"])
    }

    @Test("A line finished after an external edit and a later write does not change the current content")
    func afterAnEditor() async throws {
        try find("0")
        let a = try begin("1", over: "0", by: "a")
        try find("edited")
        try archive.finish(begin("2", over: "edited", by: "b"))
        try archive.finish(a)
        #expect(try content() == ContentHash(of: "2".utf8))
        try find("2")
        #expect(try await versions() == ["0 -", "1 a", "edited -", "2 b"])
    }

    @Test("In any order of writes, scans and log lines, each write is recorded once with its author")
    func anyOrder() async {
        await Seeds.run(300) { seed in
            var life = try LateLife(seed: seed)
            for _ in 0..<60 { try life.step() }
            try life.end()
        }
    }
}

/// Writers and scanners of one file, each of which may stop between any two of its steps.
private struct LateLife {
    private enum Step {
        case idle
        /// The text that was read after the log's position.
        case read(String, VersionLog.Position, isScan: Bool)
        case begun([VersionLine], text: String, over: String)
        case written([VersionLine])
    }

    private var random: SeededGenerator
    private let test: TestWorkspace
    private var archive: VersionArchive { test.workspace.archive }
    private let file: WorkspacePath
    private var current = "0"
    private var actors = [Step](repeating: .idle, count: 5)
    private var count = 0
    private var written: [ContentHash: Int] = [:]
    private var foreign: Set<ContentHash> = [ContentHash(of: "0".utf8)]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        test = try TestWorkspace()
        file = try path("a.md")
    }

    mutating func step() throws {
        if Int.random(in: 0..<20, using: &random) == 0 {
            count += 1
            current = "foreign \(count)"
            foreign.insert(ContentHash(of: current.utf8))
            return
        }
        if Int.random(in: 0..<30, using: &random) == 0 {
            // Nothing is that old, so that pruning only rewrites the log.
            return try archive.prune(olderThan: .distantPast, now: Date())
        }
        try go(Int.random(in: actors.indices, using: &random))
    }

    /// Performs an actor's next step.
    private mutating func go(_ actor: Int) throws {
        switch actors[actor] {
        case .idle:
            let isScan = Int.random(in: 0..<3, using: &random) == 0
            actors[actor] = .read(current, try archive.snapshot().position, isScan: isScan)
        case .read(let text, let position, let isScan):
            try find(text, since: position)
            // A writer reads again if another one recorded something in between.
            let isRecorded = try archive.index().contents[file] == ContentHash(of: text.utf8)
            actors[actor] = isScan || !isRecorded ? .idle : try begin(over: text, by: actor)
        case .begun(let lines, let text, let old):
            if current == old {
                current = text
                written[ContentHash(of: text.utf8)] = actor
                actors[actor] = .written(lines)
            } else {
                try archive.withdraw(lines)
                actors[actor] = .idle
            }
        case .written(let lines):
            try archive.finish(lines)
            actors[actor] = .idle
        }
    }

    private func find(_ text: String, since position: VersionLog.Position) throws {
        guard try archive.index().contents[file] != ContentHash(of: text.utf8) else { return }
        let found = ObservedContent(
            path: file, hash: ContentHash(of: text.utf8), bytes: Array(text.utf8), isConflicted: false)
        try archive.found([found], since: position, now: Date(millisecondsSince1970: Int64(count)))
    }

    private mutating func begin(over old: String, by actor: Int) throws -> Step {
        count += 1
        let text = "\(count) of \(actor)"
        let version = WorkspaceVersion(
            hash: ContentHash(of: text.utf8), date: Date(millisecondsSince1970: Int64(count)),
            author: .agent("\(actor)"),
            kind: .written, parents: [ContentHash(of: old.utf8)])
        let line = VersionLine(mark: .begun, path: file, version: version)
        return .begun(try archive.begin([line], keeping: [Array(text.utf8)]), text: text, over: old)
    }

    /// Finishes all actors, scans once more, and checks the recorded versions.
    mutating func end() throws {
        for actor in actors.indices {
            while true {
                if case .idle = actors[actor] { break }
                try go(actor)
            }
        }
        try find(current, since: archive.snapshot().position)
        let versions = try archive.versions(of: file)
        #expect(try archive.index().contents[file] == ContentHash(of: current.utf8))
        #expect(Set(versions.filter { $0.author == nil }.map(\.hash)).isSubset(of: foreign))
        let own = versions.filter { $0.author != nil }
        #expect(own.count == written.count)
        for version in own {
            #expect(version.kind == .written && version.author == written[version.hash].map { .agent("\($0)") })
        }
    }
}
