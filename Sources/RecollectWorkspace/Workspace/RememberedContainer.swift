import Crypto
import Foundation
import RecollectCore

/// What this device remembers of a container for one account, or for nobody: where the container's folder lies, and the replicas that
/// were written while it could not be reached.
///
/// ```
/// <state>/<hash of the account's token>/container     the folder's URL, once a look-up found it
///                                      /state         the archive of that folder
///                                      /replica       files, and the archive of them
///                                      /replica-…     nobody's replica, when this account was the first to come
/// <state>/nobody/replica
/// ```
struct RememberedContainer: Sendable {
    /// A folder that stands in for the container.
    struct Replica: Sendable {
        let url: URL

        var files: URL { url.appendingPathComponent("files", isDirectory: true) }
        var state: URL { url.appendingPathComponent("state", isDirectory: true) }
    }

    private let base: URL
    private let account: String?

    /// - Parameter state: The folder that a configuration asks for; else one in Application Support.
    init(token: Data?, state: URL?) {
        base =
            state
            ?? DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Container", isDirectory: true)
        account = Self.account(of: token)
    }

    /// Whether it is the account that a container has now.
    func isCurrent(in container: any WorkspaceContainer) -> Bool {
        Self.account(of: container.accountToken()) == account
    }

    var isNobodys: Bool { account == nil }

    /// The archive of the container's folder.
    var state: URL { folder.appendingPathComponent("state", isDirectory: true) }

    /// The replica that is written to.
    var replica: Replica { Replica(url: folder.appendingPathComponent(Self.replicaName, isDirectory: true)) }

    /// All replicas that there are, in a fixed order.
    func replicas() throws -> [Replica] {
        try explaining("list", folder.path) {
            let names = try ifThere { try OpenFolder(path: folder.path).names() } ?? []
            return names.filter { $0.hasPrefix(Self.replicaName) }.sorted().map {
                Replica(url: folder.appendingPathComponent($0, isDirectory: true))
            }
        }
    }

    /// Where the container's folder lay when it was last looked up; `nil` where it never was.
    func url() throws -> URL? {
        guard account != nil else { return nil }
        return try explaining("read", folder.path) {
            let text = try ifThere {
                let file = try OpenFolder(path: folder.path).file(Self.fileName, forWriting: false)
                return String(decoding: try file.read(at: 0, count: min(file.size(), 10_000)), as: UTF8.self)
            }
            return text.flatMap { URL(string: $0) }
        }
    }

    /// Remembers where it lies; it is on the disk when this returns.
    func remember(_ url: URL) throws {
        guard account != nil, try self.url() != url else { return }
        try explaining("write", folder.path) {
            let opened = try OpenFolder.make(path: folder.path)
            _ = try opened.replace(Self.fileName) { try $0.write(Array(url.absoluteString.utf8), at: 0) }
        }
    }

    /// Takes over what was written while nobody was signed in, if an account is and no other one took it before. In one step, so of
    /// two processes one does.
    func adoptNobodys() throws {
        let nobodys = RememberedContainer(token: nil, state: base).replica
        guard account != nil, FileManager.default.fileExists(atPath: nobodys.url.path) else { return }
        let isFirst = !FileManager.default.fileExists(atPath: replica.url.path)
        let name = isFirst ? Self.replicaName : Self.replicaName + "-" + UUID().uuidString
        try explaining("make", folder.path) { _ = try OpenFolder.make(path: folder.path) }
        do {
            try FileManager.default.moveItem(
                at: nobodys.url, to: folder.appendingPathComponent(name, isDirectory: true))
        } catch {
            // Another process was quicker.
            guard FileManager.default.fileExists(atPath: nobodys.url.path) else { return }
            throw RecollectError(.inputOutput, "cannot move \(nobodys.url.path) to \(folder.path)", cause: error)
        }
    }

    private static let replicaName = "replica"
    private static let fileName = "container"

    private var folder: URL { base.appendingPathComponent(account ?? "nobody", isDirectory: true) }

    private static func account(of token: Data?) -> String? {
        token.map { String(SHA256.hash(data: $0).lowercaseHexadecimal.prefix(24)) }
    }
}
