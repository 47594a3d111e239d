import Foundation
import RecollectCore
import RecollectTestSupport
import RecollectTesting

@testable import RecollectWorkspace

/// A random life of a workspace on some devices of a simulated cloud. The seed determines all of it.
final class WorkspaceLife {
    let seed: UInt64
    let cloud: SimulatedCloud
    let ledger: LifeLedger
    let behavior: String
    private(set) var devices: [LifeDevice]
    private let interruptions: Interruptions
    private let kind: Kind
    private let folder: TestFolder
    private var faults: [String] = []

    enum Kind {
        case usual
        /// Editors use names that differ only in case or normalization.
        case nameCollisions
        /// Three to five devices without deletions. No editor writes to a partially arrived file, because saving a part
        /// deletes the rest.
        case onlyAdding
    }

    init(seed: UInt64, kind: Kind = .usual) throws {
        self.seed = seed
        self.kind = kind
        ledger = LifeLedger(seed: seed, onlyAdds: kind == .onlyAdding)
        folder = try TestFolder()
        var (name, behavior) = CloudBehavior.all[ledger.random(below: CloudBehavior.all.count)]
        if ledger.isOneIn(6) { behavior.evicts = true }
        if ledger.isOneIn(10) {
            behavior.duplicatesFolders = ledger.isOneIn(2) ? .copies : .splits
            name += ", with duplicated folders"
        }
        cloud = SimulatedCloud(seed: seed, behavior: behavior)
        interruptions = Interruptions(ledger: ledger)
        let count = kind == .onlyAdding ? 3 + ledger.random(below: 3) : ledger.isOneIn(4) ? 3 : 2
        let names = ["anna", "bert", "carl", "dora", "emil"].prefix(count)
        self.behavior = "\(name), \(names.count) devices"
        devices = []
        for name in names {
            let device = cloud.device(name)
            device.foldsCase = ledger.isOneIn(4)
            if ledger.isOneIn(6) { device.clockSkew = [-31_536_000, 31_536_000, 3_600][ledger.random(below: 3)] }
            devices.append(try LifeDevice(device, interruptions: interruptions, in: folder.url))
        }
    }

    /// Runs the life, brings the devices to rest, and returns the faults found then.
    func faults(steps: Int) async throws -> [String] {
        for _ in 0..<steps {
            for _ in 0..<ledger.random(below: 4) { cloud.step() }
            interruptions.isOn.withLock { $0 = true }
            try await act(on: ledger.random(below: devices.count))
            interruptions.isOn.withLock { $0 = false }
        }
        faults += try await LifeRest(cloud: cloud, ledger: ledger, devices: devices).faults()
        return faults
    }

    // MARK: - Actions

    private func act(on index: Int) async throws {
        let device = devices[index].device
        let path = try path()
        if kind == .onlyAdding, device.arrivingFiles().contains(path.text) { return }
        switch ledger.random(below: 32) {
        case 0...8: try await write(path, on: index)
        case 9...10: try await writeStale(on: index)
        case 11...14: try await append(path, on: index)
        case 15...19:
            let isDecomposed = kind == .nameCollisions && ledger.isOneIn(3)
            people(ledger, edit: isDecomposed ? path.text.decomposedStringWithCanonicalMapping : path.text, on: device)
        case 20...22 where kind == .onlyAdding: people(ledger, edit: path.text, on: device)
        case 20: deleteByHand(path.text, on: device)
        case 21: try await trash(path, on: index)
        case 22: try await move(path, on: index)
        case 23...25: try await resolve(on: index)
        case 26: try await scan(on: index)
        case 27: try devices[index].restart()
        case 28...30: changeTheWeather(on: device)
        default: cloud.duplicate(ledger.one(of: ["Journal", "Journal/user", "Chats", "Research/moby"]) ?? "Journal")
        }
    }

    private func path() throws -> WorkspacePath {
        guard kind == .nameCollisions, ledger.isOneIn(2) else {
            return try WorkspacePath(ledger.one(of: LifeTexts.paths) ?? "")
        }
        // A case-insensitive service has one spelling of a folder for all devices. The simulator does not.
        let nameCollisions = LifeTexts.nameCollisions + (cloud.behavior.foldsCase ? [] : LifeTexts.collidingFolders)
        return try WorkspacePath(ledger.one(of: nameCollisions) ?? "")
    }

