import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectWorkspace

/// A provider under test, with actions of other programs and of the sync service in its folder.
///
/// For a plain folder, use `StoreFixture.workspaceFolders { try FolderProvider(root: $0) }`; for a simulated
/// device, `StoreFixture.simulatedCloud(.syncthing)`.
public struct WorkspaceProviderFixture: Sendable {
    /// The provider.
    public let provider: any WorkspaceProvider
    /// Writes a file as another program does, replacing any content. The path is relative to the root, in any
    /// spelling.
    public let put: @Sendable (_ path: String, _ bytes: [UInt8]) throws -> Void
    /// Evicts a file. Needs the capability `evicts`.
    public let evict: @Sendable (_ path: String) throws -> Void
    /// Makes the root unavailable or available again. Needs the capability `losesRoot`.
    public let setRootRemoved: @Sendable (_ isGone: Bool) throws -> Void
    /// The longest duration until a signal.
    public let maxWait: Duration

    /// Creates a fixture. The capabilities must not include actions left out here.
    public init(
        provider: any WorkspaceProvider, maxWait: Duration = .seconds(20),
        put: @escaping @Sendable (_ path: String, _ bytes: [UInt8]) throws -> Void,
        evict: @escaping @Sendable (_ path: String) throws -> Void = { _ in },
        setRootRemoved: @escaping @Sendable (_ isGone: Bool) throws -> Void = { _ in }
    ) {
        self.provider = provider
        self.maxWait = maxWait
        self.put = put
        self.evict = evict
        self.setRootRemoved = setRootRemoved
    }
}

extension StoreCapabilities {
    /// All optional promises of a workspace provider.
    public static let workspace: StoreCapabilities = [.concurrent, .evicts, .losesRoot]
}

extension StoreFixture<WorkspaceProviderFixture> {
    /// Returns a fixture of providers on plain folders. Each gets a new folder, removed after the check.
    ///
    /// Evicted files become placeholders (`.name.icloud`).
    public static func workspaceFolders(
        capabilities: StoreCapabilities = .workspace,
        open: @escaping @Sendable (URL) throws -> any WorkspaceProvider
    ) -> StoreFixture<WorkspaceProviderFixture> {
        StoreFixture(
            capabilities: capabilities,
            location: {
                FileManager.default.temporaryDirectory.appendingPathComponent("workspace-\(UUID.random().uuidString)")
            },
            open: { folder in
                let (root, aside) = (folder.appendingPathComponent("root"), folder.appendingPathComponent("aside"))
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                return WorkspaceProviderFixture(
                    provider: try open(root), put: { try write($1, to: $0, in: root) },
                    evict: { path in
                        let file = root.appendingPathComponent(path)
                        let name = ".\(file.lastPathComponent).icloud"
                        try FileManager.default.removeItem(at: file)
                        try Data("placeholder".utf8).write(
                            to: file.deletingLastPathComponent().appendingPathComponent(name))
                    },
                    setRootRemoved: { isGone in
                        try FileManager.default.moveItem(at: isGone ? root : aside, to: isGone ? aside : root)
                    })
            },
            remove: { try? FileManager.default.removeItem(at: $0) })
    }

    /// Returns a fixture of providers on devices of a simulated cloud. Each gets a cloud of its own.
    public static func simulatedCloud(_ behavior: CloudBehavior, seed: UInt64 = 1) -> StoreFixture<
        WorkspaceProviderFixture
    > {
        StoreFixture(
            capabilities: .workspace, location: { SimulatedCloud(seed: seed, behavior: behavior) },
            open: { cloud in
                let device = cloud.device("device")
                return WorkspaceProviderFixture(
                    provider: device.provider, put: { device.edit($0, $1) },
                    evict: { path in
                        try cloud.syncCompletely()
                        try device.evict(path)
                    },
                    setRootRemoved: { device.isUnavailable = $0 })
            },
            remove: { _ in })
    }

    /// Joins paths as text: a `URL` would compose the name.
    private static func write(_ bytes: [UInt8], to path: String, in root: URL) throws {
        let file = root.path + "/" + path
        let folder = String(file.prefix(upTo: file.lastIndex(of: "/") ?? file.startIndex))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }
}
