import Foundation
import RecollectCore

/// The state of a workspace.
public struct WorkspaceStatus: Sendable {
    /// The root folder.
    public var rootURL: URL
    /// Whether the root folder can be reached.
    public var isAvailable = true
    /// Whether a mass deletion was found. Missing files then do not count as removed until they are back or
    /// `acceptDeletions()` is called.
    public var isMassDeletion = false
    /// The missing files during a mass deletion.
    public var missing: [WorkspacePath] = []
    /// The number of files, including those not local.
    public var fileCount = 0
    /// The total size of these files in bytes.
    public var totalBytes = 0
    /// The files with conflict copies beside them, or with conflicting versions at the provider.
    public var conflicted: [WorkspacePath] = []
    /// The files with contents not on this device, including downloads in progress.
    public var notLocal: [WorkspacePath] = []
    /// The unreadable files and folders. Files in such a folder do not count in `fileCount`, and their recorded state stays.
    public var unreadable: [WorkspacePath] = []
    /// The number of files, folders, links and devices ignored by Recollect, if the provider can list them: links
    /// and devices, and names not allowed on every system. Hidden names and the content of ignored folders are not
    /// counted.
    public var ignoredCount = 0
    /// The first ignored names, from the root on, as far as they can be displayed; at most 20.
    public var ignored: [String] = []
    /// The files not uploaded to the sync service yet, if the provider can list them. Only this device has their
    /// contents.
    public var notUploaded: [WorkspacePath] = []
    /// The files of `notUploaded` exceeding the quota of the sync service.
    public var overQuota: [WorkspacePath] = []
    /// The error of this instance's last write, if the disk caused it (`diskFull`, `readOnly`, `permissionDenied`,
    /// `tooManyOpenFiles`, `inputOutput`); `nil` after a successful write.
    public var lastFailure: RecollectError?
    /// The groups of files in a name collision.
    public var nameCollisions: [[WorkspacePath]] = []
    /// The number of writes of this instance in the last minute, by file.
    public var writesInLastMinute: [WorkspacePath: Int] = [:]
    /// The number of contents in the archive of this device.
    public var archivedContentCount = 0
    /// The total size of these contents in bytes.
    public var archivedBytes = 0
}

extension SharedWorkspace {
    /// Scans the folder and returns its state. A missing folder is no error; see `isAvailable`.
    public func status() async throws -> WorkspaceStatus {
        try await reading {
            let scan = try self.scanner.scan()
            let items = scan.listing.items
            let files = items.filter { !$0.isFolder }
            var status = WorkspaceStatus(rootURL: self.rootURL)
            status.isAvailable = scan.isAvailable
            status.isMassDeletion = scan.isMassDeletion
            status.missing = scan.missing
            status.fileCount = files.count
            status.totalBytes = files.reduce(0) { $0 + $1.size }
            status.conflicted = files.filter { $0.state == .conflicted }.map(\.path)
            status.notLocal = files.filter { ![.local, .conflicted, .unreadable].contains($0.state) }.map(\.path)
            status.unreadable = items.filter { $0.state == .unreadable }.map(\.path)
            status.notUploaded = files.filter { $0.upload.map { $0 != .uploaded } ?? false }.map(\.path)
            status.overQuota = files.filter { $0.upload == .overQuota }.map(\.path)
            status.lastFailure = self.writer.lastFailure
            status.nameCollisions = Dictionary(grouping: files.map(\.path), by: \.key).values.filter { $0.count > 1 }
                .map { $0.sorted() }.sorted { $0[0] < $1[0] }
            status.nameCollisions += items.filter { $0.isFolder && $0.state == .conflicted }.map { [$0.path, $0.path] }
            status.writesInLastMinute = self.writer.writesInLastMinute
            if scan.isAvailable { self.reportLeftOut(of: items, in: &status) }
            (status.archivedContentCount, status.archivedBytes) = try self.archive.size()
            return status
        }
    }

    private func reportLeftOut(of items: [WorkspaceItem], in status: inout WorkspaceStatus) {
        let folders = items.filter { $0.isFolder && $0.state != .unreadable }.map(\.path)
        for folder in [.root] + folders {
            // A folder removed or made unreadable since the scan has no names.
            let names = (try? provider.unlistedNames(in: folder)) ?? []
            status.ignoredCount += names.count
            let first = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                .prefix(Self.maxIgnored - status.ignored.count)
            status.ignored += first.map { folder == .root ? $0 : "\(folder)/\($0)" }
        }
    }

    private static var maxIgnored: Int { 20 }

    /// Accepts the missing files of a mass deletion as deleted. They are then reported as removed, and can be
    /// restored.
    /// - Throws: `unavailable` if the root folder is missing; errors of the disk.
    public func acceptDeletions() async throws {
        _ = try await writing { try self.scanner.scan(acceptingDeletions: true) }
        writer.changes.signal()
    }
}
