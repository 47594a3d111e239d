import Crypto
import Foundation
import RecollectCore
import RecollectFileSystem

/// The record on this device of a container for one account, or for no account: the location of the container's
/// folder, and the offline replicas.
///
/// ```
/// <state>/<hash of the account's token>/container     the folder's URL, after a successful lookup
///                                      /state         the archive of that folder
///                                      /replica       the current replica: files, and their archive
///                                      /replica-…     replicas taken over from `nobody`
/// <state>/nobody/replica
/// ```
struct ContainerCache: Sendable {
    /// An offline replica, with its archive.
    struct OfflineReplica: Sendable {
        let url: URL

        var files: URL { url.appendingPathComponent("files", isDirectory: true) }
        var state: URL { url.appendingPathComponent("state", isDirectory: true) }
    }

    private let base: URL
    private let account: String?

    /// Creates the record for the account of a token, or for no account.
    /// - Parameter state: The state folder of the configuration; `nil` for one in Application Support.
    init(token: Data?, state: URL?) {
        base =
            state
            ?? DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Container", isDirectory: true)
        account = Self.account(of: token)
    }

    /// Whether a container has the same account now.
    func isCurrent(in container: any CloudContainer) -> Bool {
        Self.account(of: container.accountToken()) == account
    }

    var isSignedOut: Bool { account == nil }

    /// The state folder for the container's folder, with its archive.
    var state: URL { folder.appendingPathComponent("state", isDirectory: true) }

    /// The current replica, for new writes.
    var replica: OfflineReplica {
        OfflineReplica(url: folder.appendingPathComponent(Self.replicaName, isDirectory: true))
    }

    /// Returns all existing replicas, sorted by name.
    func replicas() throws -> [OfflineReplica] {
        try withFileErrors("list", folder.path) {
            let names = try nilIfMissing { try OpenFolder(path: folder.path).names() } ?? []
            return names.filter { $0.hasPrefix(Self.replicaName) }.sorted().map {
                OfflineReplica(url: folder.appendingPathComponent($0, isDirectory: true))
            }
        }
    }

    /// Returns the container's folder as of the last lookup; `nil` without an account or a lookup.
    func url() throws -> URL? {
        guard account != nil else { return nil }
        return try withFileErrors("read", folder.path) {
            let text = try nilIfMissing {
                let file = try OpenFolder(path: folder.path).file(Self.fileName, forWriting: false)
                return String(decoding: try file.read(at: 0, count: min(file.size(), 10_000)), as: UTF8.self)
            }
            return text.flatMap { URL(string: $0) }
        }
    }

    /// Saves the location of the container's folder, durably.
    func remember(_ url: URL) throws {
        guard account != nil, try self.url() != url else { return }
        try withFileErrors("write", folder.path) {
            let opened = try OpenFolder.make(path: folder.path)
            _ = try opened.replace(Self.fileName) { try $0.write(Array(url.absoluteString.utf8), at: 0) }
        }
    }

    /// Moves the replica without an account to the signed-in account, unless another account took it before. The
    /// rename is atomic: of two processes, one succeeds.
    func adoptSignedOutReplica() throws {
        let unowned = ContainerCache(token: nil, state: base).replica
        guard account != nil, FileManager.default.fileExists(atPath: unowned.url.path) else { return }
        let isFirst = !FileManager.default.fileExists(atPath: replica.url.path)
        let name = isFirst ? Self.replicaName : Self.replicaName + "-" + UUID.random().uuidString
        try withFileErrors("create", folder.path) { _ = try OpenFolder.make(path: folder.path) }
        do {
            try FileManager.default.moveItem(
                at: unowned.url, to: folder.appendingPathComponent(name, isDirectory: true))
        } catch {
            // Another process moved it first.
            guard FileManager.default.fileExists(atPath: unowned.url.path) else { return }
            throw RecollectError(.inputOutput, "cannot move \(unowned.url.path) to \(folder.path)", cause: error)
        }
    }

    private static let replicaName = "replica"
    private static let fileName = "container"

    private var folder: URL { base.appendingPathComponent(account ?? "signed-out", isDirectory: true) }

    private static func account(of token: Data?) -> String? {
        token.map { String(SHA256.hash(data: $0).lowercaseHexadecimal.prefix(24)) }
    }
}
