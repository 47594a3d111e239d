import Foundation

/// The preferences that hold for all sessions, in user defaults; what was never set is `nil`, and setting `nil` forgets it.
///
/// May be used from any task. The system writes user defaults when it sees fit.
public final class GlobalPreferencesStorage: Sendable {
    private enum Key: String {
        case defaultWorkingDirectory, systemPrompt, allowedTools, maxTurns

        /// No other key of an app begins like this.
        var name: String { "recollect.preferences/\(rawValue)" }
    }

    // Documented to be safe to use from any thread; Linux's Foundation does not declare it.
    private nonisolated(unsafe) let defaults: UserDefaults

    /// Opens the preferences.
    /// - Parameter suiteName: An app group, for instance; `nil`, and a name that the system refuses, are the app's own defaults.
    public nonisolated init(suiteName: String? = nil) {
        defaults = suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard
    }

    /// The folder that a new session works in.
    public var defaultWorkingDirectory: String? {
        get { defaults.string(forKey: Key.defaultWorkingDirectory.name) }
        set { set(newValue, for: .defaultWorkingDirectory) }
    }

    /// What agents are told before everything else.
    public var systemPrompt: String? {
        get { defaults.string(forKey: Key.systemPrompt.name) }
        set { set(newValue, for: .systemPrompt) }
    }

    /// The tools that agents may use without asking.
    public var allowedTools: [String]? {
        get { defaults.stringArray(forKey: Key.allowedTools.name) }
        set { set(newValue, for: .allowedTools) }
    }

    /// How many turns an agent may take by itself.
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
        // Apple's systems write by themselves; elsewhere nothing is written until this is called.
        defaults.synchronize()
    }
}
