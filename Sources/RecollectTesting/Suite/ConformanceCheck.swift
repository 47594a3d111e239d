import RecollectCore

/// One promise of a store as a named value: an argument of a test, a line of a report.
///
/// A check makes its own store, writes invented messages into it and reads them back; it shares nothing with other checks,
/// so any number may run at the same time. It links no test framework: a broken promise is thrown.
public struct ConformanceCheck<Store: Sendable>: Sendable, Identifiable, CustomStringConvertible {
    /// The check's name, stable across versions: its subject, a dot, what must hold (`window.roundsDownToEven`).
    public let name: String
    /// The rule that it proves, as numbered in the guide "The rules of a history"; `nil` for a promise of the protocol's own.
    public let rule: Int?
    /// What must hold, in a line.
    public let promise: String
    /// What a store has to declare for the check to apply.
    public let needs: StoreCapabilities
    /// Whether it takes seconds on a slow store.
    public let isLong: Bool

    private let body: @Sendable (Trial<Store>) async throws -> Void

    /// The name.
    public var id: String { name }
    /// The name.
    public var description: String { name }

    /// Makes a check of one store at a fresh place.
    init(
        _ name: String, rule: Int? = nil, _ promise: String, needs: StoreCapabilities = [], isLong: Bool = false,
        body: @escaping @Sendable (Store) async throws -> Void
    ) {
        self.init(name, rule: rule, promise, needs: needs, isLong: isLong, trial: { try await body($0.open()) })
    }

    /// Makes a check of one store with random input, which the fixture's seed repeats.
    init(
        _ name: String, rule: Int? = nil, _ promise: String, needs: StoreCapabilities = [], isLong: Bool = false,
        seeded: @escaping @Sendable (Store, SeededGenerator) async throws -> Void
    ) {
        self.init(
            name, rule: rule, promise, needs: needs, isLong: isLong,
            trial: { try await seeded($0.open(), SeededGenerator(seed: $0.seed)) })
    }

    /// Makes a check that opens its place as often as it likes.
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
    /// Runs the check on a store that `make` makes anew.
    ///
    /// - Parameters:
    ///   - capabilities: What the store promises; leave out only what it cannot keep.
    ///   - file: Where the check was asked for; failures name it.
    ///   - line: The line there.
    ///   - make: Makes an empty store.
    /// - Returns: `.passed`, or `.notDeclared` with what was missing; that is also written to standard error, once a process.
    /// - Throws: `ConformanceFailure`; `CancellationError` when the calling task was cancelled.
    @discardableResult
    public func run(
        capabilities: StoreCapabilities = .standard, file: String = #fileID, line: Int = #line,
        make: @escaping @Sendable () async throws -> Store
    ) async throws -> ConformanceOutcome {
        try await run(on: StoreFixture(capabilities: capabilities, make: make), file: file, line: line)
    }

    /// Runs the check on a fixture's store; as `run(capabilities:make:)`, and for stores that can be opened again.
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

    /// What becomes of the check on a fixture's store; never throws.
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

/// What became of a check.
public enum ConformanceOutcome: Sendable {
    /// The promise is kept.
    case passed
    /// The store does not claim these abilities, so the promise is not its own.
    case notDeclared(StoreCapabilities)
    /// The promise is broken.
    case failed(ConformanceFailure)
}
