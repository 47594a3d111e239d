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

    /// Whether the archive has the content of a leftover, and a log line of its file explains it; of any file without a path.
    private func isKept(_ leftover: Leftover) throws -> Bool {
        let files = try archive.index().files
        let isExplained =
            leftover.path.map { files[$0]?.explains(leftover) ?? false }
            ?? files.values.contains { $0.explains(leftover) }
        return try isExplained && archive.wholeBytes(of: leftover.hash) != nil
    }
}

extension VersionIndex.File {
    /// Whether a log line of the file explains a leftover: its content was the file's, and was replaced after the leftover's
    /// last change. Of a later change, another program has put the content of an older version back.
    fileprivate func explains(_ leftover: Leftover) -> Bool {
        // The kernel's dates of files are up to 10 milliseconds behind the clock.
        let modified = leftover.modified.addingTimeInterval(0.01)
        let isBegun = begun.map(\.version).contains { version in
            version.hash == leftover.hash || version.parents.contains(leftover.hash) && modified < version.date
        }
        if isBegun { return true }
        return versions.indices.contains { index in
            versions[index].hash == leftover.hash
                && (index + 1 == versions.endIndex || modified < versions[index + 1].date)
        }
    }
}
