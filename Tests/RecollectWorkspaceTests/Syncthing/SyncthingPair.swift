import Foundation
import RecollectWorkspace
import RecollectCore

/// Two Syncthings that share a folder with each other: the real thing, for what no simulation can promise.
///
/// One pair serves all tests that need one, which are serialized; each works in a place of its own in the shared folder.
final class SyncthingPair: Sendable {
    /// The two, equal in everything but their ids.
    let left: SyncthingDevice
    let right: SyncthingDevice

    private let home: URL

    /// The pair of this test process, started by the first test that asks.
    static func shared() async throws -> SyncthingPair { try await started.value }

    private static let started = Task { try await SyncthingPair() }

    private init() async throws {
        // Where Foundation resolves no links: Syncthing tells real paths.
        home = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("syncthing-\(UUID().uuidString)", isDirectory: true)
        left = try SyncthingDevice(home: home.appendingPathComponent("left", isDirectory: true))
        right = try SyncthingDevice(home: home.appendingPathComponent("right", isDirectory: true))
        try await left.start(with: [right])
        try await right.start(with: [left])
        // Nobody ends a shared pair but the end of the process, which leaves nothing behind.
        Self.homeToRemove.withLock { $0 = home.path }
        atexit { SyncthingPair.homeToRemove.withLock { _ = try? FileManager.default.removeItem(atPath: $0) } }
    }

    private static let homeToRemove = Locked("")

    /// A folder of a test's own in the shared folder, as it lies on both sides; the name is new each time.
    func place() throws -> (left: URL, right: URL) {
        let name = UUID().uuidString
        let places = [left, right].map { $0.folder.appendingPathComponent(name, isDirectory: true) }
        for place in places { try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true) }
        return (places[0], places[1])
    }

    /// Changes both sides while neither hears of the other, and lets both see their own changes.
    func apart(_ edit: () async throws -> Void) async throws {
        try await left.setPaused(true, right)
        try await until("they are parted") {
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

    /// Lets both see their changes, and waits until each has all of the other's, has nothing more to do, and both hold the same files.
    func sync() async throws { try await [left, right].sync() }

    /// Asks again after each event until something holds.
    func until(_ what: String, _ holds: () async throws -> Bool) async throws {
        try await [left, right].until(what, holds)
    }

    /// The names in a folder as the disk has them, without those of files that Syncthing is still receiving, or gave up.
    static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".syncthing.") || $0.hasPrefix(".syncthing.recollect-") }
            .filter { $0 != LineageFile.folderName }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The files in a folder by their paths, without Syncthing's own and the lineage.
    static func files(in folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        // Not `FileManager`'s enumerator, which stops at what vanishes meanwhile.
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
    /// Lets all see their changes, and waits until each has all of the others', has nothing more to do, and all hold the same files.
    func sync() async throws {
        // Changes are told in their order, so whoever has this mark has heard of everything before it.
        for device in self {
            let mark = device.folder.appendingPathComponent(".mark of \(device.id.prefix(7))")
            try Data(UUID().uuidString.utf8).write(to: mark)
            try await device.scan()
        }
        try await until("all hold the same") {
            for device in self where try await !device.isIdle() { return false }
            return try Set(map { try SyncthingPair.files(in: $0.folder) }).count == 1
        }
    }

    /// Asks again after each event until something holds; minutes, for what takes a second where nobody else works.
    func until(_ what: String, _ holds: () async throws -> Bool) async throws {
        var event: Int64 = 0
        for round in 0..<300 {
            if try await holds() { return }
            event = try await self[0].wait(after: event)
            // What was changed while it was looked at is seen at another look.
            if round % 10 == 9 { for device in self { try await device.scan() } }
        }
        let files = try map { try SyncthingPair.files(in: $0.folder) }
        let paths = Set(files.flatMap(\.keys)).filter { path in Set(files.map { $0[path] }).count > 1 }.sorted()
        throw RecollectError(.timedOut, "not until \(what); they differ in \(paths)")
    }
}
