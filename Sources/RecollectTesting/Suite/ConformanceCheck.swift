import RecollectCore

/// A check of one promise of a store, as a value: an argument of a test, a line of a report.
///
/// A check creates its own store, writes invented messages, and reads them back. It shares no state with other
/// checks, so any number may run at the same time. It links no test framework: a broken promise is thrown.
public struct ConformanceCheck<Store: Sendable>: Sendable, Identifiable, CustomStringConvertible {
    /// The check's name, stable across versions: its subject, a dot, and its promise (`window.roundsDownToEven`).
    public let name: String
    /// The checked rule, as numbered in the guide "The rules of a history"; `nil` for a promise of the protocol
    /// itself.
    public let rule: Int?
    /// The promise, in one line.
    public let promise: String
    /// The capabilities a store must declare for the check to apply.
    public let needs: StoreCapabilities
    /// Whether the check takes seconds on a slow store.
    public let isLong: Bool

    private let body: @Sendable (Trial<Store>) async throws -> Void

    /// The name.
    public var id: String { name }
    /// The name.
    public var description: String { name }

    /// Creates a check of one new, empty store.
    init(
        _ name: String, rule: Int? = nil, _ promise: String, needs: StoreCapabilities = [], isLong: Bool = false,
        body: @escaping @Sendable (Store) async throws -> Void
    ) {
        self.init(name, rule: rule, promise, needs: needs, isLong: isLong, trial: { try await body($0.open()) })
    }

    /// Creates a check of one new store with random input, repeatable by the fixture's seed.
    init(
        _ name: String, rule: Int? = nil, _ promise: String, needs: StoreCapabilities = [], isLong: Bool = false,
        seeded: @escaping @Sendable (Store, SeededGenerator) async throws -> Void
    ) {
        self.init(
            name, rule: rule, promise, needs: needs, isLong: isLong,
            trial: { try await seeded($0.open(), SeededGenerator(seed: $0.seed)) })
    }

    /// Creates a check of a trial, in which the store can be opened any number of times.
    init(
        _ name: String, rule: Int? = nil, _ promise: String, needs: StoreCapabilities = [], isLong: Bool = false,
        trial: @escaping @Sendable (Trial<Store>) async throws -> Void
    ) {
        self.name = name
        self.rule = rule
        self.promise = promise
        self.needs = needs
        self.isLong = isLong
        self.body = trial
    }
}

extension ConformanceCheck {
    /// Runs the check on a new store.
    ///
    /// - Parameters:
    ///   - capabilities: The promises of the store. Leave out only those it cannot keep.
    ///   - file: The source file of the call, for failures.
    ///   - line: The source line of the call, for failures.
    ///   - make: Creates an empty store.
    /// - Returns: `.passed`, or `.notDeclared` with the missing capabilities, also printed to standard error once
    ///   per process.
    /// - Throws: `ConformanceFailure`; `CancellationError` if the calling task was canceled.
    @discardableResult
    public func run(
        capabilities: StoreCapabilities = .standard, file: String = #fileID, line: Int = #line,
        make: @escaping @Sendable () async throws -> Store
    ) async throws -> ConformanceOutcome {
        try await run(on: StoreFixture(capabilities: capabilities, make: make), file: file, line: line)
    }

    /// Runs the check on a fixture's store. Like `run(capabilities:make:)`, but also for stores that can be reopened.
    @discardableResult
    public func run(
        on fixture: StoreFixture<Store>, file: String = #fileID, line: Int = #line
    ) async throws -> ConformanceOutcome {
        let outcome = await outcome(on: fixture, file: file, line: line)
        switch outcome {
        case .passed: break
        case .notDeclared(let missing): StandardError.say("\(name): not declared: \(missing)")
        case .failed(let failure):
            try Task.checkCancellation()
            throw failure
        }
        return outcome
    }

    /// Returns the outcome of the check on a fixture's store. Never throws.
    func outcome(on fixture: StoreFixture<Store>, file: String, line: Int) async -> ConformanceOutcome {
        let missing = needs.subtracting(fixture.capabilities)
        guard missing.isEmpty else { return .notDeclared(missing) }
        do {
            try await fixture.withTrial(body)
            return .passed
        } catch {
            let broken = error as? BrokenPromise
            return .failed(
                ConformanceFailure(
                    check: name, rule: rule, promise: promise, expected: broken?.expected ?? "no error",
                    actual: broken?.actual ?? "\(error)", cause: broken == nil ? error : nil, file: file, line: line))
        }
    }
}

/// The outcome of a check.
public enum ConformanceOutcome: Sendable {
    /// The promise is kept.
    case passed
    /// The check does not apply: the store does not declare these capabilities.
    case notDeclared(StoreCapabilities)
    /// The promise is broken.
    case failed(ConformanceFailure)
}
