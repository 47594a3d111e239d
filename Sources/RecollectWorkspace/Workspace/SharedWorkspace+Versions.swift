import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Moves a file to another path, if its content does not change during the call and the new path is free.
    ///
    /// The file is durable at the new path before it is removed from the old one. After a kill in between, it is at
    /// both paths. Missing parent folders are created. Permissions, owner, extended attributes and modification
    /// date move with the file, as far as the file system and this process allow. A failed move is undone.
    /// - Throws: `notFound`; `invalidArgument` for a folder; `FileChangedError` if the file changed during the
    ///   call, or, with the new path, if a file exists there; `notLocal`; `tooLarge`; `conflict` if the move could
    ///   not be undone and the file is at both paths; `UnconfirmedChangeError` with the new path if the file was
    ///   moved and a later step failed.
    public func move(_ path: WorkspacePath, to newPath: WorkspacePath, by author: WorkspaceAuthor = .user) async throws
    {
        try await writing { try self.writer.move(path, to: newPath, by: author) }
    }

    /// Trashes a file, if it has the expected version. The archive keeps its content, and `restore` brings it back.
    /// - Throws: `FileChangedError` with the current content if the file has another version or is missing;
    ///   `notLocal`; `tooLarge`; `invalidArgument` for a folder; `UnconfirmedChangeError` if the file was removed
    ///   and a later step failed.
    public func trash(
        _ path: WorkspacePath, replacing: ContentHash, by author: WorkspaceAuthor = .user
    ) async throws {
        try await writing { try self.writer.trash(path, replacing: replacing, by: author) }
    }

    /// Restores the last content of a missing file, however it was removed.
    ///
    /// A file trashed on this device also gets back its permissions, owner and extended attributes, as far as the
    /// file system and this process allow.
    /// - Throws: `FileChangedError` with the current content if a file exists at the path; `notFound` if no content
    ///   is archived, or the last one was redacted; `UnconfirmedChangeError` if the file was written and a later step failed.
    @discardableResult
    public func restore(_ path: WorkspacePath, by author: WorkspaceAuthor = .user) async throws -> WorkspaceFile {
        try await writing {
            guard let last = try self.archive.index().files[path]?.markedVersions.last else {
                throw RecollectError(.notFound, "the archive on this device has no version of \(path)")
            }
            let bytes = try self.archivedBytes(of: last, at: path)
            return try self.writer.put(bytes, to: path, replacing: nil, by: author, as: .restored, parents: [last.hash])
        }
    }

    /// Restores an earlier content of a file, if the file has the expected version.
    ///
    /// The replaced content is archived first, so the restoration can be undone in the same way.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - version: The content to restore, one of `versions(of:)`.
    ///   - replacing: The expected version; `nil` if the file must not exist.
    ///   - author: The author of the restoration.
    /// - Throws: `FileChangedError` with the current content if the file has another version or is missing;
    ///   `notFound` if the file never had the content on this device, or the content is not archived or was redacted;
    ///   `notLocal`;
    ///   `tooLarge`; `UnconfirmedChangeError` if the file was written and a later step failed.
    @discardableResult
    public func restore(
        _ path: WorkspacePath, to version: ContentHash, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await writing {
            let path = try self.provider.canonicalPath(of: path)
            let found = try self.archive.versions(of: path).filter { $0.hash == version }
            guard let found = found.first(where: { $0.redaction == nil }) ?? found.first else {
                throw self.notArchived(version, at: path)
            }
            let bytes = try self.archivedBytes(of: found, at: path)
            return try self.writer.put(bytes, to: path, replacing: replacing, by: author, as: .restored)
        }
    }

    /// Returns the missing files with an archived content, however they were removed, most recently removed first.
    ///
    /// Moved files are not included. Does not scan; call `status()` for a scan.
    /// - Throws: `newerSchema` for an archive of a newer version; errors of the disk.
    public func trashed() async throws -> [TrashedFile] {
        try await reading {
            let removals = try self.archive.index().files.compactMapValues { file in
                file.content == nil ? file.versions.last.flatMap { $0.kind == .movedAway ? nil : $0 } : nil
            }
            let sizes = try self.archive.sizes(of: removals.values.map(\.hash))
            return removals.compactMap { path, removal in
                sizes[removal.hash].map { TrashedFile(path: path, removal: removal, size: $0) }
            }.sorted { ($1.removal.date, $0.path) < ($0.removal.date, $1.path) }
        }
    }

    /// Returns the versions of a file on this device, newest first: those written here, with their authors, and
    /// those observed by scans. Does not scan; call `status()` for a scan.
    /// - Throws: `newerSchema` for an archive of a newer version; errors of the disk.
    public func versions(of path: WorkspacePath) async throws -> [WorkspaceVersion] {
        try await reading {
            // Works also while the folder is missing.
            try self.archive.versions(of: (try? self.provider.canonicalPath(of: path)) ?? path)
        }
    }

    /// Returns the bytes of a version. Content other than text is archived only if it is replaced on this device.
    /// - Throws: `notFound` if the content is not archived, or was redacted; `damaged` if its file in the archive has
    ///   other bytes.
    public func content(of hash: ContentHash) async throws -> [UInt8] {
        try await reading {
            let index = try self.archive.index()
            if !index.unfinishedRedactions.contains(hash), let bytes = try self.archive.bytes(of: hash) { return bytes }
            let redacted = index.files.values.lazy.flatMap(\.markedVersions).first {
                $0.hash == hash && $0.redaction != nil
            }
            throw redacted.map { self.redacted($0) } ?? self.notArchived(hash)
        }
    }

    /// Returns the sizes of versions in bytes, without the versions missing in the archive.
    /// - Throws: Errors of the disk.
    public func sizes(of hashes: [ContentHash]) async throws -> [ContentHash: Int] {
        try await reading { try self.archive.sizes(of: hashes) }
    }

    /// Deletes archived versions before a date, trashed files included. The current content of each file is kept, and so are
    /// the starting point for its next merge, the version replaced by the first one since the date, and writes begun after that
    /// version without a record of their end.
    public func pruneVersions(olderThan date: Date) async throws {
        try await writing { try self.archive.prune(olderThan: date, now: self.configuration.now()) }
    }
}
