import Foundation
import RecollectCore
import RecollectWorkspace

/// A provider under test, and what other programs and the sync may do in its folder.
///
/// A plain folder needs one line: `StoreFixture.workspaceFolders { try FolderProvider(root: $0) }`; a simulated device
/// `StoreFixture.simulatedCloud(.syncthing)`.
public struct WorkspaceProviderPlace: Sendable {
    /// The provider.
    public let provider: any WorkspaceProvider
    /// Gives a file a content as another program does, whatever is there; of a path relative to the root, in whatever spelling.
    public let put: @Sendable (_ path: String, _ bytes: [UInt8]) throws -> Void
    /// Takes a file's content away, so that it is elsewhere; needs the capability `evicts`.
    public let evict: @Sendable (_ path: String) throws -> Void
    /// Takes the root away, or brings it back; needs the capability `losesRoot`.
    public let setRootIsGone: @Sendable (_ isGone: Bool) throws -> Void
    /// How long a wake may take.
    public let patience: Duration

    /// Makes a place; what it lacks it must not declare.
    public init(
        provider: any WorkspaceProvider, patience: Duration = .seconds(20),
        put: @escaping @Sendable (_ path: String, _ bytes: [UInt8]) throws -> Void,
        evict: @escaping @Sendable (_ path: String) throws -> Void = { _ in },
        setRootIsGone: @escaping @Sendable (_ isGone: Bool) throws -> Void = { _ in }
    ) {
        self.provider = provider
        self.patience = patience
        self.put = put
        self.evict = evict
        self.setRootIsGone = setRootIsGone
    }
}

extension StoreCapabilities {
    /// What a workspace provider can promise beyond what each must.
    public static let workspace: StoreCapabilities = [.concurrent, .evicts, .losesRoot]
}

extension StoreFixture<WorkspaceProviderPlace> {
    /// Fixtures of providers over plain folders, each in a fresh one that is removed afterwards. Files are evicted as placeholders
    /// (`.name.icloud`).
    public static func workspaceFolders(
        capabilities: StoreCapabilities = .workspace,
        open: @escaping @Sendable (URL) throws -> any WorkspaceProvider
    ) -> StoreFixture<WorkspaceProviderPlace> {
        StoreFixture(
            capabilities: capabilities,
            place: {
                FileManager.default.temporaryDirectory.appendingPathComponent("workspace-\(UUID().uuidString)")
            },
            open: { folder in
                let (root, aside) = (folder.appendingPathComponent("root"), folder.appendingPathComponent("aside"))
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                return WorkspaceProviderPlace(
                    provider: try open(root), put: { try write($1, to: $0, in: root) },
                    evict: { path in
                        let file = root.appendingPathComponent(path)
                        let name = ".\(file.lastPathComponent).icloud"
                        try FileManager.default.removeItem(at: file)
                        try Data("placeholder".utf8).write(
                            to: file.deletingLastPathComponent().appendingPathComponent(name))
                    },
                    setRootIsGone: { isGone in
                        try FileManager.default.moveItem(at: isGone ? root : aside, to: isGone ? aside : root)
                    })
            },
            remove: { try? FileManager.default.removeItem(at: $0) })
    }

    /// Fixtures of the provider of a device of a simulated cloud, each in a cloud of its own.
    public static func simulatedCloud(_ behaviour: CloudBehaviour, seed: UInt64 = 1) -> StoreFixture<
        WorkspaceProviderPlace
    > {
        StoreFixture(
            capabilities: .workspace, place: { SimulatedCloud(seed: seed, behaviour: behaviour) },
            open: { cloud in
                let device = cloud.device("device")
                return WorkspaceProviderPlace(
                    provider: device.provider, put: { device.edit($0, $1) },
                    evict: { path in
                        try cloud.settle()
                        try device.evict(path)
                    },
                    setRootIsGone: { device.isUnavailable = $0 })
            },
            remove: { _ in })
    }

    /// Paths are joined as text: a URL would compose the name.
    private static func write(_ bytes: [UInt8], to path: String, in root: URL) throws {
        let file = root.path + "/" + path
        let folder = String(file.prefix(upTo: file.lastIndex(of: "/") ?? file.startIndex))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }
}
