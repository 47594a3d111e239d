import Foundation
import RecollectCore

extension WorkspaceScanner {
    /// Settles the temporary files of killed writers in the root and in the listed folders. Archived contents of the
    /// killed writes are removed; other contents become files. A failure in one folder does not affect the others.
    func resolveLeftovers(among items: [WorkspaceItem], includingRecent: Bool = false) -> LeftoverReport {
        var all = LeftoverReport()
        for folder in [.root] + items.filter({ $0.isFolder && $0.state != .unreadable }).map(\.path) {
            do {
                let report = try provider.resolveLeftovers(in: folder, includingRecent: includingRecent) {
                    try archive.wholeBytes(of: $0) != nil
                }
                all.kept += report.kept
                all.removed += report.removed
            } catch {
                configuration.logger.debug("cannot clean up temporary files in \(folder): \(error)")
            }
        }
        return all
    }
}
