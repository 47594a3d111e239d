/// A file that is not there any more, and whose last content is kept on this device.
public struct TrashedFile: Hashable, Sendable {
    /// Where it lay, and where `restore` brings it back.
    public let path: WorkspacePath
    /// What ended it: it was `trashed` on this device, or `removed` by somebody else. Its hash is that of the last content.
    public let end: WorkspaceVersion
    /// The bytes of the last content.
    public let size: Int
}
