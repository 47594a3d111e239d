import RecollectFaults
import RecollectTestSupport
import RecollectTesting
import Testing

/// A short run of `make faults`, with a fixed seed.
@Suite("Faults of our stores", .needs(.time))
struct FaultTests {
    @Test(
        "crashes lose nothing that was acknowledged",
        arguments: FaultScenarios.crashes)
    func crash(_ scenario: CrashScenario) async throws {
        var explorer = CrashExplorer(seed: 11)
        // Making a history is short and every point of it counts; of the others `make faults` explores more.
        explorer.limit = scenario.name == "first opening" ? nil : 4
        explorer.powerCuts = 2
        let report = try await explorer.explore(scenario)
        #expect(report.isFaultless, "\(report)")
        #expect(report.points >= 4)
    }

    @Test(
        "damage costs at most what lies on it, and is told",
        arguments: FaultScenarios.damages)
    func damage(_ scenario: DamageScenario) async throws {
        var explorer = DamageExplorer(seed: 11)
        // `make faults` damages every place.
        explorer.limit = 24
        explorer.pairs = 8
        let report = try await explorer.explore(scenario)
        #expect(report.isFaultless, "\(report)")
        #expect(report.runs >= 48)
    }
}
