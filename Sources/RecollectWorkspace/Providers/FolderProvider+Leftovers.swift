import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension FolderProvider {
    /// Settles what writers that were killed left in a folder under temporary names. Drafts are removed. What may be the only copy of a
    /// content that somebody else saved is removed if it is known, or the file still has it; else it becomes a file, `name (kept …)`, or
    /// `unnamed (kept …)` where its temporary name does not tell whose it was.
    ///
    /// Waits for nobody: where a writer of ours is at work in the folder, nothing is settled. On file systems without locks, and
    /// without `includingRecent`, only what was left more than an hour ago is.
    /// - Throws: `unavailable`, and what a disk throws.
    public func settleLeftovers(
        in path: WorkspacePath, includingRecent: Bool,
        isKnown: (ContentHash, _ path: WorkspacePath?) throws -> Bool
    ) throws -> SettledLeftovers {
        var settled = SettledLeftovers()
        try explaining("look at", self.path(of: path)) {
            guard let folder = try folder(at: path), try folder.names().contains(where: TemporaryName.isOne) else {
                return
            }
            let isLocked: Bool
            do {
                isLocked = try folder.lockAgainstWriters(patience: .zero)
            } catch let failure as POSIXFailure where failure.number == EWOULDBLOCK {
                return
            }
            for name in try folder.names().sorted() where TemporaryName.isOne(name) {
                guard let entry = try folder.entry(name),
                    isLocked && includingRecent || isLeftover(entry)
                else { continue }
                if let kept = try settle(name, in: folder, at: path, isKnown) {
                    settled.kept.append(kept)
                } else {
                    settled.removed += 1
                }
            }
            if settled != SettledLeftovers() { try folder.synchronize() }
        }
        return settled
    }

    /// Settles one file. Returns the file that it became; `nil` where it was removed.
    private func settle(
        _ name: String, in folder: OpenFolder, at path: WorkspacePath,
        _ isKnown: (ContentHash, WorkspacePath?) throws -> Bool
    ) throws -> WorkspacePath? {
        let original = TemporaryName.original(of: name)
        // What cannot be read is kept unread. A link or a folder, which an exchange may have taken out, is known to nobody.
        let bytes = try folder.entry(name)?.kind == .file ? try? FoundFile.read(name, in: folder) : nil
        let hash = bytes.map { ContentHash(of: $0) }
        if try TemporaryName.isDraft(name) || isSettled(hash, original, in: folder, at: path, isKnown) {
            try folder.remove(name)
            return nil
        }
        let shown = original?.name ?? (bytes?.isText ?? false ? "unnamed.txt" : "unnamed")
        let names = Self.keptNames(for: shown, holding: hash, name, at: path)
        return try? path.appending(giveName(to: name, of: hash, in: folder, among: names))
    }

    /// Whether a content is safe elsewhere: in the file that it came from, or because somebody knows it.
    private func isSettled(
        _ hash: ContentHash?, _ original: (name: String, isWhole: Bool)?, in folder: OpenFolder, at path: WorkspacePath,
        _ isKnown: (ContentHash, WorkspacePath?) throws -> Bool
    ) throws -> Bool {
        guard let hash else { return false }
        guard let original, original.isWhole else { return try isKnown(hash, nil) }
        if try content(of: original.name, in: folder) == hash { return true }
        // A name that is none in a workspace is nobody's whom the archive could know.
        guard let file = try? path.appending(original.name) else { return false }
        return try isKnown(hash, file)
    }

    /// Removes those of some temporary files that killed writers left more than an hour ago.
    func removeLeftovers(in folder: OpenFolder, named names: [String]) throws {
        for name in names {
            guard let entry = try folder.entry(name), isLeftover(entry) else { continue }
            _ = try ifThere { try folder.remove(name) }
        }
    }

    private func isLeftover(_ entry: FolderEntry) -> Bool { now().timeIntervalSince(entry.touched) > 3_600 }
}

/// What became of the temporary files that killed writers left.
public struct SettledLeftovers: Hashable, Sendable {
    /// The files that were made of them.
    public var kept: [WorkspacePath]
    /// How many were removed: nobody else had written what they held, or it is kept elsewhere.
    public var removed: Int

    /// Makes a result.
    public init(kept: [WorkspacePath] = [], removed: Int = 0) {
        self.kept = kept
        self.removed = removed
    }
}
