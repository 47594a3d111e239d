/// A chat storage that can tell cheaply whether a session has changed, whoever changed it: see `CachingChatStorage`.
///
/// Optional: of a store without it nobody can know what other processes wrote but by reading. A wrapper passes the call on to the
/// store that it wraps.
public protocol VersionedChatStorage: ChatStorage {
    /// What the session's state is called now.
    ///
    /// Two calls give the same version only if every read between them gave the same: every write that is done changes it, by
    /// this and other instances and processes, through this and other views. It may change without a reason. Versions are
    /// compared among those of one instance; they mean nothing to others and are not kept.
    /// - Returns: `nil` where this store has none: a wrapper around a store that has none.
    func version(userId: String, sessionId: String) async throws -> ChatVersion?
}

/// The name of a session's state: equal names, equal states.
public struct ChatVersion: RawRepresentable, Hashable, Sendable {
    /// The name, in the store's own words.
    public let rawValue: String

    /// Makes a version from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}