    private func write(_ path: WorkspacePath, on index: Int) async throws {
        let workspace = devices[index].workspace
        try await attempt("\(devices[index].name) writes \(path)") {
            let old = try await self.readIfPresent(path, workspace)
            if let old, self.ledger.isOneIn(3) { self.devices[index].read[path] = old }
            let new = LifeTexts(ledger: self.ledger).next(at: path.text, after: old?.bytes)
            let written = try await workspace.write(new, to: path, replacing: old?.version, by: self.author())
            self.ledger.saved(written.bytes, at: path.text, replacing: old?.bytes, isArchived: true)
        }
    }

    /// Writes with a version read long ago: `stale-version`.
    private func writeStale(on index: Int) async throws {
        guard let (path, old) = ledger.one(of: devices[index].read.sorted { $0.key < $1.key }) else { return }
        interruptions.isOn.withLock { $0 = false }
        let new = LifeTexts(ledger: ledger).next(at: path.text, after: old.bytes)
        let (workspace, device) = (devices[index].workspace, devices[index].device)
        let before = device.files()[spelling(of: path.text, on: device)]
        try await attempt("\(device.name) writes \(path) with a version read long ago") {
            do {
                try await workspace.write(new, to: path, replacing: old.version)
                self.ledger.saved(new, at: path.text, replacing: old.bytes, isArchived: true)
                self.devices[index].read[path] = nil
                if before != old.bytes { self.faults.append("stale-version: a stale write of \(path) was accepted") }
            } catch let error as FileChangedError {
                if error.current?.bytes != before {
                    self.faults.append("stale-version: the error does not have the current content of \(path)")
                }
                if device.files()[spelling(of: path.text, on: device)] != before {
                    self.faults.append("stale-version: \(path) was changed")
                }
                throw error
            }
        }
    }

    private func append(_ path: WorkspacePath, on index: Int) async throws {
        let (workspace, word) = (devices[index].workspace, ledger.word())
        switch path.names[0] {
        case "Journal": try await appendEntry(word, to: path, on: index)
        case "context.md":
            try await attempt("\(devices[index].name) appends \(word) under a heading") {
                try await workspace.context.append("- \(word)", under: "Topic 1", by: .agent("ahab"))
                self.ledger.added(word)
            }
        case "notes":
            try await attempt("\(devices[index].name) appends \(word) to \(path)") {
                try await workspace.append("- \(word)\n", to: path)
                self.ledger.added(word)
            }
        default: break
        }
    }

    private func appendEntry(_ word: String, to path: WorkspacePath, on index: Int) async throws {
        // For a day that is not local, the append would wait for a download, which does not happen during this action.
        interruptions.isOn.withLock { $0 = false }
        let day = spelling(of: "Journal/\(path.names[1])/2026-01-15.md", on: devices[index].device)
        guard !devices[index].device.evictedFiles().contains(day) else { return }
        let minute = TimeInterval(60 * ledger.random(below: 300))
        let entry = JournalEntry(
            id: word, date: Date(timeIntervalSince1970: 1_768_478_400 + minute), text: "It is \(word).")
        let journal = WorkspaceJournal(workspace: devices[index].workspace, timeZone: .gmt)
        let id = JournalID(userId: "anna", agentId: path.names[1] == "user" ? "" : "ahab")
        try await attempt("\(devices[index].name) adds an entry \(word) to \(path)") {
            try await journal.append(entry, to: id)
            self.ledger.added(word)
        }
    }

    private func deleteByHand(_ path: String, on device: SimulatedDevice) {
        guard let old = device.files()[path] else { return }
        ledger.note("an editor on \(device.name) deletes \(path)")
        let versions = (try? device.provider.conflictVersions(of: WorkspacePath(path))) ?? []
        device.delete(path)
        for bytes in [old] + versions.map(\.bytes) { ledger.removed(bytes, at: path, isArchived: false) }
    }

