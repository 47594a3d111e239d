import Foundation

/// A file or a folder of a workspace, as it lies there.
public struct WorkspaceItem: Hashable, Sendable {
    /// Where it lies.
    public let path: WorkspacePath
    /// Whether it is a folder.
    public let isFolder: Bool
    /// How many bytes the file has, also where they are not here; 0 where nobody knows, and for folders.
    public let size: Int
    /// When it was last changed, as the file system tells it; `nil` where it does not.
    public let modified: Date?
    /// Whether its content is here.
    public let state: FileState
    /// Changes whenever the content may have changed, and only then is the content read again.
    public let stamp: String
    /// Whether the sync service has its content; `nil` where the provider cannot tell, as in a plain folder.
    public let upload: UploadState?

    /// Makes an item.
    public init(
        path: WorkspacePath, isFolder: Bool = false, size: Int = 0, modified: Date? = nil, state: FileState = .local,
        stamp: String = "", upload: UploadState? = nil
    ) {
        self.path = path
        self.isFolder = isFolder
        self.size = size
        self.modified = modified
        self.state = state
        self.stamp = stamp
        self.upload = upload
    }

    /// The same item in another state.
    func with(_ state: FileState) -> WorkspaceItem {
        WorkspaceItem(
            path: path, isFolder: isFolder, size: size, modified: modified, state: state, stamp: stamp, upload: upload)
    }
}

/// Whether a file can be read now.
public struct FileState: RawRepresentable, Hashable, Sendable {
    /// The state's name, stable across versions.
    public let rawValue: String

    /// Makes a state from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The content is on this device.
    public static let local = FileState(rawValue: "local")
    /// The content is elsewhere: a placeholder of old systems, or a dataless file.
    public static let notLocal = FileState(rawValue: "notLocal")
    /// The content is on its way.
    public static let downloading = FileState(rawValue: "downloading")
    /// The content is here, and so are others that contradict it.
    public static let conflicted = FileState(rawValue: "conflicted")
    /// The file was there and is not any more.
    public static let gone = FileState(rawValue: "gone")
    /// It is there, and this process may not read it, or the disk cannot. Of a folder: what lies in it is not known. Told by what tried:
    /// a recursive listing of folders, a look of files too.
    public static let unreadable = FileState(rawValue: "unreadable")
}

/// Whether a sync service has what a file holds on this device.
public struct UploadState: RawRepresentable, Hashable, Sendable {
    /// The state's name, stable across versions.
    public let rawValue: String

    /// Makes a state from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The service has it.
    public static let done = UploadState(rawValue: "done")
    /// It is yet to come there: the device is offline, or others are before it.
    public static let waiting = UploadState(rawValue: "waiting")
    /// The service has no room for it: it comes there when there is.
    public static let overQuota = UploadState(rawValue: "overQuota")
    /// The service refused it for another reason, and tries again.
    public static let failed = UploadState(rawValue: "failed")
}
