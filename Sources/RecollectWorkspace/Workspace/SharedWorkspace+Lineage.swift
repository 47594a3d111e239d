import Foundation
import RecollectCore

/// The published part of the lineage.
struct SharedLineage {
    /// The position in the archive's log up to which other devices have the lineage.
    var moment: VersionLog.Moment?
    /// The date of the last publication after a write.
    var date: Date?
}

extension SharedWorkspace {
    /// Publishes the changes since the last call in the lineage log. Blocks.
    ///
    /// Failures are only logged: other devices then merge without a base.
    func shareLineage() {
        sharedLineage.withLock { shared in
            do {
                let moment = try archive.snapshot().moment
                guard moment != shared.moment else { return }
                let file = try provider.lineageFile(archive.lineageWriter().segmentName)
                let (written, removed) = try archive.addToLineage(over: file?.bytes)
                for segment in written { try provider.writeLineageFile(segment.name, segment.bytes) }
                for name in removed { try provider.writeLineageFile(name, nil) }
                shared.moment = moment
            } catch {
                configuration.logger.debug("the lineage of \(rootURL.path) could not be written: \(error)")
            }
        }
    }

    /// Publishes the lineage after a write, at most once a second. A scan publishes the rest. Blocks.
    ///
    /// A process that writes and ends, such as a command, has no later scan.
    func shareLineageOfWrite() {
        let now = configuration.now()
        let isDue = sharedLineage.withLock { shared in
            // A clock set back does not extend the wait.
            let isDue = shared.date.map { abs(now.timeIntervalSince($0)) >= 1 } ?? true
            if isDue { shared.date = now }
            return isDue
        }
        // Nothing is written to a folder in place of the workspace. If this is unknown, the next scan publishes.
        guard isDue, (try? isGuardKept() || isLineageMissing()) == false else { return }
        shareLineage()
    }

    /// Whether the lineage folder is missing although this device has seen it. The root may then be a different folder
    /// or an unmounted mount point. Blocks.
    func isLineageMissing() throws -> Bool {
        try archive.lineageWriter().wasThere && provider.lineageFiles().isEmpty
    }

    /// Returns the lineage logs of all devices. Blocks.
    func lineageLogs() throws -> LineageLogs {
        LineageLogs(
            try archive.index(), of: try archive.lineageWriter().device, files: try provider.lineageFiles())
    }
}
