import RecollectFaults
import RecollectTesting
import Testing

/// A short run of `make faults`, with a fixed seed.
@Suite("Faults of our stores")
struct FaultTests {
    /// The scenarios in which nothing is lost. All of `FaultScenarios.crashes` belong here.
    private static let crashes: Set<String> = [
        "first opening", "a folder that an app made", "saving turns", "saving turns, relaxed", "opening and closing",
        "attachments", "import",
        "replies in flight", "files: saves", "files: trims", "two processes save", "one saves, one opens and closes",
        "one saves, one repairs", "two processes save, one is killed", "one saves, one opens and closes, one is killed",
        "one saves, one repairs, one is killed",
    ]

    @Test(
        "crashes lose nothing that was acknowledged",
        arguments: FaultScenarios.crashes.filter { crashes.contains($0.name) })
    func crash(_ scenario: CrashScenario) async throws {
        var explorer = CrashExplorer(seed: 11)
        // Making a history is short and every point of it counts; of the others `make faults` explores more.
        explorer.limit = scenario.name == "first opening" ? nil : 12
        let report = try await explorer.explore(scenario)
        #expect(report.isFaultless, "\(report)")
        #expect(report.points >= 12)
    }

    /// The stores of which a damaged place costs at most what lies on it. All of `FaultScenarios.damages` belong here.
    private static let damages: Set<String> = ["damage: files"]

    @Test(
        "damage costs at most what lies on it, and is told",
        arguments: FaultScenarios.damages.filter { damages.contains($0.name) })
    func damage(_ scenario: DamageScenario) async throws {
        var explorer = DamageExplorer(seed: 11)
        explorer.limit = 60
        explorer.pairs = 20
        let report = try await explorer.explore(scenario)
        #expect(report.isFaultless, "\(report)")
        #expect(report.runs >= 60)
    }
}
