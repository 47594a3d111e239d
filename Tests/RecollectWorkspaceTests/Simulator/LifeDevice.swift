import Foundation
import RecollectCore
import RecollectTesting

@testable import RecollectWorkspace

/// A device of a life: a workspace over its folder, and editors that write to that folder directly.
struct LifeDevice {
    let device: SimulatedDevice
    let interruptions: Interruptions
    let stateURL: URL
    let date: Locked<Date>
    private(set) var workspace: SharedWorkspace
    /// Files read earlier, as expected versions of much later writes.
    var read: [WorkspacePath: WorkspaceFile] = [:]

    var name: String { device.name }

    init(_ device: SimulatedDevice, interruptions: Interruptions, in folder: URL) throws {
        self.device = device
        self.interruptions = interruptions
        stateURL = folder.appendingPathComponent(device.name)
        date = Locked(Date(timeIntervalSince1970: 1_768_500_000))
        workspace = try Self.open(device, interruptions, stateURL, date)
    }

    /// Restarts the program.
    mutating func restart() throws {
        read = [:]
        workspace = try Self.open(device, interruptions, stateURL, date)
    }

    private static func open(
        _ device: SimulatedDevice, _ interruptions: Interruptions, _ stateURL: URL, _ date: Locked<Date>
    ) throws -> SharedWorkspace {
        var configuration = WorkspaceConfiguration(stateURL: stateURL)
        configuration.now = {
            date.withLock { date in
                date += 1
                return date
            }
        }
        configuration.sleep = { _ in }
        let provider = InterruptedProvider(device: device, interruptions: interruptions)
        return try SharedWorkspace(provider: provider, configuration: configuration)
    }
}

/// Concurrent events during an operation of a workspace.
struct Interruptions: Sendable {
    let ledger: LifeLedger
    let isOn = Locked(false)

    /// Advances the cloud, or lets an editor write the same file.
    func happen(at path: WorkspacePath, on device: SimulatedDevice) {
        guard isOn.withLock({ $0 }) else { return }
        if ledger.isOneIn(8) { device.cloud.step() }
        if path != .root, ledger.isOneIn(60) { people(ledger, edit: path.text, on: device) }
    }
}

/// An editor reads a file and replaces it.
func people(_ ledger: LifeLedger, edit path: String, on device: SimulatedDevice) {
    let path = spelling(of: path, on: device)
    let old = device.files()[path]
    guard old != nil || !device.evictedFiles().contains(path) else { return }
    if ledger.onlyAdds, device.arrivingFiles().contains(path) { return }
    let new = LifeTexts(ledger: ledger).next(at: path, after: old)
    ledger.note("an editor on \(device.name) writes \(path)")
    device.edit(path, new)
    ledger.saved(new, at: path, replacing: old, isArchived: false)
}

/// Returns the path of a file in its device's spelling.
func spelling(of path: String, on device: SimulatedDevice) -> String {
    guard device.foldsCase else { return path }
    let names = device.files().keys.sorted() + device.evictedFiles().sorted()
    return names.first { $0.lowercased() == path.lowercased() } ?? path
}

extension WorkspacePath {
    /// The names joined by `/`.
    var text: String { names.joined(separator: "/") }
}

/// The folder of a simulated device, with concurrent events during the operations of the workspace.
struct InterruptedProvider: WorkspaceProvider {
    let device: SimulatedDevice
    let interruptions: Interruptions

    var rootURL: URL { device.rootURL }

    private func provider(for path: WorkspacePath) -> SimulatedProvider {
        interruptions.happen(at: path, on: device)
        return device.provider
    }

    func items(in folder: WorkspacePath) throws -> [WorkspaceItem] { try provider(for: .root).items(in: folder) }

    func item(at path: WorkspacePath) throws -> WorkspaceItem? { try provider(for: path).item(at: path) }

    /// No events happen here, because the next call follows immediately.
    func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath { try device.provider.canonicalPath(of: path) }

    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] { try provider(for: path).read(path, limit: limit) }

    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        try provider(for: path).write(bytes, to: path, replacing: expected)
    }

    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        try provider(for: path).remove(path, holding: expected)
    }

    func removeFolder(_ path: WorkspacePath) throws -> Bool { try provider(for: .root).removeFolder(path) }

    func requestDownload(of path: WorkspacePath) throws { try provider(for: .root).requestDownload(of: path) }

    func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        try provider(for: .root).conflictVersions(of: path)
    }

    func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        try provider(for: .root).resolve(versions, of: path)
    }

    func lineageFiles() throws -> [LineageFile] { try device.provider.lineageFiles() }

    func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {
        try device.provider.writeLineageFile(named: name, bytes)
    }

    func changeSignals() -> AsyncStream<Void> { device.provider.changeSignals() }
}
