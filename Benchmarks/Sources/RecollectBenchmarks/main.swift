import Foundation
import Recollect

let full = try await saveBenchmark(durability: .full, turns: Int(CommandLine.arguments.dropFirst().first ?? "5000") ?? 5000)
print(Line("save .full", full.ours, full.floor, atMost: 1.5).markdown)
let relaxed = try await saveBenchmark(durability: .relaxed, turns: Int(CommandLine.arguments.dropFirst(2).first ?? "20000") ?? 20000)
print(Line("save .relaxed", relaxed.ours, relaxed.floor, atMost: 3).markdown)
