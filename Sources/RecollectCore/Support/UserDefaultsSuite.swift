import Foundation

/// A suite of user defaults, whose changes are kept all together or not at all when `save` returns.
///
/// `@unchecked Sendable`: its members are used on `queue` alone.
final class UserDefaultsSuite: @unchecked Sendable {
    /// One for the process: it makes reading, changing and writing one step for all stores that share a suite.
    static let queue = DispatchQueue(label: "recollect.defaults")

    /// The suite's name; empty for the app's own defaults.
    let name: String
    private let defaults: UserDefaults
    /// By its key, what was set since the last save, and what was there before.
    private var changes: [String: (new: Any?, old: Any?)] = [:]

    /// - Parameter name: An app group, for instance; `nil`, and a name that the system refuses, are the app's own defaults.
    init(name: String?) {
        let named = name.flatMap { UserDefaults(suiteName: $0) }
        defaults = named ?? .standard
        self.name = named == nil ? "" : name ?? ""
    }

    /// The keys of the suite, and of what the system adds to it.
    var keys: [String] { Array(defaults.dictionaryRepresentation().keys) }

    /// Reads, sets or, with `nil`, removes a value.
    subscript(_ key: String) -> Any? {
        get { defaults.object(forKey: key) }
        set {
            changes[key] = (newValue, changes[key].map(\.old) ?? defaults.object(forKey: key))
            set(newValue, forKey: key)
        }
    }

    /// Keeps what was set since the last time. What cannot be kept is as it was before.
    /// - Throws: `diskFull`, `permissionDenied`, `inputOutput`; `invalidArgument` if the suite's name cannot be a file's; `damaged` if
    ///   the suite's file cannot be read: it stays as it is.
    func save() throws {
        guard !changes.isEmpty else { return }
        defer { changes = [:] }
        do {
            try Self.write(changes.mapValues(\.new), to: name, of: defaults)
        } catch {
            for (key, change) in changes { set(change.old, forKey: key) }
            throw error
        }
    }

    private func set(_ value: Any?, forKey key: String) {
        if let value { defaults.set(value, forKey: key) } else { defaults.removeObject(forKey: key) }
    }
}
