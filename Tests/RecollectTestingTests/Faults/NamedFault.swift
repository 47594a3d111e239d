import RecollectTesting
import Testing

/// What a broken store does wrong, and the check that must say so.
protocol NamedFault: CaseIterable, Equatable, Sendable {
    /// The name of the check that catches it.
    var caughtBy: String { get }
}

/// Expects that the check which names a fault catches it, while most others pass.
func expectCaught<Fault: NamedFault, Store: Sendable>(
    _ fault: Fault, by checks: [ConformanceCheck<Store>], on fixture: StoreFixture<Store>
) async throws {
    let named = try #require(checks.first { $0.name == fault.caughtBy })
    // A race shows only where tasks or threads meet, which a busy machine may put off: the check has some tries.
    var failure: ConformanceFailure?
    for _ in 0..<20 where failure == nil {
        do {
            _ = try await named.run(on: fixture)
        } catch let error as ConformanceFailure {
            failure = error
        }
    }
    #expect(failure?.check == fault.caughtBy)
    // Every eighth of the other checks, others for each fault: all of them for every fault would take minutes.
    let place = Array(Fault.allCases).firstIndex(of: fault) ?? 0
    let others = checks.enumerated().filter { $0.offset % 8 == place % 8 }.map(\.element)
        .filter { $0.name != named.name && !$0.isLong }
    var failed: [String] = []
    for check in others where (try? await check.run(on: fixture)) == nil { failed.append(check.name) }
    #expect(failed.count <= others.count / 2, "of \(others.count) other checks failed: \(failed)")
}

/// Expects that there is a broken store for every check, and a check for every broken store.
func expectEveryCheckCanFail<Fault: NamedFault, Store>(_: Fault.Type, of checks: [ConformanceCheck<Store>]) {
    let caught = Set(Fault.allCases.map(\.caughtBy))
    let names = Set(checks.map(\.name))
    #expect(names.subtracting(caught).sorted() == [])
    #expect(caught.subtracting(names).sorted() == [])
}
