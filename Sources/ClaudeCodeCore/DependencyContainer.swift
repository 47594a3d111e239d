import Recollect

/// The dependencies of a chat UI: its preferences and its session store.
///
/// The container is not `Sendable`, because its store need not be. It may be created on the main actor and
/// elsewhere.
public final class DependencyContainer {
    /// The user's preferences.
    public let globalPreferences: GlobalPreferencesStorage
    /// The session store.
    public let sessionStorage: any SessionStorageProtocol

    /// Creates a container.
    /// - Parameters:
    ///   - globalPreferences: The user's preferences.
    ///   - customSessionStorage: The session store; `nil` for a `UserDefaultsSessionStorage` in the app's own
    ///     defaults.
    public nonisolated init(
        globalPreferences: GlobalPreferencesStorage, customSessionStorage: (any SessionStorageProtocol)? = nil
    ) {
        self.globalPreferences = globalPreferences
        sessionStorage = customSessionStorage ?? UserDefaultsSessionStorage()
    }
}
