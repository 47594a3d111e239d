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
                    try isKept($0)
                }
                all.kept += report.kept
                all.removed += report.removed
            } catch {
                configuration.logger.debug("leftovers in \(folder) could not be settled: \(error)")
            }
        }
        return all
    }

    /// Whether the archive has the content of a leftover, as the one that the killed writer was to replace, or was writing.
    ///
    /// Another content may also be archived, as an older version. Then a person has just saved this version again.
    private func isKept(_ leftover: Leftover) throws -> Bool {
        let isWritten = try leftover.isExpected || isBegun(leftover)
        return try isWritten && archive.wholeBytes(of: leftover.hash) != nil
    }

    /// Whether a write of a leftover's content has begun; to any file, for a leftover without a path.
    private func isBegun(_ leftover: Leftover) throws -> Bool {
        let files = try archive.index().files
        let begun = leftover.path.map { files[$0]?.begun ?? [] } ?? files.values.flatMap(\.begun)
        return begun.contains { $0.version.hash == leftover.hash }
    }
}
