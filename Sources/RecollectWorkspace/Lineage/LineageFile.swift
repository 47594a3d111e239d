/// A file of a workspace's lineage folder, in which devices tell each other which content came of which.
///
/// The folder is `.recollect` in the root, which a workspace does not list. Each device writes files of its own there, and
/// reads everybody's; so none of them is ever in conflict.
public struct LineageFile: Hashable, Sendable {
    /// The file's name in the folder.
    public let name: String
    /// The whole content.
    public let bytes: [UInt8]

    /// Makes a file.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The name of the folder.
    public static let folderName = ".recollect"
    /// The most bytes that a file may have. Larger ones are not read.
    public static let largest = 65_536
}
