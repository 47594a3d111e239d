import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Resolves all conflicts: merges the versions of each conflicted file, and removes the conflict copies.
    ///
    /// Lost versions with archived contents are included. Each version is archived before it is replaced or
    /// removed. The first case to apply decides:
    ///
    /// - All versions are the same: one stays.
    /// - One version descends from all others: it stays.
    /// - The versions can be merged (`WorkspaceMerge`), against a merge base if the devices' lineage logs prove
    ///   one. Different texts at one position become the alternatives of a conflict block.
    /// - Otherwise: one version stays, and the others become kept copies.
    ///
    /// The result depends only on the contents and their known lineage, from the logs and the archive. So devices
    /// with the same logs and archive write the same bytes.
    ///
    /// Each conflict is resolved with its own compare-and-swap writes. If the process is killed, or another writer
    /// interferes, no version is lost, and the next call continues. An error of a single file does not stop the
    /// others.
    /// - Returns: The outcome of each conflict, sorted by path.
    /// - Throws: `unavailable` if the folder is missing, or during a mass deletion; errors of the whole disk, such
    ///   as `diskFull`.
    @discardableResult
    public func resolveConflicts() async throws -> [ResolvedConflict] {
        try await on(resolutions) { try self.resolver.resolve(isPreview: false) }
    }

    /// Returns the outcomes of `resolveConflicts()` for the current files, without any change to them.
    /// - Returns: The outcome of each conflict, sorted by path. `kept` has the preferred paths of new
    ///   kept copies.
    /// - Throws: As `resolveConflicts()`.
    public func previewConflicts() async throws -> [ResolvedConflict] {
        try await on(resolutions) { try self.resolver.resolve(isPreview: true) }
    }

    /// Restores the versions of the last resolved conflict of a file on this device, as files beside it. The file
    /// itself does not change.
    ///
    /// A version already restored, or equal to the file's content, is not written again. If the call is
    /// interrupted, some of the files exist, and the next call continues.
    /// - Returns: The files, in the order of their contents' hashes.
    /// - Throws: `notFound` if no conflict of the file was merged on this device, or a version is missing in the
    ///   archive; errors of the disk.
    @discardableResult
    public func restoreConflict(
        _ path: WorkspacePath, by author: WorkspaceAuthor = .user
    ) async throws -> [WorkspacePath] {
        try await writing {
            let path = try self.provider.canonicalPath(of: path)
            guard let resolution = try self.archive.versions(of: path).first(where: { $0.kind == .merged }) else {
                throw RecollectError(
                    .notFound,
                    "no conflict of \(path) was merged on this device; unmerged versions are kept copies beside it")
            }
            let current = try self.scanner.fileIfPresent(at: path)?.version
            let wanted = resolution.parents.filter { $0 != current && $0 != resolution.hash }
            // All versions are read first: if one is missing, none is restored.
            let contents = try wanted.map { version in
                guard let bytes = try self.archive.bytes(of: version) else {
                    throw RecollectError(
                        .notFound,
                        "version \(version.rawValue.prefix(8)) of \(path) is no longer in the archive on this device")
                }
                return bytes
            }
            return try contents.map { try self.writer.keep($0, beside: path, by: author, as: .restored) }
        }
    }
}
