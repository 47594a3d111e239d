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

    /// - Parameter status: `URLUbiquitousItemDownloadingStatus.rawValue`, where it is told.
    package init(status: String?, isDownloading: Bool, hasUnresolvedVersions: Bool) {
        content = status.flatMap(Content.init)
        self.isDownloading = isDownloading
        self.hasUnresolvedVersions = hasUnresolvedVersions
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
