import RecollectTesting
import Testing

/// A fault of a store, and the check required to find it.
protocol NamedFault: CaseIterable, Equatable, Sendable {
    /// The name of the check required to fail.
    var caughtBy: String { get }
}

/// Expects a failure of the check of the fault, and a pass of most others.
func expectCaught<Fault: NamedFault, Store: Sendable>(
    _ fault: Fault, by checks: [ConformanceCheck<Store>], on fixture: StoreFixture<Store>
) async throws {
    let named = try #require(checks.first { $0.name == fault.caughtBy })
    // A race depends on the scheduling of tasks and threads, so the check has several attempts.
    var failure: ConformanceFailure?
    for _ in 0..<20 where failure == nil {
        do {
            _ = try await named.run(on: fixture)
        } catch let error as ConformanceFailure {
            failure = error
        }
    }
    #expect(failure?.check == fault.caughtBy)
    // Run every eighth of the other checks, different ones for each fault: all of them would take minutes.
    let index = Array(Fault.allCases).firstIndex(of: fault) ?? 0
    let others = checks.enumerated().filter { $0.offset % 8 == index % 8 }.map(\.element)
        .filter { $0.name != named.name && !$0.isLong }
    var failed: [String] = []
    for check in others where (try? await check.run(on: fixture)) == nil { failed.append(check.name) }
    #expect(failed.count <= others.count / 2, "failed checks of \(others.count) others: \(failed)")
}

/// Expects a faulty store for every check, and a check for every faulty store.
func expectEveryCheckCanFail<Fault: NamedFault, Store>(_: Fault.Type, of checks: [ConformanceCheck<Store>]) {
    let caught = Set(Fault.allCases.map(\.caughtBy))
    let names = Set(checks.map(\.name))
    #expect(names.subtracting(caught).sorted() == [])
    #expect(caught.subtracting(names).sorted() == [])
}
