import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// One workspace on two devices that sync by Syncthing.
struct TwoDevices {
    let pair: SyncthingPair
    let folders: [URL]
    let workspaces: [SharedWorkspace]
    private let states: URL

    init() async throws {
        pair = try await SyncthingPair.shared()
        let place = try pair.place()
        folders = [place.left, place.right]
        let states = FileManager.default.temporaryDirectory.appendingPathComponent("workspace-\(UUID().uuidString)")
        self.states = states
        workspaces = try folders.enumerated().map { index, folder in
            let state = states.appendingPathComponent("\(index)", isDirectory: true)
            return try SharedWorkspace(root: folder, configuration: WorkspaceConfiguration(stateURL: state))
        }
    }

    /// Writes a text into files on some of the devices, as they are there.
    func write(_ text: String, to paths: [String], on devices: [Int]) async throws {
        for device in devices {
            for path in try paths.map({ try WorkspacePath($0) }) {
                let current = try? await workspaces[device].read(path).version
                try await workspaces[device].write(text, to: path, replacing: current)
            }
        }
    }

    /// How many versions of a file each device knows.
    func versionCounts(of path: WorkspacePath) async throws -> [Int] {
        var counts: [Int] = []
        for workspace in workspaces { counts.append(try await workspace.versions(of: path).count) }
        return counts
    }

    func end() { try? FileManager.default.removeItem(at: states) }

    /// Syncs and resolutions on both, again and again, until neither finds anything to resolve. Returns how many rounds wrote something.
    func syncCompletely() async throws -> Int {
        for round in 0..<6 {
            try await pair.sync()
            var resolved = 0
            for workspace in workspaces { resolved += try await workspace.resolveConflicts().count }
            try await pair.sync()
            if resolved == 0 { return round }
        }
        throw RecollectError(
            .conflict, "two devices fold again and again: \(try SyncthingPair.files(in: folders[0]).keys.sorted())")
    }

    /// What a person sees: the same files on both, with no copy of a conflict among them.
    func expectSettled() throws -> [String: String] {
        let files = try folders.map { try SyncthingPair.files(in: $0) }
        #expect(files[0] == files[1])
        for path in files[0].keys {
            let name = (path as NSString).lastPathComponent
            #expect(ConflictCopyName(name)?.isCertain != true, "\(path)")
        }
        return files[0].mapValues { String(decoding: $0, as: UTF8.self) }
    }
}
