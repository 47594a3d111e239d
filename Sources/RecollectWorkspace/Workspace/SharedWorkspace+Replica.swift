import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Folds the files that were written while the container was out of reach into this workspace, and takes them from the replica.
    ///
    /// A file that is not here yet is written; one that is here with another content is merged with it as versions of one file are
    /// (`WorkspaceMerge`), and what cannot be merged is kept beside it under a name of its own. Only when that is on the disk the
    /// replica's file goes, to the trash of the replica's archive, and with the last one in it its folder. Ended in the middle, it goes on
    /// where it is called again, and takes nothing a second time, also what was removed here since; several processes may do it at once.
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
            let listing = try await source.reading { try source.listing(of: .root, recursively: true) }
            for (folder, refusal) in listing.refusals { result.left[folder] = refusal }
            for item in listing.items where !item.isFolder {
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
            try await writing { try source.removeEmptiedFolders(among: listing.items) }
        }
        return result
    }

    /// Removes the folders in which files lay that were written here, and nothing lies any more, the innermost first. Others, and those
    /// that cannot be removed, stay.
    private func removeEmptiedFolders(among items: [WorkspaceItem]) throws {
        let ours = try archive.index().files.filter { file in
            file.value.versions.contains { $0.author != nil && !$0.kind.isAbsence }
        }
        let folders = Set(ours.keys.flatMap { sequence(first: $0, next: \.parent).dropFirst() })
        for item in items.reversed() where item.isFolder && folders.contains(item.path) {
            _ = try? provider.removeFolder(item.path)
        }
    }

    /// Folds one file, and again while somebody writes it here or in the replica.
    private func merge(
        _ path: WorkspacePath, of source: SharedWorkspace, download: DownloadPolicy, into result: inout ReplicaMerge
    ) async throws {
        var changed: FileChangedError?
        for _ in 0..<20 {
            do {
                // Gone where another process does the same.
                guard let file = try await source.readIfThere(path, download: .ask) else { return }
                let mine = try await readIfThere(path, download: download)
                let kept = try await writing { try self.take(file, of: source, over: mine) }
                try await source.trash(path, replacing: file.version)
                if let kept { result.kept[path] = kept } else { result.merged.append(path) }
                return
            } catch let error as FileChangedError {
                changed = error
            }
        }
        if let changed { throw changed }
    }

    private func readIfThere(_ path: WorkspacePath, download: DownloadPolicy) async throws -> WorkspaceFile? {
        do {
            return try await read(path, download: download)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    // MARK: One content, blocking

    /// Writes a content of the replica here: alone, merged with what is here, or beside it; then it says where.
    private func take(
        _ file: WorkspaceFile, of source: SharedWorkspace, over mine: WorkspaceFile?
    ) throws -> WorkspacePath? {
        let path = try provider.spelling(of: file.path)
        // Now the replica's log knows it, also where another program wrote it.
        _ = try source.current(file.path, holding: file.version)
        let (here, there) = try (archive.index(), source.archive.index().files[file.path, default: .init()])
        let author = there.versions.last?.author ?? .user
        let base = here.version(in: mine, at: path, and: file, of: there)
        // What was taken before and was changed or removed here since stays so.
        if mine?.version == file.version || base == file.version { return nil }
        guard let mine else {
            _ = try put(file.bytes, to: path, replacing: nil, by: author)
            return nil
        }
        if base == mine.version {
            _ = try put(file.bytes, to: path, replacing: mine.version, by: author)
            return nil
        }
        let bytes = try base.flatMap { try source.archive.bytes(of: $0) }
        let versions = [mine.bytes, file.bytes]
        guard let merged = WorkspaceMerge.mergedAndChecked(base: bytes, versions: versions, at: path) else {
            // What was kept beside it before and was changed or removed there since stays so.
            let places = KeptName.places(for: file.version, beside: path)
            if let kept = there.versions.last.flatMap({ last in places.first { here.took(last, to: $0) } }),
                case .success(let now) = Result(catching: { try fileIfThere(at: kept) }), now?.version != file.version
            {
                return nil
            }
            return try keep(file.bytes, beside: path, by: author, as: .written)
        }
        try refuseCredential(in: file.bytes, replacing: mine.bytes, at: path)
        let kept = try merged.apart.map { try keep($0, beside: path) }
        let parents = [mine.version, file.version].sorted { $0.rawValue < $1.rawValue }
        _ = try put(
            merged.bytes, to: path, replacing: mine.version, by: .recollect, as: .folded, parents: parents,
            keeping: [file.bytes])
        return kept.first
    }
}

extension VersionIndex {
    /// The newest version that a replica's file came of, itself among them, and that the file here came of too: what is here now, or
    /// what an earlier merge took and did not come to remove there. `nil` where they have nothing in common.
    fileprivate func version(
        in mine: WorkspaceFile?, at path: WorkspacePath, and file: WorkspaceFile, of there: File
    ) -> ContentHash? {
        // What was taken before the file was last removed there may have been written again since, and is new then.
        there.versions.reversed().prefix { !$0.kind.isAbsence }.first { version in
            (version.hash == mine?.version || took(version, to: path))
                && (version.hash == file.version || there.isAncestor(version.hash, of: file.version))
        }?.hash
    }

    /// Whether a version of a replica was written at a path here since, alone or as a part of another content.
    fileprivate func took(_ version: WorkspaceVersion, to path: WorkspacePath) -> Bool {
        files[path, default: .init()].versions.contains {
            $0.author != nil && $0.date > version.date
                && ($0.hash == version.hash || $0.parents.contains(version.hash))
        }
    }
}

/// What became of the files of a replica.
public struct ReplicaMerge: Sendable {
    /// Files that were taken, now or before a merge was ended: what is here now has all that they held, but what was removed since.
    public internal(set) var merged: [WorkspacePath] = []
    /// Files that could not be merged, or not completely, and the file here that keeps the rest.
    public internal(set) var kept: [WorkspacePath: WorkspacePath] = [:]
    /// Files that stayed in the replica, and why; and folders there into which nobody could look.
    public internal(set) var left: [WorkspacePath: any Error] = [:]
}
