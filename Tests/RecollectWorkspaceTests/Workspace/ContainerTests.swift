import Foundation
import RecollectCore
import RecollectTestSupport
import RecollectTesting
import RecollectWorkspace
import Testing

@Suite("container: a workspace in an intermittently available container")
struct ContainerTests {
    private let folder: TestFolder
    private let cloud = SimulatedCloud(seed: 1)
    private var device: SimulatedDevice { cloud.device("phone") }

    init() throws {
        folder = try TestFolder()
    }

    private func open() throws -> SharedWorkspace {
        try SharedWorkspace(
            container: device.container,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("container")))
    }

    private func isUnavailable(_ work: () async throws -> Void) async -> Bool {
        do {
            try await work()
            return false
        } catch {
            return (error as? RecollectError)?.code == .unavailable
        }
    }

    private let note = WorkspacePath.note

    @Test("A found container stays in use while a look-up finds nothing or never returns")
    func date() async throws {
        device.container.isHeld = true
        let first = try open()
        #expect(first.rootURL != device.rootURL)
        device.container.isHeld = false
        #expect(try await first.lookUpContainer()?.standardizedFileURL == device.rootURL.standardizedFileURL)
        #expect(first.rootURL != device.rootURL)
        let second = try open()
        #expect(second.rootURL == device.rootURL)
        #expect(second.iCloudDocumentsURL()?.standardizedFileURL == device.rootURL.standardizedFileURL)
        device.container.isMissing = true
        #expect(second.iCloudDocumentsURL() == nil)
        #expect(try await second.lookUpContainer() == nil)
        let third = try open()
        #expect(third.rootURL == second.rootURL)
        try await third.write("still here", to: note, replacing: nil)
        #expect(device.files() == ["note.md": Array("still here".utf8)])
        #expect(try await second.read(note).text == "still here")
    }

    @Test("Writing stops when the account signs out, and resumes when it signs in again")
    func signOut() async throws {
        try await open().lookUpContainer()
        let workspace = try open()
        try await workspace.write("ours", to: note, replacing: nil)
        device.container.signOut()
        #expect(workspace.iCloudDocumentsURL() == nil)
        #expect(await isUnavailable { try await workspace.write("theirs?", to: .other, replacing: nil) })
        #expect(await isUnavailable { _ = try await workspace.read(note) })
        #expect(await isUnavailable { try await workspace.lookUpContainer() })
        #expect(await isUnavailable { try await workspace.mergeReplica() })
        #expect(try await !workspace.status().isAvailable)
        let nobodys = try open()
        #expect(nobodys.rootURL != workspace.rootURL)
        #expect(try await nobodys.list().isEmpty)
        device.container.signIn()
        #expect(try await workspace.status().isAvailable)
        #expect(try await workspace.read(note).text == "ours")
        #expect(await isUnavailable { try await nobodys.write("late", to: note, replacing: nil) })
    }

    @Test("Another account sees no files or offline replica of the first, and nothing is written to its container")
    func otherAccount() async throws {
        let replica = try open()
        try await replica.write("anna's, offline", to: .other, replacing: nil)
        try await replica.lookUpContainer()
        let annas = try open()
        try await annas.write("anna's", to: note, replacing: nil)
        let other = SimulatedCloud(seed: 2, account: "berta")
        device.container.signIn(to: other)
        for workspace in [replica, annas] {
            #expect(await isUnavailable { try await workspace.write("x", to: .third, replacing: nil) })
            #expect(await isUnavailable { try await workspace.mergeReplica() })
        }
        let bertas = try open()
        #expect(try await bertas.list().isEmpty)
        try await bertas.lookUpContainer()
        let found = try open()
        #expect(found.rootURL == other.device("phone").rootURL)
        #expect(try await found.mergeReplica().merged.isEmpty)
        #expect(other.device("phone").files().isEmpty)
        device.container.signIn()
        #expect(try await open().mergeReplica().merged == [.other])
        #expect(device.files().keys.sorted() == ["note.md", "other.md"])
    }

    @Test("Files written while signed out go to the first account that signs in, and to no other")
    func nobody() async throws {
        device.container.signOut()
        let nobodys = try open()
        #expect(try await nobodys.lookUpContainer() == nil)
        try await nobodys.write("before signing in", to: note, replacing: nil)
        device.container.signIn()
        let first = try open()
        #expect(try await first.read(note).text == "before signing in")
        device.container.signOut()
        #expect(try await open().list().isEmpty)
        try await open().write("again", to: .other, replacing: nil)
        device.container.signIn()
        // The account already has a replica: both are merged.
        #expect(try await open().mergeReplica().merged == [.other])
        #expect(try await first.list().map(\.path) == [note, .other])
        device.container.signIn(to: SimulatedCloud(seed: 3, account: "berta"))
        #expect(try await open().list().isEmpty)
    }

    @Test("A replica's file stays in the replica while its counterpart in the container is not local")
    func evicted() async throws {
        let replica = try open()
        try await replica.write("# Offline\n", to: note, replacing: nil)
        try await replica.lookUpContainer()
        device.edit("note.md", "# Cloud\n")
        _ = try cloud.syncCompletely()
        try device.evict("note.md")
        let workspace = try open()
        let first = try await workspace.mergeReplica(download: .request)
        #expect(first.merged.isEmpty && first.failures[note] is FileNotYetAvailableError)
        _ = try cloud.syncCompletely()
        #expect(try await workspace.mergeReplica().failures.isEmpty)
        let all = device.files().values.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(all.contains("Offline") && all.contains("Cloud"))
    }

    @Test("A merge interrupted between its two steps is completed by the next merge")
    func goesOn() async throws {
        let replica = try open()
        try await replica.write("# Offline\n", to: note, replacing: nil)
        try await replica.lookUpContainer()
        device.edit("note.md", "# Offline\n")
        let result = try await open().mergeReplica()
        #expect(result.merged == [note] && result.keptCopies.isEmpty && result.failures.isEmpty)
        #expect(device.files() == ["note.md": Array("# Offline\n".utf8)])
        #expect(try await replica.list().isEmpty)
        // The version taken from the replica is in the replica's archive.
        #expect(try await replica.restore(note).text == "# Offline\n")
    }

    @Test("container: an offline replica merges when the container is found, and no text of either is lost")
    func merges() async {
        await Seeds.run(60, checkMerge)
    }

    private func checkMerge(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TestFolder()
        let cloud = SimulatedCloud(seed: seed)
        let (phone, tablet) = (cloud.device("phone"), cloud.device("tablet"))
        func open() throws -> SharedWorkspace {
            try SharedWorkspace(
                container: phone.container,
                configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("container")))
        }
        let paths = [
            "context.md", "Journal/user/2026-11-21.md", "Research/moby/full_text.txt", "notes.md", "a/b/c.bin",
        ]
        let journalDay = "# 2026-11-21\n"
        func text(_ word: String, at path: String) -> String {
            path.hasPrefix("Journal")
                ? "\n## 10:00 <!-- note \(word) 2026-11-21T10:00:00.000Z -->\n\n> \(word)\n" : "# \(word)\n\n\(word)\n"
        }
        var words: [String] = []
        let replica = try open()
        for _ in 0..<12 {
            words.append("word\(words.count)x")
            guard let path = paths.randomElement(using: &generator), let word = words.last else { continue }
            let added = text(word, at: path)
            if Bool.random(using: &generator) {
                try await replica.append(added, to: WorkspacePath(path))
            } else {
                let device = Bool.random(using: &generator) ? phone : tablet
                let old = device.files()[path] ?? Array(journalDay.utf8)
                device.edit(path, old + Array(added.utf8))
            }
            // Only one device writes at a time, so that the only conflicts are with the replica.
            _ = try cloud.syncCompletely()
        }
        try await replica.lookUpContainer()
        let workspace = try open()
        let result = try await workspace.mergeReplica()
        #expect(result.failures.isEmpty)
        #expect(try await workspace.mergeReplica().merged.isEmpty)
        _ = try cloud.syncCompletely()
        let all = tablet.files().values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        for word in words { #expect(all.contains(word), "lost \(word)") }
        #expect(tablet.files() == phone.files())
        let old = try SharedWorkspace(
            root: replica.rootURL,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("replica-state")))
        #expect(try await old.list(recursively: true).allSatisfy(\.isFolder))
    }
}

extension WorkspacePath {
    fileprivate static var note: WorkspacePath { path("note.md") }
    fileprivate static var other: WorkspacePath { path("other.md") }
    fileprivate static var third: WorkspacePath { path("third.md") }

    private static func path(_ text: String) -> WorkspacePath { (try? WorkspacePath(text)) ?? .root }
}
