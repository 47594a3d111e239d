import Foundation

/// The state of a file as reported by iCloud, and its meaning for readers of the file.
package struct CloudItemState: Sendable {
    /// The part of the content on this device, named as in `URLUbiquitousItemDownloadingStatus`.
    package enum Content: String, Sendable {
        /// The newest version in the cloud.
        case current = "NSURLUbiquitousItemDownloadingStatusCurrent"
        /// An older version; the cloud has a newer one.
        case downloaded = "NSURLUbiquitousItemDownloadingStatusDownloaded"
        /// No content.
        case notDownloaded = "NSURLUbiquitousItemDownloadingStatusNotDownloaded"
    }

    /// The content on this device; `nil` for a file not in the cloud, and for a status unknown to this version of
    /// Recollect.
    package var content: Content?
    package var isDownloading: Bool
    package var hasUnresolvedVersions: Bool
    /// Whether the cloud has the local content; `nil` if unknown.
    package var isUploaded: Bool?
    /// The error of a failed upload.
    package var uploadError: (any Error)?

    /// Creates a state.
    /// - Parameter status: `URLUbiquitousItemDownloadingStatus.rawValue`, if available.
    package init(
        status: String?, isDownloading: Bool, hasUnresolvedVersions: Bool, isUploaded: Bool? = nil,
        uploadError: (any Error)? = nil
    ) {
        content = status.flatMap(Content.init)
        self.isDownloading = isDownloading
        self.hasUnresolvedVersions = hasUnresolvedVersions
        self.isUploaded = isUploaded
        self.uploadError = uploadError
    }

    /// The upload state of the local content; `nil` if unknown. For uploaded content, errors of earlier uploads
    /// are ignored.
    package var upload: UploadState? {
        guard let isUploaded else { return nil }
        if isUploaded { return .uploaded }
        guard let uploadError else { return .waiting }
        return (uploadError as? CocoaError)?.code == .ubiquitousFileNotUploadedDueToQuota ? .overQuota : .failed
    }

    /// Returns the state of a file, given its state in the file system.
    ///
    /// If the file system reports missing content, iCloud's status does not override it, because iCloud updates
    /// its status later. Older content counts as local, because it can be read and compared. A newer version
    /// counts only after its download.
    package func state(of listed: FileState) -> FileState {
        if listed == .notLocal || content == .notDownloaded { return isDownloading ? .downloading : .notLocal }
        return hasUnresolvedVersions && listed == .local ? .conflicted : listed
    }
}
