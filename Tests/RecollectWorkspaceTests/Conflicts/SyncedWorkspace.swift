import Foundation
import RecollectCore
import RecollectTestSupport

@testable import RecollectWorkspace

/// A workspace folder with files that a sync service may leave behind.
struct SyncedWorkspace {
    let folder: TestFolder
    let workspace: SharedWorkspace
    let now = Locked(Date())

    init(maxFileSize: Int = 20_000_000) throws {
        folder = try TestFolder()
        var configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))
        configuration.maxFileSize = maxFileSize
        configuration.now = { [now] in now.withLock { $0 } }
        workspace = try SharedWorkspace(root: folder.root, configuration: configuration)
    }

    func put(_ text: String, at path: String) throws {
        let url = workspace.rootURL.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Moves a file like a sync service, and replaces any file at the new path.
    func move(_ path: String, to other: String) throws {
        let url = workspace.rootURL.appendingPathComponent(path)
        let target = workspace.rootURL.appendingPathComponent(other)
        try Data(contentsOf: url).write(to: target)
        try remove(path)
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(at: workspace.rootURL.appendingPathComponent(path))
    }

    /// Copies the lineage logs of other devices into this folder, like a sync service.
    func takeLineage(of others: SyncedWorkspace...) throws {
        for other in others {
            for file in try other.workspace.provider.lineageFiles() {
                try workspace.provider.writeLineageFile(named: file.name, file.bytes)
            }
        }
    }

    /// Writes a string into the folder, then scans.
    func putAndScan(_ text: String, at path: String) async throws {
        try put(text, at: path)
        _ = try await workspace.status()
    }

    /// Writes a string like a sync service, with a modification date one minute before its arrival.
    func deliver(_ text: String, at path: String) throws {
        try put(text, at: path)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -60)],
            ofItemAtPath: workspace.rootURL.appendingPathComponent(path).path)
    }

    /// Writes a string like a sync service, then scans.
    func deliverAndScan(_ text: String, at path: String) async throws {
        try deliver(text, at: path)
        _ = try await workspace.status()
    }

    /// Loses a conflict, then scans: the content becomes a conflict copy, and another device's version replaces it.
    func loseConflict(_ path: String, to winner: String, as copy: String) async throws {
        try deliver(String(contentsOf: workspace.rootURL.appendingPathComponent(path), encoding: .utf8), at: copy)
        now.withLock { $0 += 1 }
        try await deliverAndScan(winner, at: path)
    }

    func files() async throws -> [String: String] {
        var files: [String: String] = [:]
        for item in try await workspace.list(recursively: true) where !item.isFolder {
            files[item.path.description] = try await workspace.read(item.path).text
        }
        return files
    }

    func folders() async throws -> [String] {
        try await workspace.list(recursively: true).filter(\.isFolder).map(\.path.description)
    }
}
