import Foundation
import RecollectCore
import RecollectTestSupport
import RecollectTesting
import Testing

@testable import RecollectWorkspace

@Suite("Folder faults in a simulated cloud") struct SimulatedFaultTests {
    private let note = WorkspacePath(checked: ["notes", "note.md"])

    private func code(_ work: () async throws -> Void) async -> RecollectError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? RecollectError)?.code
        }
    }

    @Test(
        "not-local: a file that is not local is reported, and never overwritten, removed or merged",
        arguments: [CloudBehavior.Eviction.placeholder, .dataless])
    func evicted(kind: CloudBehavior.Eviction) async throws {
        var behavior = CloudBehavior(conflicts: .syncthing)
        behavior.eviction = kind
        await Seeds.run(20) { seed in
            let fleet = try SimulatedFleet(seed: seed, behavior: behavior)
            let device = fleet.devices[0].device
            let workspace = fleet[0]
            let old = try await workspace.write("- one\n", to: note, replacing: nil)
            let copy = "notes/note.sync-conflict-20260115-120003-IAHOH7J.md"
            device.edit(copy, "- two\n")
            try fleet.cloud.syncCompletely()
            try device.evict(note.text)
            if seed % 2 == 0 { try device.evict(copy) }
            let before = (fleet.cloud.files(), device.evictedFiles())
            #expect(try await workspace.item(at: note).state == .notLocal)
            #expect(await code { try await workspace.write("x", to: note, replacing: nil) } == .notLocal)
            #expect(await code { try await workspace.write("x", to: note, replacing: old.version) } == .notLocal)
            #expect(await code { try await workspace.append("x", to: note) } == .notLocal)
            #expect(await code { try await workspace.trash(note, replacing: old.version) } == .notLocal)
            #expect(await code { try await workspace.move(note, to: WorkspacePath("notes/b.md")) } == .notLocal)
            #expect(try await workspace.search(WorkspaceQuery("one")).filesNotLocal > 0)
            #expect(before.0 == fleet.cloud.files() && before.1 == device.evictedFiles(), "\(fleet.name)")
            #expect(try await workspace.resolveConflicts().map(\.outcome) == [.notLocal], "\(fleet.name)")
            try fleet.cloud.syncCompletely()
            #expect(before.0 == fleet.cloud.files() && device.evictedFiles().isEmpty, "\(fleet.name)")
            #expect(try await workspace.resolveConflicts().map(\.outcome) == [.merged], "\(fleet.name)")
            #expect(fleet.text(note.text) == "- one\n- two\n", "\(fleet.name)")
        }
    }

    @Test(
        "slow-download: waiting for an endless download times out or is canceled; the download continues later",
        .endsHanging)
    func stalled() async throws {
        let fleet = try SimulatedFleet(seed: 1, behavior: .iCloud)
        let device = fleet.devices[0].device
        device.edit(note.text, "here")
        try fleet.cloud.syncCompletely()
        try device.evict(note.text)
        fleet.cloud.behavior.downloads = .stalled
        // The wait ends at once, and the poll in between never runs.
        var configuration = WorkspaceConfiguration(stateURL: fleet.devices[0].stateURL)
        configuration.sleep = { time in
            if time < .seconds(60) { try await Task.sleep(for: .seconds(86_400)) }
        }
        let hasty = try SharedWorkspace(provider: device.provider, configuration: configuration)
        #expect(await code { _ = try await hasty.read(note, download: .wait(.seconds(60))) } == .timedOut)
        #expect(try device.provider.item(at: note)?.state == .downloading)
        configuration.sleep = { _ in try await Task.sleep(for: .seconds(86_400)) }
        let patient = try SharedWorkspace(provider: device.provider, configuration: configuration)
        let path = note
        let cancelled = Task { try await patient.read(path) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let waiting = Task { try await patient.read(path) }
        fleet.cloud.behavior.downloads = .later
        try fleet.cloud.syncCompletely()
        #expect(try await waiting.value.text == "here")
    }

    @Test("disk-full: a full disk loses nothing, local writes work over the quota, and the status shows both")
    func full() async throws {
        await Seeds.run(20) { seed in
            let fleet = try SimulatedFleet(seed: seed)
            let device = fleet.devices[0].device
            let workspace = fleet[0]
            let old = try await workspace.write("- one\n", to: note, replacing: nil)
            var status = try await workspace.status()
            #expect(status.notUploaded == [note] && status.overQuota.isEmpty && status.lastFailure == nil)
            device.capacity = 8
            #expect(await code { try await workspace.append("- two, and more than fits\n", to: note) } == .diskFull)
            #expect(try await workspace.read(note) == old)
            #expect(try await workspace.versions(of: note).map(\.kind) == [.written], "\(fleet.name)")
            status = try await workspace.status()
            #expect(status.isAvailable && status.lastFailure?.code == .diskFull)
            device.capacity = nil
            fleet.cloud.quota = 2
            try await workspace.append("- two, and more than fits\n", to: note)
            try fleet.cloud.syncCompletely()
            #expect(fleet.cloud.isOverQuota && fleet.devices[1].device.files().isEmpty, "\(fleet.name)")
            #expect(try await workspace.read(note).text == "- one\n- two, and more than fits\n")
            status = try await workspace.status()
            #expect(status.notUploaded == [note] && status.overQuota == [note] && status.lastFailure == nil)
            #expect(try await fleet.faults() == [])
            #expect(fleet.text(note.text, on: 1) == "- one\n- two, and more than fits\n", "\(fleet.name)")
            status = try await workspace.status()
            #expect(status.notUploaded.isEmpty && status.overQuota.isEmpty, "\(fleet.name)")
        }
    }

    @Test("name-collisions: on a case-insensitive disk, a write with another spelling keeps the file's name")
    func spelling() async throws {
        let cloud = SimulatedCloud(seed: 1)
        cloud.device("anna").foldsCase = true
        let folder = try TestFolder()
        let device = try LifeDevice(
            cloud.device("anna"), interruptions: Interruptions(ledger: LifeLedger(seed: 1)), in: folder.url)
        let workspace = device.workspace
        let old = try await workspace.write("- one\n", to: note, replacing: nil)
        let other = WorkspacePath(checked: ["Notes", "NOTE.md"])
        let new = try await workspace.write("- two\n", to: other, replacing: old.version, by: .agent("ahab"))
        #expect(new.path == note)
        try await workspace.write("- new\n", to: WorkspacePath(checked: ["NOTES", "new.md"]), replacing: nil)
        #expect(device.device.files().keys.sorted() == ["notes/new.md", "notes/note.md"])
        _ = try await workspace.status()
        for path in [note, other] {
            #expect(try await workspace.versions(of: path).map(\.author) == [.agent("ahab"), .user])
        }
        try await workspace.trash(other, replacing: new.version)
        _ = try await workspace.status()
        #expect(try await workspace.versions(of: note).map(\.kind) == [.trashed, .written, .written])
    }

    @Test("mass-deletion: if all files disappear at once, none counts as deleted, even after a restart")
    func vanished() async throws {
        await Seeds.run(30) { seed in
            var fleet = try SimulatedFleet(seed: seed)
            let device = fleet.devices[0].device
            for number in 0..<5 {
                try await fleet[0].write("- \(number)\n", to: WorkspacePath("notes/\(number).md"), replacing: nil)
            }
            try fleet.cloud.syncCompletely()
            let there = fleet.cloud.files()
            _ = try await fleet[0].status()
            device.removeAllFiles()
            let known = try WorkspacePath("notes/0.md")
            #expect(try await fleet[0].status().missing.count == 5)
            if seed % 2 == 0 { try fleet.devices[0].restart() }
            let workspace = fleet[0]
            #expect(await code { try await workspace.resolveConflicts() } == .unavailable, "\(fleet.name)")
            #expect(await code { _ = try await workspace.read(known) } == .unavailable, "\(fleet.name)")
            #expect(await code { try await workspace.append("x", to: known) } == .unavailable, "\(fleet.name)")
            #expect(
                await code { try await workspace.write("x", to: known, replacing: nil) } == .unavailable,
                "\(fleet.name)")
            try fleet.cloud.syncCompletely()
            #expect(fleet.cloud.files() == there, "\(fleet.name)")
            device.restoreFiles()
            #expect(try await !workspace.status().isMassDeletion)
            #expect(device.files() == there, "\(fleet.name)")
        }
    }

    @Test("mass-deletion: files deleted on another device are deleted here once accepted, and can be restored")
    func emptied() async throws {
        await Seeds.run(10) { seed in
            let fleet = try SimulatedFleet(seed: seed, behavior: .syncthing)
            let device = fleet.devices[0].device
            for number in 0..<5 { device.edit("notes/\(number).md", "- \(number)\n") }
            try fleet.cloud.syncCompletely()
            for device in fleet.devices { _ = try await device.workspace.status() }
            device.deleteEverything()
            try fleet.cloud.syncCompletely()
            #expect(try await fleet[1].status().missing.count == 5, "\(fleet.name)")
            try await fleet[1].acceptDeletions()
            #expect(try await !fleet[1].status().isMassDeletion)
            #expect(try await fleet[1].restore(WorkspacePath("notes/3.md")).text == "- 3\n", "\(fleet.name)")
            try fleet.cloud.syncCompletely()
            #expect(fleet.text("notes/3.md") == "- 3\n", "\(fleet.name)")
        }
    }

    @Test("stale-version: a write with a stale version is refused with the current content, and changes nothing")
    func stale() async throws {
        await Seeds.run(20) { seed in
            let fleet = try SimulatedFleet(seed: seed)
            let workspace = fleet[0]
            let read = try await workspace.write("- one\n", to: note, replacing: nil)
            fleet.devices[0].device.edit(note.text, "- two\n")
            for stale in [read.version, nil] {
                let error = await #expect(throws: FileChangedError.self) {
                    try await workspace.write("- three\n", to: note, replacing: stale, by: .agent("ahab"))
                }
                #expect(error?.current?.text == "- two\n", "\(fleet.name)")
            }
            #expect(fleet.text(note.text) == "- two\n", "\(fleet.name)")
            let current = try await workspace.read(note)
            try await workspace.write("- three\n", to: note, replacing: current.version)
            #expect(try await workspace.content(of: current.version) == Array("- two\n".utf8), "\(fleet.name)")
        }
    }
}
