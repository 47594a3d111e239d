import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Opens the workspace of this app on this device, as the guide to shared workspaces has it: never blocks on a
    /// cloud, never throws.
    ///
    /// It is the folder `Recollect/Workspace` in Application Support. Should that folder not open, every call says why.
    public convenience init() {
        self.init(configuration: WorkspaceConfiguration())
    }

    /// The same, kept in a way of its own.
    package convenience init(configuration: WorkspaceConfiguration) {
        let root = DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Workspace", isDirectory: true)
        let provider: any WorkspaceProvider
        do {
            provider = try FolderProvider(root: root)
        } catch {
            provider = ClosedProvider(rootURL: root, reason: error)
        }
        self.init(
            provider: provider, configuration: configuration,
            state: configuration.stateURL ?? StatePlace.standard(root: root))
    }
}

/// Stands for a folder that could not be opened: every call says why.
private struct ClosedProvider: WorkspaceProvider {
    let rootURL: URL
    let reason: any Error

    func items(in folder: WorkspacePath) throws -> [WorkspaceItem] { throw reason }
    func item(at path: WorkspacePath) throws -> WorkspaceItem? { throw reason }
    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] { throw reason }
    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws { throw reason }
    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws { throw reason }
    func removeFolder(_ path: WorkspacePath) throws -> Bool { throw reason }
    func requestDownload(of path: WorkspacePath) throws { throw reason }
    func wakes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
