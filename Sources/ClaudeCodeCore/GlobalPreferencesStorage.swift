import Foundation

/// The preferences for all sessions, in user defaults. An unset preference is `nil`; setting `nil` removes it.
///
/// May be used from any task. Reading and setting a preference wait for running saves of stores in the same suite. On Apple's
/// systems, the system decides when it writes user defaults. On others, a set preference is saved. A preference that cannot be
/// saved, for example on a full disk, keeps its former value, and an unreadable one is `nil`.
public final class GlobalPreferencesStorage: Sendable {
    private enum Key: String {
        case defaultWorkingDirectory, systemPrompt, allowedTools, maxTurns

        /// The key in user defaults. Its prefix avoids collisions with the app's own keys.
        var name: String { "recollect.preferences/\(rawValue)" }
    }

    // Not `UserDefaults` itself: on Linux, it would undo saves of stores in the suite.
    private let suite: UserDefaultsSuite

    /// Opens the preferences.
    /// - Parameter suiteName: The name of a suite, for example an app group. `nil`, and a name refused by the
    ///   system, mean the app's own defaults.
    public nonisolated init(suiteName: String? = nil) {
        suite = UserDefaultsSuite(name: suiteName)
    }

    /// The working folder of a new session.
    public var defaultWorkingDirectory: String? {
        get { value(of: .defaultWorkingDirectory) as? String }
        set { set(newValue, for: .defaultWorkingDirectory) }
    }

    /// The instructions for agents before all messages.
    public var systemPrompt: String? {
        get { value(of: .systemPrompt) as? String }
        set { set(newValue, for: .systemPrompt) }
    }

    /// The tools allowed for agents without asking the user.
    public var allowedTools: [String]? {
        get { value(of: .allowedTools) as? [String] }
        set { set(newValue, for: .allowedTools) }
    }

    /// The maximum number of turns of an agent without the user.
    public var maxTurns: Int? {
        get { value(of: .maxTurns) as? Int }
        set { set(newValue, for: .maxTurns) }
    }

    // The guide's properties cannot throw: see the type's documentation for failures.
    private func value(of key: Key) -> Any? {
        try? suite.runBlocking { suite[key.name] }
    }

    private func set(_ value: Any?, for key: Key) {
        try? suite.runBlocking {
            suite[key.name] = value
            try suite.save()
        }
    }
}
