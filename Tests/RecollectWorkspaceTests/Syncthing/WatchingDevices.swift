import Foundation
import RecollectCore

@testable import RecollectWorkspace

/// Devices with a workspace each. Syncthing watches their folders, so changes are synced during writes.
final class WatchingDevices: Sendable {
    let devices: [SyncthingDevice]
    let workspaces: [SharedWorkspace]

    private let home: URL
    private let clock = Locked<TimeInterval>(0)

    init(count: Int) async throws {
        // A path without symbolic links, because Syncthing returns real paths.
        let home = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("syncthing-\(UUID().uuidString)", isDirectory: true)
        self.home = home
        devices = try (0..<count).map { try SyncthingDevice(home: home.appendingPathComponent("device \($0)")) }
        workspaces = try devices.enumerated().map { [clock] index, device in
            var configuration = WorkspaceConfiguration(stateURL: home.appendingPathComponent("state \(index)"))
            configuration.now = { Date().addingTimeInterval(clock.withLock { $0 }) }
            return try SharedWorkspace(root: device.folder, configuration: configuration)
        }
        for device in devices {
            try await device.start(with: devices.filter { $0 !== device }, watchingAfter: 1)
        }
        try await devices.until("the devices are connected") { [devices] in
            for (one, other) in zip(devices, devices.dropFirst()) where try await !one.isConnected(to: other) {
                return false
            }
            return true
        }
    }

    deinit {
        devices.forEach { $0.stop() }
        // The system removes a folder that is left behind.
        try? FileManager.default.removeItem(at: home)
    }

    /// Syncs and resolves on all devices until no device finds a conflict twice in a row. Changes recorded in the second
    /// after a write are published by the next scan, so a device may find a lost version only in the round after.
    func syncCompletely() async throws {
        var quietRounds = 0
        for _ in 0..<20 {
            try await devices.sync()
            // By now, the winner of each conflict copy has arrived.
            clock.withLock { $0 += ConflictResolver.maxDelay + 1 }
            var resolved = 0
            for workspace in workspaces { resolved += try await workspace.resolveConflicts().count }
            quietRounds = resolved == 0 ? quietRounds + 1 : 0
            if quietRounds == 2 { return }
        }
        throw RecollectError(
            .conflict,
            "endless conflict resolution: \(try SyncthingPair.files(in: devices[0].folder).keys.sorted())")
    }
}
