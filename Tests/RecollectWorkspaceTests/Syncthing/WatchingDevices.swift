import Foundation
import RecollectCore

@testable import RecollectWorkspace

/// Devices with a workspace each, whose Syncthings watch the folder: changes travel while everybody writes.
final class WatchingDevices: Sendable {
    let devices: [SyncthingDevice]
    let workspaces: [SharedWorkspace]

    private let home: URL
    private let clock = Locked<TimeInterval>(0)

    init(count: Int) async throws {
        // Where Foundation resolves no links: Syncthing tells real paths.
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
        try await devices.until("they are connected") { [devices] in
            for (one, other) in zip(devices, devices.dropFirst()) where try await !one.isConnected(to: other) {
                return false
            }
            return true
        }
    }

    deinit {
        devices.forEach { $0.stop() }
        // A folder that stays behind is the system's to remove.
        try? FileManager.default.removeItem(at: home)
    }

    /// Syncs and resolutions everywhere until nobody finds anything to resolve.
    func syncCompletely() async throws {
        for _ in 0..<20 {
            try await devices.sync()
            // What a copy lost against is here by now.
            clock.withLock { $0 += SharedWorkspace.longestDelay + 1 }
            var resolved = 0
            for workspace in workspaces { resolved += try await workspace.resolveConflicts().count }
            if resolved == 0 { return }
        }
        throw RecollectError(
            .conflict,
            "the devices fold again and again: \(try SyncthingPair.files(in: devices[0].folder).keys.sorted())")
    }
}
