import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Opens the workspace of this app on this device, as the guide to shared workspaces has it: never blocks on a
    /// cloud, never throws.
    ///
    /// In an app that named a container (`use(_:)`) it is that container's folder, if an earlier instance found it for the account that is
    /// signed in, else a local replica. Off the main thread it looks the container up for the next instance, and merges into this one what
    /// was written in a replica; what goes wrong there is tried again by the next instance, and told by `lookUpContainer()` and
    /// `mergeReplica()`. In any other app it is the folder `Recollect/Workspace` in Application Support.
    ///
    /// Should the folder not open, every call says why.
    public convenience init() {
        let container = Self.container.withLock { $0 }
        self.init(in: container, configuration: WorkspaceConfiguration())
        guard container != nil else { return }
        Task.detached(priority: .utility) { [self] in
            // Nobody waits for these; who wants to hear of a failure calls them.
            _ = try? await lookUpContainer()
            _ = try? await mergeReplica(download: .ask)
        }
    }

    /// Names the container of `SharedWorkspace()` in this process. Call it once, before the first one is opened; those that are open stay
    /// where they are.
    public static func use(_ container: any WorkspaceContainer) {
        Self.container.withLock { $0 = container }
    }

    private static let container = Locked<(any WorkspaceContainer)?>(nil)

    /// The same in a container, or in none, kept in a way of its own.
    package convenience init(in container: (any WorkspaceContainer)? = nil, configuration: WorkspaceConfiguration) {
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
