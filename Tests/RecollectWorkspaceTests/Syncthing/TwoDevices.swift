import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// One workspace on two devices synced by Syncthing.
struct TwoDevices {
    let pair: SyncthingPair
    let folders: [URL]
    let workspaces: [SharedWorkspace]
    private let states: URL

    init() async throws {
        pair = try await SyncthingPair.shared()
        let makeFolders = try pair.makeFolders()
        folders = [makeFolders.left, makeFolders.right]
        let states = FileManager.default.temporaryDirectory.appendingPathComponent("workspace-\(UUID().uuidString)")
        self.states = states
        workspaces = try folders.enumerated().map { index, folder in
            let state = states.appendingPathComponent("\(index)", isDirectory: true)
            return try SharedWorkspace(root: folder, configuration: WorkspaceConfiguration(stateURL: state))
        }
    }

    /// Writes a string to files on some of the devices, in place of their current versions.
    func write(_ text: String, to paths: [String], on devices: [Int]) async throws {
        for device in devices {
            for path in try paths.map({ try WorkspacePath($0) }) {
                let current = try? await workspaces[device].read(path).version
                try await workspaces[device].write(text, to: path, replacing: current)
            }
        }
    }

    /// The number of versions of a file on each device.
    func versionCounts(of path: WorkspacePath) async throws -> [Int] {
        var counts: [Int] = []
        for workspace in workspaces { counts.append(try await workspace.versions(of: path).count) }
        return counts
    }

    func end() { try? FileManager.default.removeItem(at: states) }

    /// Syncs and resolves on both devices until neither finds a conflict. Returns the number of rounds with conflicts.
    func syncCompletely() async throws -> Int {
        for round in 0..<6 {
            try await pair.sync()
            var resolved = 0
            for workspace in workspaces { resolved += try await workspace.resolveConflicts().count }
            try await pair.sync()
            if resolved == 0 { return round }
        }
        throw RecollectError(
            .conflict, "endless conflict resolution: \(try SyncthingPair.files(in: folders[0]).keys.sorted())")
    }

    /// Expects the same files on both devices, without conflict copies. Returns the files.
    func expectNoConflicts() throws -> [String: String] {
        let files = try folders.map { try SyncthingPair.files(in: $0) }
        #expect(files[0] == files[1])
        for path in files[0].keys {
            let name = (path as NSString).lastPathComponent
            #expect(ConflictCopyName(name)?.isCertain != true, "\(path)")
        }
        return files[0].mapValues { String(decoding: $0, as: UTF8.self) }
    }
}
