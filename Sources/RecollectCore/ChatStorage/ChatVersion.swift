/// A version of a session's state: equal versions mean equal states.
public struct ChatVersion: RawRepresentable, Hashable, Sendable {
    /// The version, in a format of the store.
    public let rawValue: String

    /// Creates a version from its raw value.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}
