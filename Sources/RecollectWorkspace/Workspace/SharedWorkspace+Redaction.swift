import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Erases the content of one version of a file from this device's archive, for good.
    ///
    /// ```swift
    /// let leaked = try await workspace.versions(of: path)[1]
    /// let files = try await workspace.redact(leaked.hash, of: path)
    /// ```
    ///
    /// The version stays in `versions(of:)` with its author, dates and hash, and has a `redaction`. It cannot be read or
    /// restored, and if it was the last one of a missing file, the file is no longer in the trash. The archive has each
    /// content once: all versions with the same content, also of other files, are redacted together. Other versions with a
    /// part of the text stay; redact each of them. If a file gets the same content again later, that is a new version.
    ///
    /// The bytes are overwritten and removed. The redaction is durable on return. If the process is killed before, the
    /// next change of the archive completes a begun redaction. The call takes as long as a scan: it first looks for
    /// changes by other programs.
    ///
    /// Not reached are other devices, with archives of their own; copies of a sync service; backups; and, for a chat, its
    /// messages in the history and the record of its last synchronization in the state folder. The hash stays in the
    /// archive's log and in the lineage files of the folder, which have no texts: a short or predictable content can be
    /// guessed from it. A later merge does not have the content as a base.
    /// - Parameters:
    ///   - version: The hash of the content.
    ///   - path: The path of the file, which may be missing.
    ///   - author: The user or the agent requesting the redaction, recorded with it.
    /// - Returns: The files with redacted versions, in order; `path` is one of them.
    /// - Throws: `notFound` if the file never had the version on this device; `conflict` if a file has the content now:
    ///   change or delete it first; `unavailable` if the folder, or most of its files, are missing, because one of them
    ///   may have the content; `busy` if another process locked the archive for too long; errors of the disk.
    @discardableResult
    public func redact(
        _ version: ContentHash, of path: WorkspacePath, by author: WorkspaceAuthor = .user
    ) async throws -> [WorkspacePath] {
        try await writing {
            let path = try self.provider.canonicalPath(of: path)
            let items = try self.scanner.listing(of: .root, recursively: true).items
            // A temporary file of a killed writer may have the content.
            _ = self.scanner.resolveLeftovers(among: items, includingRecent: true)
            let scan = try self.scanner.scan()
            guard scan.isAvailable, !scan.isMassDeletion else {
                throw RecollectError(
                    .unavailable,
                    """
                    nothing was redacted: most of the files in \(self.rootURL.path) are missing, and one of them may have this \
                    content; restore them, or accept the deletions
                    """)
            }
            return try self.archive.redact(version, of: path, by: author, now: self.configuration.now())
        }
    }

    /// Returns the archived bytes of a version.
    /// - Throws: `notFound` if they are not archived, or were redacted.
    func archivedBytes(of version: WorkspaceVersion, at path: WorkspacePath) throws -> [UInt8] {
        if version.redaction != nil { throw redacted(version, at: path) }
        guard let bytes = try archive.bytes(of: version.hash) else { throw notArchived(version.hash, at: path) }
        return bytes
    }

    func redacted(_ version: WorkspaceVersion, at path: WorkspacePath? = nil) -> RecollectError {
        let file = path.map { " of \($0)" } ?? ""
        return RecollectError(
            .notFound,
            "version \(version.hash.rawValue)\(file) was redacted: its content was erased and cannot be read or restored"
        )
    }

    func notArchived(_ hash: ContentHash, at path: WorkspacePath? = nil) -> RecollectError {
        let file = path.map { " of \($0)" } ?? ""
        return RecollectError(.notFound, "the archive on this device does not have version \(hash.rawValue)\(file)")
    }
}
