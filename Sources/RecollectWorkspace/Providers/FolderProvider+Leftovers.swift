import Foundation
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension FolderProvider {
    /// Removes or renames the temporary files of killed writers in a folder.
    ///
    /// Drafts are removed. Other temporary files may have the only copy of content saved by another program.
    /// Such a file is removed if the original file still has its content, or if the writer was to replace, remove or
    /// write this content, and `isArchived` returns true. Otherwise it is renamed to `name (kept …)`, or to
    /// `unnamed (kept …)` if its temporary name does not include the original name.
    ///
    /// Does not wait. While another Recollect writer uses the folder, nothing is changed. On file systems without
    /// locks, and without `includingRecent`, only files older than an hour are settled.
    /// - Throws: `unavailable`, and disk errors.
    public func resolveLeftovers(
        in path: WorkspacePath, includingRecent: Bool, isArchived: (ContentHash) throws -> Bool
    ) throws -> LeftoverReport {
        var report = LeftoverReport()
        try withFileErrors("read", self.path(of: path)) {
            guard let folder = try folder(at: path), try folder.names().contains(where: TemporaryName.isOne) else {
                return
            }
            let isLocked: Bool
            do {
                isLocked = try folder.lockAgainstWriters(maxWait: .zero)
            } catch let failure as POSIXFailure where failure.number == EWOULDBLOCK {
                return
            }
            for name in try folder.names().sorted() where TemporaryName.isOne(name) {
                guard let entry = try folder.entry(name),
                    isLocked && includingRecent || isLeftover(entry)
                else { continue }
                try resolve(name, entry, in: folder, at: path, isArchived, into: &report)
            }
            if report != LeftoverReport() { try folder.synchronize() }
        }
        return report
    }

    /// Settles one file, and records the result. A file renamed to a name outside the workspace's rules is not
    /// listed.
    private func resolve(
        _ name: String, _ entry: FolderEntry, in folder: OpenFolder, at path: WorkspacePath,
        _ isArchived: (ContentHash) throws -> Bool, into report: inout LeftoverReport
    ) throws {
        let original = TemporaryName.original(of: name)
        // Files that cannot be read are kept unread. An exchange may also have taken out a link or a folder,
        // unknown to the archive.
        let bytes = entry.kind == .file ? try? FoundFile.read(name, in: folder) : nil
        let hash = bytes.map { ContentHash(of: $0) }
        if try TemporaryName.isDraft(name) || isAvailableElsewhere(hash, name, in: folder, isArchived) {
            try folder.remove(name)
            report.removed += 1
            return
        }
        let shown = original?.name ?? (bytes?.isText ?? false ? "unnamed.txt" : "unnamed")
        let names = Self.keptNames(for: shown, holding: hash, name, at: path)
        let given = try renameToFirstFreeName(to: name, of: hash, in: folder, among: names)
        if let kept = try? path.appending(given) { report.kept.append(kept) }
    }

    /// Whether content exists elsewhere: in the original file, or in the archive as one of the writer's.
    private func isAvailableElsewhere(
        _ hash: ContentHash?, _ name: String, in folder: OpenFolder, _ isArchived: (ContentHash) throws -> Bool
    ) throws -> Bool {
        guard let hash else { return false }
        if let original = TemporaryName.original(of: name), original.isWhole,
            try content(of: original.name, in: folder) == hash
        {
            return true
        }
        // Another content may also be archived, as an older version. Then a person has just saved this version again.
        return try TemporaryName.isWriters(hash, in: name) && isArchived(hash)
    }

    /// Removes those of the named temporary files older than an hour.
    func removeLeftovers(in folder: OpenFolder, named names: [String]) throws {
        for name in names {
            guard let entry = try folder.entry(name), isLeftover(entry) else { continue }
            _ = try nilIfMissing { try folder.remove(name) }
        }
    }

    private func isLeftover(_ entry: FolderEntry) -> Bool { now().timeIntervalSince(entry.touched) > 3_600 }
}
