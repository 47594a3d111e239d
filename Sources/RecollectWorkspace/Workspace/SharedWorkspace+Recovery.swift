import Foundation
import RecollectCore

/// The result of `SharedWorkspace.recover()`.
public struct WorkspaceRecovery: Hashable, Sendable {
    /// The files created from temporary files of killed writers, with contents missing in the archive.
    public var filesFromLeftovers: [WorkspacePath] = []
    /// The number of removed temporary files of killed writers. Their contents were unfinished writes, or are kept
    /// elsewhere.
    public var removedLeftovers = 0
    /// The files with archived contents missing in the version log. These contents are now among the files'
    /// versions. A missing file is in the trash. Each content without a known file becomes a trashed file of its
    /// own, `Recovered/<16 digits>.txt`.
    public var recoveredFiles: [WorkspacePath] = []
    /// The damaged version logs, set aside beside the logs salvaged from them. Remove them once nothing is found
    /// missing.
    public var damagedLogs: [URL] = []

    /// Creates an empty result.
    public init() {}
}

extension SharedWorkspace {
    /// Recovers contents after crashes and disk failures: archived contents missing in the version log, and
    /// temporary files of killed writers in the folder, including recent ones.
    ///
    /// A damaged log is replaced by its readable part and set aside, as in every call that writes.
    ///
    /// No file is changed and no content removed. The call is safe at any time while no other writer of Recollect
    /// is active. A second call finds nothing more. After an interruption, the next call continues. Takes as long
    /// as a scan and a listing of the archive. Cancellation has no effect after the beginning.
    /// - Throws: `unavailable` if the folder is missing; `newerSchema` for an archive of a newer version; `busy` if
    ///   another process locked the archive for too long; errors of the disk.
    public func recover() async throws -> WorkspaceRecovery {
        try await writing {
            var recovery = WorkspaceRecovery()
            let report = try self.scanner.resolveLeftovers(
                among: self.scanner.listing(of: .root, recursively: true).items, includingRecent: true)
            recovery.filesFromLeftovers = report.kept.sorted()
            recovery.removedLeftovers = report.removed
            // Contents in the folder get their log lines first, under their own paths.
            _ = try self.scanner.scan()
            recovery.recoveredFiles = try self.archive.recover(knowing: self.reportedLines())
            recovery.damagedLogs = try self.archive.damagedLogs()
            self.writer.changes.signal()
            return recovery
        }
    }

    /// Returns the lines of all devices' lineage logs, as seen from this device: versions of other devices are
    /// observed ones.
    private func reportedLines() throws -> [VersionLine] {
        let device = try archive.lineageWriter().device
        let segments = try provider.lineageFiles().compactMap { LineageSegment($0.bytes) }
        return segments.sorted { ($0.device, $0.number) < ($1.device, $1.number) }.flatMap { segment in
            segment.lines.map { line in
                if segment.device == device { return line }
                let version = line.version
                return VersionLine(
                    mark: .done, path: line.path,
                    version: WorkspaceVersion(hash: version.hash, date: version.date, author: nil, kind: .observed))
            }
        }
    }
}
