import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Merges after a merge that was killed, or that ended, before it removed anything from the replica.
@Suite("container: a partially merged replica") struct HalfMergedReplicaTests {
    private let test: TestReplica
    private let replica: SharedWorkspace
    private var cloud: MemoryProvider { test.cloud }

    init() throws {
        test = try TestReplica()
        replica = try test.replica()
    }

    @Test("A line merged before the interruption and removed since is not merged again")
    func takenOnce() async throws {
        try await replica.write("- ours\n- old\n", to: path("context.md"), replacing: nil, by: .agent("ahab"))
        cloud.put("- theirs\n", at: "context.md")
        try await test.mergeEndingBeforeRemoval()
        #expect(try cloud.text("context.md") == "- ours\n- old\n- theirs\n")
        let workspace = try test.open()
        let merged = try await workspace.read(path("context.md"))
        try await workspace.write("- ours\n- theirs\n", to: path("context.md"), replacing: merged.version)
        #expect(try await workspace.mergeReplica().merged == [path("context.md")])
        #expect(try cloud.text("context.md") == "- ours\n- theirs\n")
        #expect(try await test.isMerged())
    }

    @Test("A write in the replica after the interruption is merged with the container's current text")
    func writtenBetween() async throws {
        let first = try await replica.write("- one\n- two\n- three\n", to: path("notes.md"), replacing: nil)
        try await test.mergeEndingBeforeRemoval()
        let workspace = try test.open()
        let taken = try await workspace.read(path("notes.md"))
        try await workspace.write("- two\n- three\n- four\n", to: path("notes.md"), replacing: taken.version)
        let again = try test.replica()
        try await again.write("- zero\n- one\n- two\n", to: path("notes.md"), replacing: first.version)
        #expect(try await workspace.mergeReplica().failures.isEmpty)
        #expect(try cloud.text("notes.md") == "- zero\n- two\n- four\n")
        #expect(try await test.isMerged())
    }

    @Test(
        "A file merged before the interruption and removed since, by any program, stays removed",
        arguments: [true, false])
    func removedBetween(isKnown: Bool) async throws {
        cloud.put([0xFF], at: "a.bin")
        let (alone, apart) = (try path("notes.md"), try path("a.bin"))
        try await replica.write("- ours\n", to: alone, replacing: nil)
        try await replica.write([0, 1, 2], to: apart, replacing: nil)
        try await test.mergeEndingBeforeRemoval()
        let workspace = try test.open()
        let kept = try path(KeptCopyName.name(for: "a.bin", holding: ContentHash(of: [0, 1, 2])))
        for copy in [alone, kept] {
            if isKnown {
                try await workspace.trash(copy, replacing: workspace.read(copy).version)
            } else {
                cloud.drop(copy.description)
            }
        }
        #expect(try await workspace.mergeReplica().failures.isEmpty)
        #expect(cloud.state.withLock { Array($0.files.keys) } == [apart])
        #expect(try await test.isMerged())
        // It can still be restored, and a file written in the replica now is new.
        #expect(try await workspace.restore(alone).text == "- ours\n")
        try await workspace.trash(alone, replacing: ContentHash(of: "- ours\n".utf8))
        try await test.replica().write("- ours\n", to: alone, replacing: nil)
        try await workspace.mergeReplica()
        #expect(try cloud.text("notes.md") == "- ours\n")
    }

    @Test("A kept copy made before the interruption and changed since is not made again")
    func changedBetween() async throws {
        cloud.put([0xFF], at: "a.bin")
        try await replica.write([0, 1, 2], to: path("a.bin"), replacing: nil)
        try await test.mergeEndingBeforeRemoval()
        let kept = KeptCopyName.name(for: "a.bin", holding: ContentHash(of: [0, 1, 2]))
        cloud.put([0, 1, 2, 3], at: kept)
        #expect(try await test.open().mergeReplica().failures.isEmpty)
        #expect(
            cloud.state.withLock { $0.files.mapValues(\.bytes) }
                == [try path("a.bin"): [0xFF], try path(kept): [0, 1, 2, 3]])
        #expect(try await test.isMerged())
    }

    @Test("A file changed in the replica since the interruption is merged, although it was removed here")
    func removedAndWritten() async throws {
        let first = try await replica.write("- one\n", to: path("notes.md"), replacing: nil)
        try await test.mergeEndingBeforeRemoval()
        cloud.drop("notes.md")
        let again = try test.replica()
        try await again.write("- one\n- two\n", to: path("notes.md"), replacing: first.version)
        #expect(try await test.open().mergeReplica().merged == [path("notes.md")])
        #expect(try cloud.text("notes.md") == "- one\n- two\n")
    }

    @Test("Only folders emptied by the merge are removed from the replica")
    func emptiedFolders() async throws {
        let files = test.account.replica.files
        for name in ["a/b/c/ours.md", "a/ours.md", "d/ours.md", "d/e/ours.md"] {
            try await replica.write("- ours\n", to: path(name), replacing: nil)
        }
        for name in ["theirs/empty", "a/empty"] {
            try FileManager.default.createDirectory(
                at: files.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        try Data("- by hand\n".utf8).write(to: files.appendingPathComponent("theirs/hand.md"))
        // Not a workspace file, so it is not merged.
        try Data("x".utf8).write(to: files.appendingPathComponent("d/.hidden"))
        try await test.mergeEndingBeforeRemoval()
        let folders = ["a", "a/b", "a/b/c", "a/empty", "d", "d/e", "theirs", "theirs/empty"]
        #expect(try await test.open().mergeReplica().failures.isEmpty)
        let left = folders.filter { FileManager.default.fileExists(atPath: files.appendingPathComponent($0).path) }
        #expect(left == ["a", "a/empty", "d", "theirs", "theirs/empty"])
    }

    @Test("An emptied folder that a killed merge did not remove is removed by the next merge")
    func emptiedBefore() async throws {
        let file = try await replica.write("- ours\n", to: path("a/b/ours.md"), replacing: nil)
        try await replica.trash(file.path, replacing: file.version)
        try await test.open().mergeReplica()
        #expect(try await replica.list().isEmpty)
    }

    @Test("A file written again, after it was merged and its text removed, is merged as new")
    func writtenAgain() async throws {
        for round in 0..<2 {
            try await replica.write("- milk\n", to: path("todo.md"), replacing: nil)
            let workspace = try test.open()
            #expect(try await workspace.mergeReplica().merged == [path("todo.md")])
            #expect(try cloud.text("todo.md")?.contains("- milk\n") == true, "round \(round)")
            let bought = try await workspace.read(path("todo.md"))
            try await workspace.write("# Nothing\n", to: path("todo.md"), replacing: bought.version)
        }
    }
}
