import Foundation
import RecollectCore

/// How a workspace is.
public struct WorkspaceStatus: Sendable {
    /// The folder.
    public var rootURL: URL
    /// Whether the folder can be reached.
    public var isAvailable = true
    /// Whether so much is missing that nothing is concluded from it, until it is back or `acceptDeletions()` is called.
    public var isVanished = false
    /// The files that are missing while `isVanished`.
    public var missing: [WorkspacePath] = []
    /// How many files there are, and their bytes in all, those that are not local too.
    public var files = 0
    /// See `files`.
    public var bytes = 0
    /// Files that copies beside them contradict.
    public var conflicted: [WorkspacePath] = []
    /// Files whose content is not on this device, those on their way too.
    public var notLocal: [WorkspacePath] = []
    /// Files and folders that are there and cannot be read; what lies in such a folder is not among `files`, and stays as it was known.
    public var unreadable: [WorkspacePath] = []
    /// How many files, folders and links are left out of all that Recollect does, because of names that not every system takes or because
    /// they are links or devices, where the provider can tell. Hidden names do not count, nor does what lies in such a folder.
    public var leftOutCount = 0
    /// The first of those, from the root on and as far as their names can be shown; 20 at most.
    public var leftOut: [String] = []
    /// Files whose content the sync service does not have yet, where the provider can tell; they are safe on this device alone.
    public var notUploaded: [WorkspacePath] = []
    /// Those of `notUploaded` for which the service has no room.
    public var overQuota: [WorkspacePath] = []
    /// Why the last write of this instance failed, if the disk was the reason (`diskFull`, `readOnly`, `permissionDenied`,
    /// `tooManyOpenFiles`, `inputOutput`); `nil` again once a write succeeded.
    public var lastFailure: RecollectError?
    /// Groups of files whose names some systems take for one.
    public var twins: [[WorkspacePath]] = []
    /// How often this instance wrote which file in the last minute.
    public var writesInLastMinute: [WorkspacePath: Int] = [:]
    /// How many contents the archive on this device keeps, and their bytes in all.
    public var archivedContents = 0
    /// See `archivedContents`.
    public var archivedBytes = 0
}

extension SharedWorkspace {
    /// Looks at the folder and says how it is. While it is gone, says that.
    public func status() async throws -> WorkspaceStatus {
        try await reading {
            let look = try self.look()
            let items = look.listing.items
            let files = items.filter { !$0.isFolder }
            var status = WorkspaceStatus(rootURL: self.rootURL)
            status.isAvailable = look.isAvailable
            status.isVanished = look.isVanished
            status.missing = look.missing
            status.files = files.count
            status.bytes = files.reduce(0) { $0 + $1.size }
            status.conflicted = files.filter { $0.state == .conflicted }.map(\.path)
            status.notLocal = files.filter { ![.local, .conflicted, .unreadable].contains($0.state) }.map(\.path)
            status.unreadable = items.filter { $0.state == .unreadable }.map(\.path)
            status.notUploaded = files.filter { $0.upload.map { $0 != .done } ?? false }.map(\.path)
            status.overQuota = files.filter { $0.upload == .overQuota }.map(\.path)
            status.lastFailure = self.lastFailure.withLock { $0 }
            status.twins = Dictionary(grouping: files.map(\.path), by: \.key).values.filter { $0.count > 1 }
                .map { $0.sorted() }.sorted { $0[0] < $1[0] }
            status.writesInLastMinute = self.counters.snapshot(at: self.configuration.now()).mapValues(\.lastMinute)
                .filter { $0.value > 0 }
            if look.isAvailable { self.tellLeftOut(of: items, in: &status) }
            (status.archivedContents, status.archivedBytes) = try self.archive.size()
            return status
        }
    }

    private func tellLeftOut(of items: [WorkspaceItem], in status: inout WorkspaceStatus) {
        let folders = items.filter { $0.isFolder && $0.state != .unreadable }.map(\.path)
        for folder in [.root] + folders {
            // One that has gone, or was shut, since the look has nothing to tell.
            let names = (try? provider.unlistedNames(in: folder)) ?? []
            status.leftOutCount += names.count
            let first = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                .prefix(Self.mostLeftOut - status.leftOut.count)
            status.leftOut += first.map { folder == .root ? $0 : "\(folder)/\($0)" }
        }
    }

    private static var mostLeftOut: Int { 20 }

    /// Says that the files which are missing were deleted on purpose: they are told as removed, and can be restored.
    /// - Throws: `unavailable` while the folder itself is gone.
    public func acceptDeletions() async throws {
        _ = try await writing { try self.look(acceptingDeletions: true) }
        ownChanges.wake()
    }
}
