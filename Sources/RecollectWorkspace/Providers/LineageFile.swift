/// A file in a workspace's lineage folder. Through these files, devices share the ancestry of versions.
///
/// The folder is `.recollect` in the root. A workspace does not list it. Each device writes only its own files and
/// reads all of them, so they never conflict.
public struct LineageFile: Hashable, Sendable {
    /// The file's name in the folder.
    public let name: String
    /// The whole content.
    public let bytes: [UInt8]

    /// Creates a file.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The name of the folder.
    public static let folderName = ".recollect"
    /// The maximum size in bytes. Larger files are not read.
    public static let maxSize = 65_536
}
