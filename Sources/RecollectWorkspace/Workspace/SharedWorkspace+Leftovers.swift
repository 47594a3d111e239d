import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Settles what killed writers left in the root and in the folders of a listing: what the archive has of its file is removed, anything
    /// else becomes a file. One folder in which that fails does not keep the others from it. Blocks.
    func settleLeftovers(among items: [WorkspaceItem], includingRecent: Bool = false) -> SettledLeftovers {
        var all = SettledLeftovers()
        for folder in [.root] + items.filter({ $0.isFolder && $0.state != .unreadable }).map(\.path) {
            do {
                let settled = try provider.settleLeftovers(in: folder, includingRecent: includingRecent) {
                    try isKept($0, of: $1)
                }
                all.kept += settled.kept
                all.removed += settled.removed
            } catch {
                configuration.logger.debug("leftovers in \(folder) could not be settled: \(error)")
            }
        }
        return all
    }

    /// Whether the archive has a content as one of a file, or of any file, or as what is about to be written there.
    private func isKept(_ hash: ContentHash, of path: WorkspacePath?) throws -> Bool {
        let files = try archive.index().files
        let isNamed = path.map { files[$0]?.names(hash) ?? false } ?? files.values.contains { $0.names(hash) }
        return try isNamed && archive.wholeBytes(of: hash) != nil
    }
}

extension VersionIndex.File {
    /// Whether a line of the file has a content.
    fileprivate func names(_ hash: ContentHash) -> Bool {
        versions.contains { $0.hash == hash } || begun.contains { $0.version.hash == hash }
    }
}
