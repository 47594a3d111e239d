import RecollectTesting

/// The findings of both explorers: a line for each scenario, followed by the arguments that repeat each kind of fault.
struct FaultTable: CustomStringConvertible {
    private struct Line {
        var scenario: String
        var points = 0
        var faults = 0
        var worstLoss = 0
        var duration = Duration.zero
        /// The first fault of each kind, with the arguments that repeat it.
        var examples: [String: String] = [:]
    }

    private var lines: [Line] = []
    private var details: [String] = []

    var isFaultless: Bool { lines.allSatisfy { $0.faults == 0 } }

    mutating func add(_ report: CrashReport) {
        change(report.name) { line in
            line.points += report.points
            line.faults += report.counts.values.reduce(0, +)
            line.worstLoss = max(line.worstLoss, report.worstLoss)
            line.duration += report.duration
            for fault in report.faults where line.examples[fault.kind] == nil {
                let point = fault.point.map { " POINT=\($0)" } ?? ""
                line.examples[fault.kind] = "\(fault)\n      SEED=\(report.seed)\(point) SCENARIO='\(report.name)'"
            }
        }
    }

    mutating func add(_ report: DamageReport) {
        for each in report.lines {
            change("\(report.name), \(each.name)") { line in
                line.points += each.runs
                line.faults += each.failed
                line.worstLoss = max(line.worstLoss, each.worstLoss.lost - each.worstLoss.allowed)
            }
        }
        change(report.name) { line in
            line.duration += report.duration
            for fault in report.faults where line.examples.count < 10 {
                let run = fault.prefix { $0 != " " }
                line.examples[fault] = "\(fault)\n      SEED=\(report.seed) RUN=\(run) SCENARIO='\(report.name)'"
            }
        }
    }

    mutating func add(failure: any Error, of scenario: String, seed: UInt64) {
        change(scenario) { line in
            line.faults += 1
            line.examples["failure"] = "the run failed: \(failure)\n      SEED=\(seed) SCENARIO='\(scenario)'"
        }
    }

    private mutating func change(_ scenario: String, _ body: (inout Line) -> Void) {
        let index =
            lines.firstIndex { $0.scenario == scenario }
            ?? {
                lines.append(Line(scenario: scenario))
                return lines.count - 1
            }()
        body(&lines[index])
    }

    var description: String {
        let width = max(8, lines.map(\.scenario.count).max() ?? 0)
        let head = Self.row(["scenario", "points", "faults", "worst loss", "seconds"], width)
        let body = lines.map { line in
            Self.row(
                [
                    line.scenario, "\(line.points)", "\(line.faults)", "\(line.worstLoss)",
                    "\(line.duration.components.seconds)",
                ], width)
        }
        let points = lines.reduce(0) { $0 + $1.points }
        let faults = lines.reduce(0) { $0 + $1.faults }
        let sum =
            "\(points) crash points and damaged places, \(faults) faults; worst loss is in messages beyond what is allowed"
        let examples = lines.flatMap { line in
            line.examples.sorted { $0.key < $1.key }.map { "  \(line.scenario): \($0.value)" }
        }
        let repeating = examples.isEmpty ? [] : ["", "What repeats each, behind `make faults`:"] + examples
        return ([head] + body + ["", sum] + repeating).joined(separator: "\n")
    }

    private static func row(_ cells: [String], _ width: Int) -> String {
        zip(cells, [width, 8, 8, 10, 8]).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 0 ? cell.0 + padding : padding + cell.0
        }.joined(separator: "  ")
    }
}
