/// A chat store that detects changes of a session without reading it: see `CachingChatStorage`.
///
/// Optional: without it, only reading shows the writes of other processes. A wrapper forwards the call to the
/// wrapped store.
public protocol VersionedChatStorage: ChatStorage {
    /// Returns the version of the session's current state.
    ///
    /// Two calls return the same version only if every read between them returned the same content. Every completed
    /// write changes the version, by this or another instance or process, through this or another view. The version
    /// may also change without a reason. Versions are comparable only within one instance, and are not stored.
    /// - Returns: `nil` in a wrapper around a store without versions.
    func version(userId: String, sessionId: String) async throws -> ChatVersion?
}

/// A version of a session's state: equal versions mean equal states.
public struct ChatVersion: RawRepresentable, Hashable, Sendable {
    /// The version, in a format of the store.
    public let rawValue: String

    /// Creates a version from its raw value.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}
