import Recollect

/// What a chat UI is given: its preferences and where its sessions are kept.
///
/// Belongs to whoever made it: its storage need not be `Sendable`. It may be made on the main actor and anywhere else.
public final class DependencyContainer {
    /// The person's preferences.
    public let globalPreferences: GlobalPreferencesStorage
    /// Where sessions are kept.
    public let sessionStorage: any SessionStorageProtocol

    /// Makes a container.
    /// - Parameters:
    ///   - globalPreferences: the person's preferences.
    ///   - customSessionStorage: where sessions are kept; `nil` is a `UserDefaultsSessionStorage` in the app's own defaults.
    public nonisolated init(
        globalPreferences: GlobalPreferencesStorage, customSessionStorage: (any SessionStorageProtocol)? = nil
    ) {
        self.globalPreferences = globalPreferences
        sessionStorage = customSessionStorage ?? UserDefaultsSessionStorage()
    }
}
