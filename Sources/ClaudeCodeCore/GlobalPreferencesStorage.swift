import Foundation

/// The preferences for all sessions, in user defaults. An unset preference is `nil`; setting `nil` removes it.
///
/// May be used from any task. On Apple's systems, the system decides when it writes user defaults. On others, a change waits for
/// a save of a store in the same suite.
public final class GlobalPreferencesStorage: Sendable {
    private enum Key: String {
        case defaultWorkingDirectory, systemPrompt, allowedTools, maxTurns

        /// The key in user defaults. Its prefix avoids collisions with the app's own keys.
        var name: String { "recollect.preferences/\(rawValue)" }
    }

    // Documented as thread-safe; Foundation on Linux does not declare it `Sendable`.
    private nonisolated(unsafe) let defaults: UserDefaults
    private let suite: UserDefaultsSuite

    /// Opens the preferences.
    /// - Parameter suiteName: The name of a suite, for example an app group. `nil`, and a name refused by the
    ///   system, mean the app's own defaults.
    public nonisolated init(suiteName: String? = nil) {
        defaults = suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard
        suite = UserDefaultsSuite(name: suiteName)
    }

    /// The working folder of a new session.
    public var defaultWorkingDirectory: String? {
        get { defaults.string(forKey: Key.defaultWorkingDirectory.name) }
        set { set(newValue, for: .defaultWorkingDirectory) }
    }

    /// The instructions for agents before all messages.
    public var systemPrompt: String? {
        get { defaults.string(forKey: Key.systemPrompt.name) }
        set { set(newValue, for: .systemPrompt) }
    }

    /// The tools allowed for agents without asking the user.
    public var allowedTools: [String]? {
        get { defaults.stringArray(forKey: Key.allowedTools.name) }
        set { set(newValue, for: .allowedTools) }
    }

    /// The maximum number of turns of an agent without the user.
    public var maxTurns: Int? {
        get { defaults.object(forKey: Key.maxTurns.name) == nil ? nil : defaults.integer(forKey: Key.maxTurns.name) }
        set { set(newValue, for: .maxTurns) }
    }

    private func set(_ value: Any?, for key: Key) {
        if let value {
            defaults.set(value, forKey: key.name)
        } else {
            defaults.removeObject(forKey: key.name)
        }
        // Apple's systems write by themselves. Others write the file of all values, only on this call and without a lock, so
        // that it must not run while a store saves into the file. A damaged file is not overwritten: the value is then set
        // in this process alone.
        try? suite.runBlocking { _ = defaults.synchronize() }
    }
}
