import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Creates the app's default workspace on this device, as in the guide to shared workspaces. Never waits for a
    /// cloud, and never throws.
    ///
    /// After `use(_:)`, the root is the container's folder, if an earlier instance found it for the signed-in
    /// account, or else an offline replica. A background task then looks the container up for the next instance and
    /// merges the replicas into this one. The next instance repeats a failed attempt. To receive the errors, call
    /// `lookUpContainer()` and `mergeReplica(download:)`. Without a container, the root is the folder
    /// `Recollect/Workspace` in Application Support.
    ///
    /// If the folder cannot be opened, every call throws the reason.
    public convenience init() {
        let container = Self.container.withLock { $0 }
        self.init(in: container, configuration: WorkspaceConfiguration())
        guard container != nil else { return }
        Task.detached(priority: .utility) { [self] in
            // Errors are ignored here. An app calls these methods itself to receive them.
            _ = try? await lookUpContainer()
            _ = try? await mergeReplica(download: .request)
        }
    }

    /// Sets the container of `SharedWorkspace()` for this process. Call it once, before the first instance is
    /// created; existing instances keep their roots.
    public static func setDefaultContainer(_ container: any CloudContainer) {
        Self.container.withLock { $0 = container }
    }

    private static let container = Locked<(any CloudContainer)?>(nil)

    /// Creates the default workspace with a container, or without one, and with a configuration.
    package convenience init(in container: (any CloudContainer)? = nil, configuration: WorkspaceConfiguration) {
        let root = DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Workspace", isDirectory: true)
        var configuration = configuration
        let provider: any WorkspaceProvider
        do {
            provider =
                if let container {
                    try AccountProvider(in: container, &configuration)
                } else {
                    try FolderProvider(root: root)
                }
        } catch {
            provider = ClosedProvider(rootURL: root, reason: error)
        }
        self.init(
            provider: provider, configuration: configuration,
            state: configuration.stateURL ?? StateFolder.standard(root: root))
    }
}

/// A provider for a folder that could not be opened. Its methods throw the reason.
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
    func changeSignals() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
