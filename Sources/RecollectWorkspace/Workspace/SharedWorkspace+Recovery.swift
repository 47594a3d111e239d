import Foundation
import RecollectCore

/// What `recover()` found, and what became of it.
public struct WorkspaceRecovery: Hashable, Sendable {
    /// Files that were made of what killed writers left and the archive did not have.
    public var files: [WorkspacePath] = []
    /// How many temporary files of killed writers were removed, because what they held is kept elsewhere, or nobody else had written it.
    public var removedLeftovers = 0
    /// Files of which the archive has contents that its log did not name: those are among the files' versions now. A file that is not there
    /// is in the trash; of contents of which nothing else is known each is a file of its own, `Recovered/<16 digits>.txt`.
    public var contents: [WorkspacePath] = []
    /// Logs of versions that were damaged, and stay beside the one that was made of what could be read of them. Remove them when nothing is
    /// missed.
    public var damagedLogs: [URL] = []

    /// Makes a result in which nothing was found.
    public init() {}
}

extension SharedWorkspace {
    /// Looks for what crashes and failing disks left, and makes it findable again: contents of the archive that its log does not name, and what
    /// killed writers left under temporary names in the folder, also if that was only now. A log that is damaged is begun anew with
    /// what can be read of it, as by any other call that writes; the damaged one stays beside it.
    ///
    /// Changes no file and removes no content. Where no writer of ours is at work it may be called at any time, and again: then it finds
    /// nothing more. Ended in the middle, the next call goes on. Takes as long as a look and a list of the archive's contents. Not cancelled once
    /// it has begun.
    /// - Throws: `unavailable` while the folder is gone; `newerSchema` for an archive of a newer version; `busy` where another process has held the
    ///   archive for too long; what a disk throws.
    public func recover() async throws -> WorkspaceRecovery {
        try await writing {
            var recovery = WorkspaceRecovery()
            let settled = try self.settleLeftovers(
                among: self.items(in: .root, recursively: true), includingRecent: true)
            recovery.files = settled.kept.sorted()
            recovery.removedLeftovers = settled.removed
            // What is in the folder gets its lines first, under its own path.
            _ = try self.look()
            recovery.contents = try self.archive.recover(knowing: self.toldLines())
            recovery.damagedLogs = try self.archive.damagedLogs()
            self.ownChanges.wake()
            return recovery
        }
    }

    /// The lines of all devices' lineage logs, as this device would have written them: what others wrote came from elsewhere.
    private func toldLines() throws -> [VersionLine] {
        let device = try archive.lineageWriter().device
        let segments = try provider.lineageFiles().compactMap { LineageSegment($0.bytes) }
        return segments.sorted { ($0.device, $0.number) < ($1.device, $1.number) }.flatMap { segment in
            segment.lines.map { line in
                if segment.device == device { return line }
                let version = line.version
                return VersionLine(
                    mark: .done, path: line.path,
                    version: WorkspaceVersion(hash: version.hash, date: version.date, author: nil, kind: .seen))
            }
        }
    }
}
