import RecollectFaults
import RecollectTestSupport
import RecollectTesting
import Testing

/// A short run of `make faults`, with a fixed seed.
@Suite("Crashes and damage of Recollect's stores", .needs(.time))
struct FaultTests {
    @Test(
        "A crash loses no acknowledged entry",
        arguments: FaultScenarios.crashes)
    func crash(_ scenario: CrashScenario) async throws {
        var explorer = CrashExplorer(seed: 11)
        // The first opening is short, so explore all its points; `make faults` explores more points of the others.
        explorer.limit = scenario.name == "first opening" ? nil : 4
        explorer.powerCuts = 2
        let report = try await explorer.explore(scenario)
        #expect(report.isFaultless, "\(report)")
        #expect(report.points >= 4)
    }

    @Test(
        "Damage loses at most the entries on the damaged places, and the loss is reported",
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
