import Foundation
import RecollectWorkspace
import RecollectCore

/// Two real Syncthing devices that share a folder, for behavior that a simulation cannot prove.
///
/// All tests use the same pair and are serialized. Each test works in its own subfolder of the shared folder.
final class SyncthingPair: Sendable {
    /// The two devices, equal except for their ids.
    let left: SyncthingDevice
    let right: SyncthingDevice

    private let home: URL

    /// The pair of this test process, started on first use.
    static func shared() async throws -> SyncthingPair { try await started.value }

    private static let started = Task { try await SyncthingPair() }

    private init() async throws {
        // A path without symbolic links, because Syncthing returns real paths.
        home = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("syncthing-\(UUID().uuidString)", isDirectory: true)
        left = try SyncthingDevice(home: home.appendingPathComponent("left", isDirectory: true))
        right = try SyncthingDevice(home: home.appendingPathComponent("right", isDirectory: true))
        try await left.start(with: [right])
        try await right.start(with: [left])
        // The shared pair runs until the process ends and its files are removed.
        Self.homeToRemove.withLock { $0 = home.path }
        atexit { SyncthingPair.homeToRemove.withLock { _ = try? FileManager.default.removeItem(atPath: $0) } }
    }

    private static let homeToRemove = Locked("")

    /// Creates a subfolder with a new name in the shared folder of both devices.
    func makeFolders() throws -> (left: URL, right: URL) {
        let name = UUID().uuidString
        let folders = [left, right].map { $0.folder.appendingPathComponent(name, isDirectory: true) }
        for makeFolders in folders {
            try FileManager.default.createDirectory(at: makeFolders, withIntermediateDirectories: true)
        }
        return (folders[0], folders[1])
    }

    /// Makes changes on both devices while they are disconnected, scans the changes, and connects the devices again.
    func apart(_ edit: () async throws -> Void) async throws {
        try await left.setPaused(true, right)
        try await until("the devices are disconnected") {
            let isLeftConnected = try await left.isConnected(to: right)
            let isRightConnected = try await right.isConnected(to: left)
            return !isLeftConnected && !isRightConnected
        }
        let result: Result<Void, any Error>
        do { result = .success(try await edit()) } catch { result = .failure(error) }
        try await left.scan()
        try await right.scan()
        try await left.setPaused(false, right)
        try result.get()
    }

    /// Scans both folders, and waits until both devices are idle and have the same files.
    func sync() async throws { try await [left, right].sync() }

    /// Checks a condition again after each event until it is true.
    func until(_ what: String, _ holds: () async throws -> Bool) async throws {
        try await [left, right].until(what, holds)
    }

    /// The names in a folder as on the disk, without the files of running or abandoned transfers of Syncthing.
    static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".syncthing.") || $0.hasPrefix(".syncthing.recollect-") }
            .filter { $0 != LineageFile.folderName }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The files in a folder by their paths, without Syncthing's own files and the lineage logs.
    static func files(in folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        // Not `FileManager`'s enumerator, because it stops at a file removed meanwhile.
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? [] {
            let name = (path as NSString).lastPathComponent
            if path.hasPrefix(".stfolder") || path.hasPrefix(LineageFile.folderName) || name.hasPrefix(".syncthing.") {
                continue
            }
            files[path] = FileManager.default.contents(atPath: folder.appendingPathComponent(path).path)
        }
        return files
    }
}

extension [SyncthingDevice] {
    /// Scans all folders, and waits until all devices are idle and have the same files.
    func sync() async throws {
        // Changes are sent in order, so a device with this mark has received all earlier changes.
        for device in self {
            let mark = device.folder.appendingPathComponent(".mark of \(device.id.prefix(7))")
            try Data(UUID().uuidString.utf8).write(to: mark)
            try await device.scan()
        }
        try await until("all devices have the same files") {
            for device in self where try await !device.isIdle() { return false }
            return try Set(map { try SyncthingPair.files(in: $0.folder) }).count == 1
        }
    }

    /// Checks a condition again after each event until it is true, for minutes: an idle machine needs a second.
    func until(_ what: String, _ holds: () async throws -> Bool) async throws {
        var event: Int64 = 0
        for round in 0..<300 {
            if try await holds() { return }
            event = try await self[0].wait(after: event)
            // A change during a scan is found by another scan.
            if round % 10 == 9 { for device in self { try await device.scan() } }
        }
        let files = try map { try SyncthingPair.files(in: $0.folder) }
        let paths = Set(files.flatMap(\.keys)).filter { path in Set(files.map { $0[path] }).count > 1 }.sorted()
        throw RecollectError(.timedOut, "timed out waiting until \(what); different files: \(paths)")
    }
}