    private func trash(_ path: WorkspacePath, on index: Int) async throws {
        let path = try WorkspacePath(spelling(of: path.text, on: devices[index].device))
        let workspace = devices[index].workspace
        try await attempt("\(devices[index].name) trashes \(path)") {
            guard let old = try await self.readIfPresent(path, workspace) else { return }
            // The file may have come in another spelling since.
            let stored = try self.devices[index].device.provider.canonicalPath(of: path)
            try await workspace.trash(path, replacing: old.version)
            try await self.excuse(stored, workspace)
        }
    }

    private func move(_ path: WorkspacePath, on index: Int) async throws {
        guard path.names[0] == "notes" else { return }
        let path = try WorkspacePath(spelling(of: path.text, on: devices[index].device))
        let workspace = devices[index].workspace
        let target = try WorkspacePath("notes/moved \(ledger.word()).md")
        try await attempt("\(devices[index].name) moves \(path) to \(target)") {
            do {
                try await workspace.move(path, to: target)
            } catch let error as RecollectError where error.code == .conflict {
                // Editors changed both files during the move.
                return self.ledger.note("  \(error.message)")
            }
            try await self.excuse(path, workspace)
        }
    }

    /// The versions and conflict versions of a file are archived with it, so they need not be in a current file.
    private func excuse(_ path: WorkspacePath, _ workspace: SharedWorkspace) async throws {
        for version in try await workspace.versions(of: path) {
            guard let bytes = try? await workspace.content(of: version.hash) else { continue }
            ledger.removed(bytes, at: path.text, isArchived: true)
        }
    }

    private func resolve(on index: Int) async throws {
        let workspace = devices[index].workspace
        try await attempt("\(devices[index].name) resolves conflicts") {
            let resolved = try await workspace.resolveConflicts()
            for one in resolved {
                self.ledger.note("  \(one.path): \(one.outcome.rawValue), of \(one.copies.map(\.text))")
            }
        }
    }

    private func scan(on index: Int) async throws {
        let workspace = devices[index].workspace
        try await attempt("\(devices[index].name) scans") { _ = try await workspace.status() }
    }

    private func changeTheWeather(on device: SimulatedDevice) {
        let used = device.files().values.reduce(0) { $0 + $1.count }
        switch ledger.random(below: 10) {
        case 0...2: device.isOnline.toggle()
        case 3: device.isUnavailable.toggle()
        case 4: cloud.quota = cloud.quota == nil ? cloud.files().values.reduce(100) { $0 + $1.count } : nil
        case 5: device.capacity = device.capacity == nil ? used + 50 : nil
        case 6: cloud.behavior.downloads = cloud.behavior.downloads == .stalled ? .later : .stalled
        case 7: device.container.accountToken() == nil ? device.container.signIn() : device.container.signOut()
        case 8:
            if let path = ledger.one(of: device.files().keys.sorted()) { try? device.evict(path) }
        default:
            let journals = device.files().filter { $0.key.hasPrefix("Journal") }.sorted { $0.key < $1.key }
            if let (path, old) = ledger.one(of: journals) {
                device.appendSlowly(path, "\n- by a slow program: \(ledger.word())\n")
                ledger.extended(old, at: path)
            }
        }
        ledger.note("conditions change on \(device.name)")
    }

    // MARK: - Helpers

    private func author() -> WorkspaceAuthor { ledger.isOneIn(2) ? .user : .agent("ahab") }

    private func readIfPresent(_ path: WorkspacePath, _ workspace: SharedWorkspace) async throws -> WorkspaceFile? {
        do {
            return try await workspace.read(path, download: .request)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// Runs an operation that may be refused, and notes the errors expected in this case.
    private func attempt(_ words: String, _ work: () async throws -> Void) async throws {
        ledger.note(words)
        do {
            try await work()
        } catch let error as FileChangedError {
            ledger.note("  refused: \(error.path) has changed")
        } catch is FileNotYetAvailableError {
            ledger.note("  refused: not local")
        } catch is UnconfirmedChangeError {
            // The disk is full, and another program wrote the same content.
            ledger.note("  unconfirmed")
        } catch let error as RecollectError
            where [.unavailable, .notLocal, .notFound, .diskFull, .busy, .timedOut].contains(error.code)
        {
            ledger.note("  refused: \(error.code.rawValue)")
        }
    }
}
