import Foundation

/// A file or folder of a workspace.
public struct WorkspaceItem: Hashable, Sendable {
    /// The item's path.
    public let path: WorkspacePath
    /// Whether the item is a folder.
    public let isFolder: Bool
    /// The file's size in bytes, also if it is not local; 0 if unknown, and for folders.
    public let size: Int
    /// The modification date in the file system; `nil` if unknown.
    public let modified: Date?
    /// The date of the last change of the content, the name or the permissions in the file system; `nil` if unknown, as
    /// on FAT, exFAT and FUSE.
    ///
    /// Sync services set `modified` to its value on the other device. This is the date of arrival on this device. If it
    /// is unknown, or later than `modified`, the content may come from another device, and a merge does not count text
    /// missing in it as deleted.
    public let changed: Date?
    /// The availability of the content.
    public let state: FileState
    /// A value different after every possible change of the content. The content is read again only if the stamp
    /// has changed.
    public let stamp: String
    /// The upload state of the content; `nil` if the provider has no such state, as in a plain folder.
    public let upload: UploadState?

    /// Creates an item.
    public init(
        path: WorkspacePath, isFolder: Bool = false, size: Int = 0, modified: Date? = nil, changed: Date? = nil,
        state: FileState = .local, stamp: String = "", upload: UploadState? = nil
    ) {
        self.path = path
        self.isFolder = isFolder
        self.size = size
        self.modified = modified
        self.changed = changed
        self.state = state
        self.stamp = stamp
        self.upload = upload
    }

    /// Whether a program on this device saved the content, by the two dates; `false` if unknown.
    ///
    /// A save sets both dates, the second one again when the new file takes the name of the old one. A sync service takes
    /// longer to bring content, and sets the modification date to that of the save, by the clock of the other device.
    var isEdited: Bool {
        guard let modified, let changed else { return false }
        return (0...Self.maxSaveTime).contains(changed.timeIntervalSince(modified))
    }

    /// The longest time from the last byte of a saved file to its name, in seconds.
    private static let maxSaveTime = 0.25

    /// Returns the same item with another state.
    func with(_ state: FileState) -> WorkspaceItem {
        WorkspaceItem(
            path: path, isFolder: isFolder, size: size, modified: modified, changed: changed, state: state,
            stamp: stamp,
            upload: upload)
    }
}

/// The availability of a file's content.
public struct FileState: RawRepresentable, Hashable, Sendable {
    /// The state's name, stable across versions.
    public let rawValue: String

    /// Creates a state from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The content is on this device.
    public static let local = FileState(rawValue: "local")
    /// The content is not on this device: the file is a placeholder of an old system, or dataless.
    public static let notLocal = FileState(rawValue: "notLocal")
    /// The content is being downloaded.
    public static let downloading = FileState(rawValue: "downloading")
    /// The content is on this device, together with conflicting versions.
    public static let conflicted = FileState(rawValue: "conflicted")
    /// The file existed and has been removed.
    public static let removed = FileState(rawValue: "removed")
    /// The item exists but cannot be read, because of its permissions or the disk. The items in such a folder are
    /// unknown. Set by the operation that tried: a recursive listing sets it for folders, a scan for files, too.
    public static let unreadable = FileState(rawValue: "unreadable")
}

/// The upload of a file's local content.
public struct UploadState: RawRepresentable, Hashable, Sendable {
    /// The state's name, stable across versions.
    public let rawValue: String

    /// Creates a state from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The sync service has the content.
    public static let uploaded = UploadState(rawValue: "uploaded")
    /// The upload is pending: the device is offline, or other files come first.
    public static let waiting = UploadState(rawValue: "waiting")
    /// The service has no room for the content. The upload continues when there is room.
    public static let overQuota = UploadState(rawValue: "overQuota")
    /// The service refused the content for another reason, and will retry.
    public static let failed = UploadState(rawValue: "failed")
}
