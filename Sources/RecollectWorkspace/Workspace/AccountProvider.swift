import Foundation
import RecollectCore

/// A provider for the files of one account, or of no account. Its calls throw `unavailable` unless the same account
/// is signed in.
///
/// A container's folder is opened on first use. After a failure, the next call tries again.
final class AccountProvider: WorkspaceProvider {
    let rootURL: URL
    let container: any CloudContainer
    let account: ContainerCache

    private let opened = Locked<(any WorkspaceProvider)?>(nil)
    private let open: @Sendable () throws -> any WorkspaceProvider

    /// Creates a provider for the container's known folder, else for the offline replica, of the current account.
    /// - Parameter configuration: On entry, with the container's state folder; on return, with the state folder of
    ///   the chosen root.
    convenience init(in container: any CloudContainer, _ configuration: inout WorkspaceConfiguration) throws {
        let account = ContainerCache(token: container.accountToken(), state: configuration.stateURL)
        try account.adoptSignedOutReplica()
        if let url = try account.url() {
            configuration.stateURL = account.state
            self.init(url, of: account, in: container) { try container.provider(at: url) }
        } else {
            let replica = account.replica
            configuration.stateURL = replica.state
            // The folder is created now. Later, it could be created again in place of a replica taken over by
            // another account.
            let files = try FolderProvider(root: replica.files)
            self.init(files.rootURL, of: account, in: container) { files }
        }
    }

    private init(
        _ rootURL: URL, of account: ContainerCache, in container: any CloudContainer,
        open: @escaping @Sendable () throws -> any WorkspaceProvider
    ) {
        self.rootURL = rootURL
        self.account = account
        self.container = container
        self.open = open
    }

    /// - Throws: `unavailable` if the signed-in account is not the one of these files.
    func checkAccount() throws {
        guard account.isCurrent(in: container) else {
            throw RecollectError(
                .unavailable,
                """
                the files in \(rootURL.path) belong to \(account.isSignedOut ? "no account" : "the previous account"), and \
                \(container.accountToken() == nil ? "no account" : "a new account") is signed in; open the workspace again
                """)
        }
    }

    private func provider() throws -> any WorkspaceProvider {
        try checkAccount()
        return try opened.withLock { opened in
            if let opened { return opened }
            let provider = try open()
            opened = provider
            return provider
        }
    }

    func items(in folder: WorkspacePath) throws -> [WorkspaceItem] { try provider().items(in: folder) }

    func unlistedNames(in folder: WorkspacePath) throws -> [String] { try provider().unlistedNames(in: folder) }

    func item(at path: WorkspacePath) throws -> WorkspaceItem? { try provider().item(at: path) }

    func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath { try provider().canonicalPath(of: path) }

    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] { try provider().read(path, limit: limit) }

    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        try provider().write(bytes, to: path, replacing: expected)
    }

    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        try provider().remove(path, holding: expected)
    }

    func removeFolder(_ path: WorkspacePath) throws -> Bool { try provider().removeFolder(path) }

    func saveMetadata(of path: WorkspacePath, to url: URL) throws { try provider().saveMetadata(of: path, to: url) }

    func applyMetadata(
        from url: URL, to path: WorkspacePath, holding expected: ContentHash, setsModificationDate: Bool
    ) throws {
        try provider().applyMetadata(from: url, to: path, holding: expected, setsModificationDate: setsModificationDate)
    }

    func resolveLeftovers(
        in folder: WorkspacePath, includingRecent: Bool, isArchived: (ContentHash) throws -> Bool
    ) throws -> LeftoverReport {
        try provider().resolveLeftovers(in: folder, includingRecent: includingRecent, isArchived: isArchived)
    }

    func requestDownload(of path: WorkspacePath) throws { try provider().requestDownload(of: path) }

    func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        try provider().conflictVersions(of: path)
    }

    func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        try provider().resolve(versions, of: path)
    }

    func lineageFiles() throws -> [LineageFile] { try provider().lineageFiles() }

    func lineageFile(named name: String) throws -> LineageFile? { try provider().lineageFile(named: name) }

    func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {
        try provider().writeLineageFile(named: name, bytes)
    }

    /// Returns the changeSignals of the provider, and of changes of the account.
    func changeSignals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let changes = container.accountChanges()
        // Observation begins now, if possible, so no event before the start of the task is missed.
        let first = try? provider().changeSignals()
        let task = Task { [self] in
            await withTaskGroup(of: Void.self) { group in
                var isListening = first != nil
                if let first { group.addTask { for await _ in first { continuation.yield() } } }
                for await _ in changes {
                    continuation.yield()
                    guard !isListening, let changeSignals = try? provider().changeSignals() else { continue }
                    isListening = true
                    group.addTask { for await _ in changeSignals { continuation.yield() } }
                }
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
