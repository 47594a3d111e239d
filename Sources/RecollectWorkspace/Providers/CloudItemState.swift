import Foundation

/// What iCloud tells about a file, and what that means for whoever wants to read it.
package struct CloudItemState: Sendable {
    /// How much of its content is on this device; the names are those of `URLUbiquitousItemDownloadingStatus`.
    package enum Content: String, Sendable {
        /// The newest that the cloud knows.
        case current = "NSURLUbiquitousItemDownloadingStatusCurrent"
        /// One that the cloud has a newer of.
        case downloaded = "NSURLUbiquitousItemDownloadingStatusDownloaded"
        /// None of it.
        case notDownloaded = "NSURLUbiquitousItemDownloadingStatusNotDownloaded"
    }

    /// `nil` for a file that the cloud does not have, and for what it says in words that are new.
    package var content: Content?
    package var isDownloading: Bool
    package var hasUnresolvedVersions: Bool
    /// Whether the cloud has what is here; `nil` where it does not say.
    package var isUploaded: Bool?
    /// Why an upload failed.
    package var uploadError: (any Error)?

    /// - Parameter status: `URLUbiquitousItemDownloadingStatus.rawValue`, where it is told.
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

    /// Whether the cloud has the content. An error of an earlier upload says nothing of a content that is there.
    package var upload: UploadState? {
        guard let isUploaded else { return nil }
        if isUploaded { return .done }
        guard let uploadError else { return .waiting }
        return (uploadError as? CocoaError)?.code == .ubiquitousFileNotUploadedDueToQuota ? .overQuota : .failed
    }

    /// The state of a file of which the file system tells another one.
    ///
    /// What the file system says of content that is not here holds: iCloud's words come later. An older content is a content, which
    /// can be read and compared; that a newer one is on its way shows when it is there.
    package func state(of listed: FileState) -> FileState {
        if listed == .notLocal || content == .notDownloaded { return isDownloading ? .downloading : .notLocal }
        return hasUnresolvedVersions && listed == .local ? .conflicted : listed
    }
}
