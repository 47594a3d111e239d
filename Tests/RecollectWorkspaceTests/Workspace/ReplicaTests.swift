import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Merging a replica while something interferes. `ContainerTests` merges random contents of both sides.
@Suite("container: replica merges with interference") struct ReplicaTests {
    private let test: TestReplica
    private let replica: SharedWorkspace
    private var cloud: MemoryProvider { test.cloud }

    init() throws {
        test = try TestReplica()
        replica = try test.replica()
    }

    @Test("A replica's file written during its merge is merged with its new text")
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

    @Test("A container's file written during its merge is merged with its new text")
    func writtenHere() async throws {
        try await replica.write("- ours\n", to: path("notes.md"), replacing: nil)
        let cloud = cloud
        cloud.state.withLock { $0.beforeChange = { cloud.put("- theirs\n", at: "notes.md") } }
        #expect(try await test.open().mergeReplica().merged == [path("notes.md")])
        #expect(cloud.lines("notes.md") == ["- ours", "- theirs"])
    }

    @Test("A merge takes nothing while the container or most of it is missing, and everything afterwards")
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

    @Test("A version that cannot be merged gets a kept copy with a unique name, even if its first name is taken")
    func forgedName() async throws {
        let ours: [UInt8] = [0, 1, 2]
        let hash = ContentHash(of: ours)
        try await replica.write(ours, to: path("a.bin"), replacing: nil, by: .agent("ahab"))
        cloud.put([0xFF], at: "a.bin")
        let forged = KeptCopyName.name(for: "a.bin", holding: hash)
        cloud.put([0xFE], at: forged)
        try await test.mergeEndingBeforeRemoval()
        let result = try await test.open().mergeReplica()
        let keptPath = try path(KeptCopyName.name(for: "a.bin", holding: hash, digits: 16))
        #expect(result.keptCopies == [try path("a.bin"): keptPath] && result.failures.isEmpty)
        let files = cloud.state.withLock { $0.files.mapValues(\.bytes) }
        #expect(files == [try path("a.bin"): [0xFF], try path(forged): [0xFE], keptPath: ours])
        #expect(try await test.open().versions(of: keptPath).map(\.author) == [.agent("ahab")])
    }

    @Test("Of two texts of one message, the losing one is saved as a kept copy of the chat")
    func changedMessage() async throws {
        let name = "Chats/moby-dick.json"
        let (ours, theirs) = (
            RandomChats.sample.replacing("Call me.", with: "AAA"), RandomChats.sample.replacing("Call me.", with: "BBB")
        )
        try await replica.write(ours, to: path(name), replacing: nil)
        cloud.put(theirs, at: name)
        let result = try await test.open().mergeReplica()
        let kept = try #require(result.keptCopies[try path(name)])
        let files = cloud.state.withLock { $0.files.mapValues { String(decoding: $0.bytes, as: UTF8.self) } }
        #expect(try files.count == 2 && files[path(name)]?.contains("BBB") == true)
        #expect(files[kept]?.contains("AAA") == true)
        #expect(try await test.isMerged())
    }

    @Test("A replica's file edited by another program is not attributed to an agent")
    func externalEdit() async throws {
        try await replica.write("- ahab's\n", to: path("notes.md"), replacing: nil, by: .agent("ahab"))
        try Data("- by hand\n".utf8).write(to: test.account.replica.files.appendingPathComponent("notes.md"))
        let workspace = try test.open()
        try await workspace.mergeReplica()
        #expect(try await workspace.versions(of: path("notes.md")).map(\.author) == [.user])
        #expect(try await replica.versions(of: path("notes.md")).map(\.kind) == [.trashed, .edited, .written])
    }

    @Test("Both texts are archived, and the author of the merged text is Recollect")
    func archived() async throws {
        let ours = try await replica.write("- ours\n", to: path("notes.md"), replacing: nil, by: .agent("ahab"))
        cloud.put("- theirs\n", at: "notes.md")
        let workspace = try test.open()
        try await workspace.mergeReplica()
        let versions = try await workspace.versions(of: path("notes.md"))
        #expect(versions.map(\.kind) == [.merged, .observed] && versions[0].author == .recollect)
        #expect(try await workspace.content(of: ours.version) == ours.bytes)
    }

    @Test("Two concurrent merges take each file once, and neither reports a failure")
    func together() async throws {
        for number in 0..<6 {
            cloud.put("- theirs\n", at: "\(number).md")
            cloud.put([0xFF, UInt8(number)], at: "\(number).bin")
            try await replica.write("- ours\n", to: path("\(number).md"), replacing: nil)
            try await replica.write([0xFE, UInt8(number)], to: path("\(number).bin"), replacing: nil)
        }
        async let first = test.open().mergeReplica()
        async let second = test.open().mergeReplica()
        #expect(try await first.failures.isEmpty)
        #expect(try await second.failures.isEmpty)
        for number in 0..<6 { #expect(cloud.lines("\(number).md") == ["- ours", "- theirs"]) }
        #expect(cloud.state.withLock { $0.files.count } == 18)
        #expect(try await test.isMerged())
    }

    @Test("A text that looks like a credential is not merged into the container")
    func credential() async throws {
        var configuration = WorkspaceConfiguration(stateURL: test.account.replica.state)
        configuration.credentials = .allow
        let careless = try SharedWorkspace(root: test.account.replica.files, configuration: configuration)
        for name in ["a.md", "b.md"] {
            try await careless.write("key AKIAIOSFODNN7EXAMPLF\n", to: path(name), replacing: nil)
        }
        cloud.put("- theirs\n", at: "b.md")
        let left = try await test.open().mergeReplica().failures
        #expect(left.values.allSatisfy { ($0 as? RecollectError)?.code == .credential } && left.count == 2)
        #expect(try cloud.text("a.md") == nil && cloud.text("b.md") == "- theirs\n")
    }

    @Test("Merging an empty replica changes nothing")
    func empty() async throws {
        let result = try await test.open().mergeReplica()
        #expect(result.merged.isEmpty && result.keptCopies.isEmpty && result.failures.isEmpty)
        #expect(cloud.state.withLock { $0.files.isEmpty })
    }
}

extension MemoryProvider {
    /// The lines of a file, sorted by their bytes.
    fileprivate func lines(_ path: String) -> [String]? {
        (try? text(path))??.split(separator: "\n").map(String.init).sorted()
    }
}
