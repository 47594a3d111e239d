/// A version of a file stored by the provider beside it, after changes on two devices.
public struct ConflictVersion: Hashable, Sendable {
    /// The provider's name for the version.
    public let id: String
    /// The version's content.
    public let bytes: [UInt8]

    /// Creates a version.
    public init(id: String, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}
