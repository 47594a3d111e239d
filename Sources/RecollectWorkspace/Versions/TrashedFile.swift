/// A file in the trash. It no longer exists, and its last content is in the archive on this device.
public struct TrashedFile: Hashable, Sendable {
    /// The former path. `restore` brings the file back to it.
    public let path: WorkspacePath
    /// The trashing on this device, or the removal by another program or device. Its hash is the hash of the last
    /// content.
    public let removal: WorkspaceVersion
    /// The size of the last content in bytes.
    public let size: Int
}
