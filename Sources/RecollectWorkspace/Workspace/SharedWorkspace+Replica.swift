import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Merges the files of the offline replicas into this workspace, and removes them from the replicas.
    ///
    /// A missing file is written. A file with other content is merged with the replica's file (`WorkspaceMerge`);
    /// content that cannot be merged becomes a kept copy. Once the result is durable, the replica's file is
    /// trashed in the archive of the replica. Folders left empty are removed. An interrupted merge continues with
    /// the next call, and takes no version twice, even if the file was removed here in the meantime. Several
    /// processes may merge at once. Cancellation takes effect between files.
    /// - Parameter download: The behavior for files of this workspace that are not local.
    /// - Returns: The outcome for each file; empty for a workspace without a container, or without files to merge.
    /// - Throws: `unavailable` if another account is signed in, or the folder is missing; `CancellationError`;
    ///   errors of the disk in opening a replica. Errors of single files are in the result, and these files stay in
    ///   the replica.
    @discardableResult
    public func mergeReplica(download: DownloadPolicy = .wait(.seconds(60))) async throws -> ReplicaMerge {
        var result = ReplicaMerge()
        guard let provider = provider as? AccountProvider else { return result }
        let replicas = try await writing {
            try provider.checkAccount()
            try provider.account.adoptSignedOutReplica()
            return try provider.account.replicas().filter { $0.files.standardizedFileURL.path != self.rootURL.path }
        }
        for replica in replicas {
            var configuration = configuration
            configuration.stateURL = replica.state
            let source = try SharedWorkspace(root: replica.files, configuration: configuration)
            let listing = try await source.reading { try source.scanner.listing(of: .root, recursively: true) }
            for (folder, refusal) in listing.refusals { result.failures[folder] = refusal }
            for item in listing.items where !item.isFolder {
                try Task.checkCancellation()
                do {
                    try await merge(item.path, of: source, download: download, into: &result)
                } catch let error as RecollectError where error.code == .unavailable {
                    throw error
                } catch let error as CancellationError {
                    throw error
                } catch {
                    result.failures[item.path] = error
                }
            }
            try await writing { try source.removeEmptiedFolders(among: listing.items) }
        }
        return result
    }

    /// Removes empty folders that once had files written by Recollect, innermost first. Other folders stay, and so
    /// do folders with a failed removal.
    private func removeEmptiedFolders(among items: [WorkspaceItem]) throws {
        let ours = try archive.index().files.filter { file in
            file.value.versions.contains { $0.author != nil && !$0.kind.isAbsence }
        }
        let folders = Set(ours.keys.flatMap { sequence(first: $0, next: \.parent).dropFirst() })
        for item in items.reversed() where item.isFolder && folders.contains(item.path) {
            _ = try? provider.removeFolder(item.path)
        }
    }

    /// Merges one file. Starts again if the file changes here or in the replica, at most 20 times.
    private func merge(
        _ path: WorkspacePath, of source: SharedWorkspace, download: DownloadPolicy, into result: inout ReplicaMerge
    ) async throws {
        var changed: FileChangedError?
        for _ in 0..<20 {
            do {
                // The file is missing if another process merged it.
                guard let file = try await source.readIfPresent(path, download: .request) else { return }
                let mine = try await readIfPresent(path, download: download)
                let kept = try await writing { try self.take(file, of: source, over: mine) }
                try await source.trash(path, replacing: file.version)
                if let kept { result.keptCopies[path] = kept } else { result.merged.append(path) }
                return
            } catch let error as FileChangedError {
                changed = error
            }
        }
        if let changed { throw changed }
    }

    private func readIfPresent(_ path: WorkspacePath, download: DownloadPolicy) async throws -> WorkspaceFile? {
        do {
            return try await read(path, download: download)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    // MARK: One version, blocking

    /// Writes content of the replica here, alone or merged, or as a kept copy, and returns the path of the kept
    /// copy.
    private func take(
        _ file: WorkspaceFile, of source: SharedWorkspace, over mine: WorkspaceFile?
    ) throws -> WorkspacePath? {
        let path = try provider.canonicalPath(of: file.path)
        // Archives the content in the replica, also if another program wrote it.
        _ = try source.writer.current(file.path, holding: file.version)
        let (here, there) = try (archive.index(), source.archive.index().files[file.path, default: .init()])
        let author = there.versions.last?.author ?? .user
        let base = here.version(in: mine, at: path, and: file, of: there)
        // A version taken earlier, and changed or removed here since, is not written again.
        if mine?.version == file.version || base == file.version { return nil }
        guard let mine else {
            _ = try writer.put(file.bytes, to: path, replacing: nil, by: author)
            return nil
        }
        if base == mine.version {
            _ = try writer.put(file.bytes, to: path, replacing: mine.version, by: author)
            return nil
        }
        let bytes = try base.flatMap { try source.archive.bytes(of: $0) }
        let versions = [mine.bytes, file.bytes]
        guard let merged = WorkspaceMerge.mergedAndChecked(base: bytes, versions: versions, at: path) else {
            // A kept copy from an earlier merge, changed or removed since, is not written again.
            let paths = KeptCopyName.paths(for: file.version, beside: path)
            if let kept = there.versions.last.flatMap({ last in paths.first { here.took(last, to: $0) } }),
                case .success(let now) = Result(catching: { try scanner.fileIfPresent(at: kept) }),
                now?.version != file.version
            {
                return nil
            }
            return try writer.keep(file.bytes, beside: path, by: author, as: .written)
        }
        try writer.refuseCredential(in: file.bytes, replacing: mine.bytes, at: path)
        let kept = try merged.apart.map { try writer.keep($0, beside: path) }
        let parents = [mine.version, file.version].sorted { $0.rawValue < $1.rawValue }
        _ = try writer.put(
            merged.bytes, to: path, replacing: mine.version, by: .recollect, as: .merged, parents: parents,
            keeping: [file.bytes])
        return kept.first
    }
}

extension VersionIndex {
    /// Returns the newest common version of a replica's file and the file here: an ancestor of the replica's
    /// content, or that content itself, equal to the current version here or taken by an earlier, interrupted
    /// merge. `nil` if there is none.
    fileprivate func version(
        in mine: WorkspaceFile?, at path: WorkspacePath, and file: WorkspaceFile, of there: File
    ) -> ContentHash? {
        // A version from before the file's last removal in the replica may have been written again, and is new
        // then.
        there.versions.reversed().prefix { !$0.kind.isAbsence }.first { version in
            (version.hash == mine?.version || took(version, to: path))
                && (version.hash == file.version || there.isAncestor(version.hash, of: file.version))
        }?.hash
    }

    /// Whether a version of a replica was later written at a path here, alone or as a parent of another version.
    fileprivate func took(_ version: WorkspaceVersion, to path: WorkspacePath) -> Bool {
        files[path, default: .init()].versions.contains {
            $0.author != nil && $0.date > version.date
                && ($0.hash == version.hash || $0.parents.contains(version.hash))
        }
    }
}

/// The result of `SharedWorkspace.mergeReplica(download:)`.
public struct ReplicaMerge: Sendable {
    /// The merged files, including those of an interrupted earlier merge. The current files have all their content,
    /// except parts removed since.
    public internal(set) var merged: [WorkspacePath] = []
    /// The files not merged, or merged only in part, with their kept copies.
    public internal(set) var keptCopies: [WorkspacePath: WorkspacePath] = [:]
    /// The files remaining in the replica and the unreadable folders there, with the errors.
    public internal(set) var failures: [WorkspacePath: any Error] = [:]
}
