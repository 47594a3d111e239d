import Crypto
import Foundation

/// A suite of user defaults, read and changed in steps. One step runs at a time, in this process and, if the suite
/// is a file written by this type, among all processes.
///
/// `@unchecked Sendable` because its members are used only in steps, on `queue`.
package final class UserDefaultsSuite: @unchecked Sendable {
    /// The queue of the process. It makes reading, changing and writing one step for all stores of a suite.
    private static let queue = DispatchQueue(label: "recollect.defaults")

    /// The suite's name; empty for the app's own defaults.
    let name: String
    private var contents: Contents
    /// The values set since the last save, by key.
    private var changes: [String: Any?] = [:]

    /// The hashes of damaged values left in place after their event, by key. Every step finds them again.
    var reportedDamage: [String: SHA256Digest] = [:]

    /// Creates a suite.
    /// - Parameter name: The suite, such as an app group. `nil`, or a name refused by the system, means the app's
    ///   own defaults.
    package init(name: String?) {
        let named = name.flatMap { UserDefaults(suiteName: $0) }
        self.name = named == nil ? "" : name ?? ""
        contents = Contents(of: self.name)
    }

    // MARK: Steps

    /// Runs a step on the queue, in the order of the calls of one actor. A queued step is not canceled. Unsaved changes of the step are dropped at its
    /// end.
    /// - Parameter making: Whether the step may save to a missing suite.
    /// - Throws: `CancellationError` if the task was canceled before; `damaged`, `foreignStore`,
    ///   `permissionDenied`, `busy` or `inputOutput` if the suite cannot be read; errors of the step.
    nonisolated(nonsending) func run<Result: Sendable>(
        making: Bool = false, _ step: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await Self.queue.run { try self.perform(making: making, step) }
    }

    /// Runs a step, and blocks until its end.
    package func runBlocking<Result>(_ step: () throws -> Result) throws -> Result {
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

    /// The keys of the suite, and the keys added by the system.
    var keys: [String] {
        let kept = contents.keys.filter { !changes.keys.contains($0) }
        return kept + changes.filter { $0.value != nil }.keys
    }

    /// Reads or sets a value. Setting `nil` removes it.
    package subscript(_ key: String) -> Any? {
        get { changes[key] ?? contents[key] }
        set { changes.updateValue(newValue, forKey: key) }
    }

    /// Keeps a damaged value under another key, and replaces it with its readable content.
    ///
    /// If this cannot be saved, for example on a full disk, the value stays, and every step finds it again. The next
    /// save of the same step saves both.
    /// - Returns: Whether the damage was not reported before.
    func repair(_ key: String, with readable: Data, keepingOldAs aside: String) -> Bool {
        let repair = [aside: self[key], key: readable]
        let hash = SHA256.hash(data: self[key] as? Data ?? Data())
        let isReported = reportedDamage[key] == hash
        changes.merge(repair) { _, new in new }
        do {
            try save()
            reportedDamage[key] = nil
        } catch {
            changes.merge(repair) { _, new in new }
            reportedDamage[key] = hash
        }
        return !isReported
    }

    /// Saves the changes since the last save, all together. A failed save drops the changes.
    /// - Throws: `diskFull`, `permissionDenied`, `inputOutput`; `invalidArgument` if the suite's name is not
    ///   possible as a file name.
    package func save() throws {
        guard !changes.isEmpty else { return }
        defer { changes = [:] }
        try contents.write(changes)
    }
}
