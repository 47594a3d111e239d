import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Merging a replica where something comes in between. What both sides hold at random is in `ContainerTests`.
@Suite("container: a replica that merges while something goes wrong") struct ReplicaTests {
    private let test: TestReplica
    private let replica: SharedWorkspace
    private var cloud: MemoryProvider { test.cloud }

    init() throws {
        test = try TestReplica()
        replica = try test.replica()
    }

    @Test("a replica's file that is written while it is merged is merged as it is then")
    func writtenMeanwhile() async throws {
        try await replica.write("- one\n- two\n", to: path("notes.md"), replacing: nil)
        let replica = replica
        let written = DispatchSemaphore(value: 0)
        cloud.state.withLock { state in
            state.beforeChange = {
                Task {
                    let old = try await replica.read(WorkspacePath("notes.md"))
                    try await replica.write("- two\n- three\n", to: old.path, replacing: old.version)
                    written.signal()
                }
                written.wait()
            }
        }
        #expect(try await test.open().mergeReplica().merged == [path("notes.md")])
        #expect(try cloud.text("notes.md") == "- two\n- three\n")
        #expect(try await test.isMerged())
    }

    @Test("a file here that is written while it is merged is merged as it is then")
    func writtenHere() async throws {
        try await replica.write("- ours\n", to: path("notes.md"), replacing: nil)
        let cloud = cloud
        cloud.state.withLock { $0.beforeChange = { cloud.put("- theirs\n", at: "notes.md") } }
        #expect(try await test.open().mergeReplica().merged == [path("notes.md")])
        #expect(cloud.lines("notes.md") == ["- ours", "- theirs"])
    }

