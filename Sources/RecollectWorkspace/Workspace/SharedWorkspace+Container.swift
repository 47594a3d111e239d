import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Opens the workspace of the account that is signed in to a cloud. Returns at once: the cloud is not asked for its folder.
    ///
    /// The root is the container's folder, where an earlier `lookUpContainer()` found it for this account; else this account's local
    /// replica, or nobody's. It stays that for the life of the instance, and once another account is signed in every call throws
    /// `unavailable`: open another instance then. So no look-up that fails for a moment parts the files, and nothing is written across
    /// accounts. What was written while nobody was signed in goes to the first account that comes.
    /// - Parameters:
    ///   - container: The cloud's place for this app.
    ///   - configuration: How it is kept. In the state folder are, for each account, the archive, the replica and where the container lies;
    ///     without one it is `Recollect/Container` in Application Support.
    /// - Throws: what a disk throws; `newerSchema` or `damaged` for an archive that cannot be read.
    public convenience init(
        container: any WorkspaceContainer, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
    ) throws {
        let account = RememberedContainer(token: container.accountToken(), state: configuration.stateURL)
        try account.adoptNobodys()
        var configuration = configuration
        let provider: AccountProvider
        if let url = try account.url() {
            configuration.stateURL = account.state
            provider = AccountProvider(url, of: account, in: container) { try container.provider(at: url) }
        } else {
            let replica = account.replica
            configuration.stateURL = replica.state
            // Made now: later it could be made again in the place of one that another account took over.
            let files = try FolderProvider(root: replica.files)
            provider = AccountProvider(files.rootURL, of: account, in: container) { files }
        }
        try self.init(provider: provider, configuration: configuration)
    }

    /// Asks the container where its folder lies, and remembers that for the next instance. The root of this one stays.
    ///
    /// May take long, off the cooperative pool; cancelling does not end it.
    /// - Returns: The folder; `nil` where there is none now, which may be passing, and for a workspace without a container.
    /// - Throws: `unavailable` where another account is signed in than when this instance was opened; what a disk throws.
    @discardableResult
    public func lookUpContainer() async throws -> URL? {
        guard let provider = provider as? AccountProvider else { return nil }
        return try await reading {
            try provider.checkAccount()
            guard !provider.account.isNobodys, let url = provider.container.containerURL() else { return nil }
            // Somebody else may have signed in while this waited.
            try provider.checkAccount()
            try provider.account.remember(url)
            return url
        }
    }

    /// Folds the files that were written while the container was out of reach into this workspace, and takes them from the replica.
    ///
    /// A file that is not here yet is written; one that is here with another content is merged with it as versions of one file are
    /// (`WorkspaceMerge`), and what cannot be merged is kept beside it under a name of its own. Only when that is on the disk the
    /// replica's file goes, to the trash of the replica's archive. Ended in the middle, it goes on where it is called again.
    /// - Parameter download: What is done about files here that are not local.
    /// - Returns: What became of which file; empty for a workspace without a container, or without anything to fold.
    /// - Throws: `unavailable` where another account is signed in, or the folder is gone; `CancellationError`. What goes wrong with single
    ///   files is told in the result, and they stay where they are.
    @discardableResult
    public func mergeReplica(download: DownloadPolicy = .wait(.seconds(60))) async throws -> ReplicaMerge {
        var result = ReplicaMerge()
        guard let provider = provider as? AccountProvider else { return result }
        let replicas = try await writing {
            try provider.checkAccount()
            try provider.account.adoptNobodys()
            return try provider.account.replicas().filter { $0.files.standardizedFileURL.path != self.rootURL.path }
        }
        for replica in replicas {
            var configuration = configuration
            configuration.stateURL = replica.state
            let source = try SharedWorkspace(root: replica.files, configuration: configuration)
            for item in try await source.list(recursively: true) where !item.isFolder {
                try Task.checkCancellation()
                do {
                    try await merge(item.path, of: source, download: download, into: &result)
                } catch let error as RecollectError where error.code == .unavailable {
                    throw error
                } catch let error as CancellationError {
                    throw error
                } catch {
                    result.left[item.path] = error
                }
            }
        }
        return result
    }

    /// Folds one file, and again while somebody writes it here or in the replica.
    private func merge(
        _ path: WorkspacePath, of source: SharedWorkspace, download: DownloadPolicy, into result: inout ReplicaMerge
    ) async throws {
        var changed: FileChangedError?
        for _ in 0..<20 {
            do {
                let file = try await source.read(path, download: .ask)
                let author = try await source.versions(of: path).first?.author ?? .user
                let place = try await keep(file, by: author, download: download)
                try await source.trash(path, replacing: file.version)
                if place == path { result.merged.append(path) } else { result.kept[path] = place }
                return
            } catch let error as FileChangedError {
                changed = error
            }
        }
        if let changed { throw changed }
    }

    /// Writes a content of the replica here, alone, merged or beside what is here; returns where.
    private func keep(
        _ file: WorkspaceFile, by author: WorkspaceAuthor, download: DownloadPolicy
    ) async throws -> WorkspacePath {
        let path = file.path
        guard let mine = try await readIfThere(path, download: download) else {
            return try await write(file.bytes, to: path, replacing: nil, by: author).path
        }
        if mine.version == file.version { return path }
        if let both = WorkspaceMerge.merged(base: nil, versions: [mine.bytes, file.bytes], at: path) {
            return try await write(both, to: path, replacing: mine.version, by: author).path
        }
        let name = KeptName.name(for: path.name, holding: file.version)
        let beside = try (path.parent ?? .root).appending(name)
        guard try await readIfThere(beside, download: download)?.version != file.version else { return beside }
        return try await write(file.bytes, to: beside, replacing: nil, by: author).path
    }

    private func readIfThere(_ path: WorkspacePath, download: DownloadPolicy) async throws -> WorkspaceFile? {
        do {
            return try await read(path, download: download)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }
}

/// What became of the files of a replica.
public struct ReplicaMerge: Sendable {
    /// Files that are here now, with all that they held there.
    public internal(set) var merged: [WorkspacePath] = []
    /// Files that could not be merged, and where they lie here.
    public internal(set) var kept: [WorkspacePath: WorkspacePath] = [:]
    /// Files that stayed in the replica, and why.
    public internal(set) var left: [WorkspacePath: any Error] = [:]
}
