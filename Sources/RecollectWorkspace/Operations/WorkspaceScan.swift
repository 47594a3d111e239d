import Foundation
import RecollectCore

/// The result of a scan.
struct WorkspaceScan {
    /// A file's last known state on this device.
    struct File: Hashable {
        /// The content; `nil` if it is unknown because the file was never local, or is too large.
        var content: ContentHash?
        /// The file's stamp, if the content is unknown.
        var stamp: String?
        /// Whether the file has conflict copies or conflicting versions.
        var isConflicted: Bool
        /// Whether the content was made on this device.
        var isOwn: Bool

        /// Whether the content changed, or for an unknown content, the stamp.
        func differs(from other: File) -> Bool {
            content != other.content || (content == nil && stamp != other.stamp)
        }
    }

    let index: VersionIndex
    let table: FileTable
    /// The listed items. Unreadable files have the state `unreadable`. Empty if the root is missing.
    var listing = WorkspaceListing([], refusals: [:])
    /// The missing files during a mass deletion.
    var missing: [WorkspacePath] = []
    /// Whether a mass deletion was found.
    var isMassDeletion = false
    /// Whether the root can be reached.
    var isAvailable = true
}

extension WorkspaceScan {
    /// The current files. Missing and hidden files with no recorded removal are included.
    var files: [WorkspacePath: File] {
        var files: [WorkspacePath: File] = [:]
        for (path, file) in index.files {
            guard let content = file.content else { continue }
            files[path] = File(
                content: content, stamp: nil, isConflicted: listing.conflicted.contains(path),
                isOwn: file.versions.last?.author != nil)
        }
        for (path, row) in table.rows where row.hash == nil && files[path] == nil {
            files[path] = File(
                content: nil, stamp: row.stamp, isConflicted: listing.conflicted.contains(path), isOwn: false)
        }
        return files
    }

    /// The files trashed or moved on this device.
    var removedHere: Set<WorkspacePath> {
        Set(index.files.filter { $0.value.content == nil && $0.value.versions.last?.author != nil }.keys)
    }
}