    @Test("while the container is gone or most of it is, nothing is taken from the replica, and later all of it")
    func unavailable() async throws {
        for number in 0..<6 { cloud.put("- theirs \(number)\n", at: "\(number).md") }
        _ = try await test.open().status()
        for number in 0..<8 {
            try await replica.write("- ours \(number)\n", to: path("\(number).md"), replacing: nil)
        }
        let cloud = cloud
        cloud.state.withLock { $0.beforeChange = { cloud.state.withLock { $0.isUnavailable = true } } }
        #expect(await code { try await test.open().mergeReplica() } == .unavailable)
        #expect(try await replica.list().count == 8)
        cloud.state.withLock { $0.isUnavailable = false }
        for number in 0..<6 { cloud.drop("\(number).md") }
        #expect(await code { try await test.open().mergeReplica() } == .unavailable)
        #expect(try await replica.list().count == 8)
        for number in 0..<6 { cloud.put("- theirs \(number)\n", at: "\(number).md") }
        #expect(try await test.open().mergeReplica().merged.count == 8)
        for number in 0..<6 { #expect(cloud.lines("\(number).md") == ["- ours \(number)", "- theirs \(number)"]) }
        #expect(try await test.isMerged())
    }

    @Test("what cannot be merged gets a name of its own, also where somebody has its first name for something else")
    func forgedName() async throws {
        let ours: [UInt8] = [0, 1, 2]
        let hash = ContentHash(of: ours)
        try await replica.write(ours, to: path("a.bin"), replacing: nil, by: .agent("ahab"))
        cloud.put([0xFF], at: "a.bin")
        let forged = KeptCopyName.name(for: "a.bin", holding: hash)
        cloud.put([0xFE], at: forged)
        try await test.mergeEndingBeforeRemoval()
        let result = try await test.open().mergeReplica()
        let place = try path(KeptCopyName.name(for: "a.bin", holding: hash, digits: 16))
        #expect(result.kept == [try path("a.bin"): place] && result.left.isEmpty)
        let files = cloud.state.withLock { $0.files.mapValues(\.bytes) }
        #expect(files == [try path("a.bin"): [0xFF], try path(forged): [0xFE], place: ours])
        #expect(try await test.open().versions(of: place).map(\.author) == [.agent("ahab")])
    }

    @Test("of two texts of one message, the one that gives way lies beside the chat")
    func changedMessage() async throws {
        let name = "Chats/moby-dick.json"
        let (ours, theirs) = (
            RandomChats.sample.replacing("Call me.", with: "AAA"), RandomChats.sample.replacing("Call me.", with: "BBB")
        )
        try await replica.write(ours, to: path(name), replacing: nil)
        cloud.put(theirs, at: name)
        let result = try await test.open().mergeReplica()
        let kept = try #require(result.kept[try path(name)])
        let files = cloud.state.withLock { $0.files.mapValues { String(decoding: $0.bytes, as: UTF8.self) } }
        #expect(try files.count == 2 && files[path(name)]?.contains("BBB") == true)
        #expect(files[kept]?.contains("AAA") == true)
        #expect(try await test.isMerged())
    }

    @Test("what another program wrote in the replica is not said to be an agent's")
    func externalEdit() async throws {
        try await replica.write("- ahab's\n", to: path("notes.md"), replacing: nil, by: .agent("ahab"))
        try Data("- by hand\n".utf8).write(to: test.account.replica.files.appendingPathComponent("notes.md"))
        let workspace = try test.open()
        try await workspace.mergeReplica()
        #expect(try await workspace.versions(of: path("notes.md")).map(\.author) == [.user])
        #expect(try await replica.versions(of: path("notes.md")).map(\.kind) == [.trashed, .edited, .written])
    }

    @Test("both texts are kept in the archive here, and the merged one is nobody's but Recollect's")
    func archived() async throws {
        let ours = try await replica.write("- ours\n", to: path("notes.md"), replacing: nil, by: .agent("ahab"))
        cloud.put("- theirs\n", at: "notes.md")
        let workspace = try test.open()
        try await workspace.mergeReplica()
        let versions = try await workspace.versions(of: path("notes.md"))
        #expect(versions.map(\.kind) == [.merged, .observed] && versions[0].author == .recollect)
        #expect(try await workspace.content(of: ours.version) == ours.bytes)
    }

    @Test("two processes that merge at once take each file once, and neither tells of a failure")
    func together() async throws {
        for number in 0..<6 {
            cloud.put("- theirs\n", at: "\(number).md")
            cloud.put([0xFF, UInt8(number)], at: "\(number).bin")
            try await replica.write("- ours\n", to: path("\(number).md"), replacing: nil)
            try await replica.write([0xFE, UInt8(number)], to: path("\(number).bin"), replacing: nil)
        }
        async let first = test.open().mergeReplica()
        async let second = test.open().mergeReplica()
        #expect(try await first.left.isEmpty)
        #expect(try await second.left.isEmpty)
        for number in 0..<6 { #expect(cloud.lines("\(number).md") == ["- ours", "- theirs"]) }
        #expect(cloud.state.withLock { $0.files.count } == 18)
        #expect(try await test.isMerged())
    }

    @Test("a text in the shape of a credential stays out of the cloud, whatever it would be merged with")
    func credential() async throws {
        var configuration = WorkspaceConfiguration(stateURL: test.account.replica.state)
        configuration.credentials = .allow
        let careless = try SharedWorkspace(root: test.account.replica.files, configuration: configuration)
        for name in ["a.md", "b.md"] {
            try await careless.write("key AKIAIOSFODNN7EXAMPLF\n", to: path(name), replacing: nil)
        }
        cloud.put("- theirs\n", at: "b.md")
        let left = try await test.open().mergeReplica().left
        #expect(left.values.allSatisfy { ($0 as? RecollectError)?.code == .credential } && left.count == 2)
        #expect(try cloud.text("a.md") == nil && cloud.text("b.md") == "- theirs\n")
    }

    @Test("an empty replica merges into nothing")
    func empty() async throws {
        let result = try await test.open().mergeReplica()
        #expect(result.merged.isEmpty && result.kept.isEmpty && result.left.isEmpty)
        #expect(cloud.state.withLock { $0.files.isEmpty })
    }
}

extension MemoryProvider {
    /// The lines of a file, in the order of their bytes.
    fileprivate func lines(_ path: String) -> [String]? {
        (try? text(path))??.split(separator: "\n").map(String.init).sorted()
    }
}
