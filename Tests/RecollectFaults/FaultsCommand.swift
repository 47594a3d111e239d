import Foundation
import RecollectTesting

/// Runs the explorers for a time and prints a table.
package struct FaultsCommand {
    private var scenario: String?
    private var seed: UInt64 = 1
    private var point: CrashPoint?
    private var limit: Int?

    package init(_ arguments: [String]) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "scenario": scenario = parts[1]
            case "seed": seed = UInt64(parts[1]) ?? 1
            case "point": point = CrashPoint(parts[1])
            case "limit": limit = Int(parts[1])
            default: break
            }
        }
    }

    package func run() async throws -> Bool {
        var isFaultless = true
        for each in FaultScenarios.all where scenario == nil || each.name == scenario {
            var explorer = CrashExplorer(seed: seed)
            explorer.point = point
            explorer.limit = limit
            let report = try await explorer.explore(each)
            print(report, report.duration)
            if !report.isFaultless { isFaultless = false }
        }
        return isFaultless
    }
}
