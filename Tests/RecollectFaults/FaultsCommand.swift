import Foundation
import RecollectTesting

/// Runs both explorers for a time, with new seeds in each round, and prints one table.
///
/// Arguments: `minutes=…` (by default, one round), `seed=…` (the first seed; by default, a random one), `scenario=…`,
/// and, to repeat a fault, `point=…` or `run=…`. `limit=…` bounds the points of a scenario in a round (by default,
/// 150); each round draws other points.
package struct FaultsCommand {
    private var scenario: String?
    private var seed = UInt64.random(in: 1...999_999)
    private var point: CrashPoint?
    private var run: String?
    private var limit: Int?
    private var minutes: Double?

    package init(_ arguments: [String]) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, !parts[1].isEmpty else { continue }
            switch parts[0] {
            case "scenario": scenario = parts[1]
            case "seed": seed = UInt64(parts[1]) ?? seed
            case "point": point = CrashPoint(parts[1])
            case "run": run = parts[1]
            case "limit": limit = Int(parts[1])
            case "minutes": minutes = Double(parts[1])
            default: throw UnknownArgument(argument: argument)
            }
        }
    }

    struct UnknownArgument: Error {
        let argument: String
    }

    /// Explores all scenarios, and returns whether no fault was found.
    package func run() async throws -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        let end = minutes.map { start + .seconds($0 * 60) }
        var table = FaultTable()
        var round: UInt64 = 0
        repeat {
            for each in FaultScenarios.crashes where scenario == nil || each.name == scenario {
                if let end, clock.now > end { break }
                await explore(each, seed: seed + round, until: end, &table)
            }
            for each in FaultScenarios.damages where scenario == nil || each.name == scenario {
                if let end, clock.now > end { break }
                await explore(each, seed: seed + round, until: end, &table)
            }
            round += 1
        } while end.map { clock.now < $0 } ?? false
        print(table)
        return table.isFaultless
    }

    private func explore(
        _ scenario: CrashScenario, seed: UInt64, until end: ContinuousClock.Instant?, _ table: inout FaultTable
    ) async {
        var explorer = CrashExplorer(seed: seed)
        explorer.point = point
        explorer.limit = limit ?? 150
        explorer.deadline = end
        do {
            let report = try await explorer.explore(scenario)
            if !report.operationsBefore.isEmpty { print(report.operationsBefore.joined(separator: "\n"), "\n") }
            table.add(report)
        } catch {
            table.add(failure: error, of: scenario.name, seed: seed)
        }
    }

    private func explore(
        _ scenario: DamageScenario, seed: UInt64, until end: ContinuousClock.Instant?, _ table: inout FaultTable
    ) async {
        var explorer = DamageExplorer(seed: seed)
        explorer.run = run
        explorer.limit = limit
        explorer.pairs = limit ?? 100
        explorer.deadline = end
        do {
            table.add(try await explorer.explore(scenario))
        } catch {
            table.add(failure: error, of: scenario.name, seed: seed)
        }
    }
}
