import Foundation
import RecollectCore

extension WorkspaceScanner {
    /// Settles the temporary files of killed writers in the root and in the listed folders. Contents known to the
    /// archive as versions of their files are removed; other contents become files. A failure in one folder does
    /// not affect the others.
    func resolveLeftovers(among items: [WorkspaceItem], includingRecent: Bool = false) -> LeftoverReport {
        var all = LeftoverReport()
        for folder in [.root] + items.filter({ $0.isFolder && $0.state != .unreadable }).map(\.path) {
            do {
                let report = try provider.resolveLeftovers(in: folder, includingRecent: includingRecent) {
                    try isKept($0, of: $1)
                }
                all.kept += report.kept
                all.removed += report.removed
            } catch {
                configuration.logger.debug("leftovers in \(folder) could not be settled: \(error)")
            }
        }
        return all
    }

    /// Whether the archive has a content, and a log line of the file explains a leftover with it; of any file if `path` is
    /// `nil`.
    private func isKept(_ hash: ContentHash, of path: WorkspacePath?) throws -> Bool {
        let files = try archive.index().files
        let isNamed = path.map { files[$0]?.names(hash) ?? false } ?? files.values.contains { $0.names(hash) }
        return try isNamed && archive.wholeBytes(of: hash) != nil
    }
}

extension VersionIndex.File {
    /// Whether a log line of the file explains a leftover with this content. After a killed write, only its own content
    /// and the replaced one do: with the content of an older version, another program has put that version back.
    fileprivate func names(_ hash: ContentHash) -> Bool {
        guard !begun.isEmpty else { return versions.contains { $0.hash == hash } }
        return versions.last?.hash == hash
            || begun.contains { $0.version.hash == hash || $0.version.parents.contains(hash) }
    }
}
