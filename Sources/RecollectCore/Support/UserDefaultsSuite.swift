import Foundation

/// A suite of user defaults, read and changed in steps: one at a time, and where the suite is a file that this writes, for other
/// processes too.
///
/// `@unchecked Sendable`: its members are used in steps alone, which run on `queue`.
final class UserDefaultsSuite: @unchecked Sendable {
    /// One for the process: it makes reading, changing and writing one step for all stores that share a suite.
    private static let queue = DispatchQueue(label: "recollect.defaults")

    /// The suite's name; empty for the app's own defaults.
    let name: String
    private var contents: Contents
    /// What was set since the last save, by its key.
    private var changes: [String: Any?] = [:]

    /// - Parameter name: An app group, for instance; `nil`, and a name that the system refuses, are the app's own defaults.
    init(name: String?) {
        let named = name.flatMap { UserDefaults(suiteName: $0) }
        self.name = named == nil ? "" : name ?? ""
        contents = Contents(of: self.name)
    }

    // MARK: Steps

    /// Runs a step in its turn; not cancelled once it is queued. What it sets and does not save is as it was before.
    /// - Parameter making: Whether the step may save something where there is no suite yet.
    /// - Throws: `CancellationError` if the task was cancelled before; `damaged`, `foreignStore`, `permissionDenied`, `busy` or
    ///   `inputOutput` if the suite cannot be read; what the step throws.
    func run<Result: Sendable>(
        making: Bool = false, _ step: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            Self.queue.async {
                continuation.resume(with: Swift.Result { try self.perform(making: making, step) })
            }
        }
    }

    /// Runs a step, and blocks until it has ended.
    func runBlocking<Result>(_ step: () throws -> Result) throws -> Result {
        try Self.queue.sync { try perform(making: false, step) }
    }

    private func perform<Result>(making: Bool, _ step: () throws -> Result) throws -> Result {
        try contents.begin(making: making)
        defer {
            changes = [:]
            contents.end()
        }
        return try step()
    }

    // MARK: Inside a step

    /// The keys of the suite, and of what the system adds to it.
    var keys: [String] {
        let kept = contents.keys.filter { !changes.keys.contains($0) }
        return kept + changes.filter { $0.value != nil }.keys
    }

    /// Reads, sets or, with `nil`, removes a value.
    subscript(_ key: String) -> Any? {
        get { changes[key] ?? contents[key] }
        set { changes.updateValue(newValue, forKey: key) }
    }

    /// Keeps what was set since the last time, all together. What cannot be kept is as it was before.
    /// - Throws: `diskFull`, `permissionDenied`, `inputOutput`; `invalidArgument` if the suite's name cannot be a file's.
    func save() throws {
        guard !changes.isEmpty else { return }
        defer { changes = [:] }
        try contents.write(changes)
    }
}
