import RecollectCore

/// The outcomes of all checks, as values and as a table.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// One line of the report.
    public struct Line: Sendable {
        /// The check's name.
        public let check: String
        /// The checked rule; `nil` for a promise of the protocol itself.
        public let rule: Int?
        /// The promise.
        public let promise: String
        /// The outcome; `nil` for a long check left out of the run.
        public let outcome: ConformanceOutcome?
    }

    /// The lines, in the order of the suite.
    public let lines: [Line]

    /// The broken promises.
    public var failures: [ConformanceFailure] {
        lines.compactMap { line in
            guard case .failed(let failure) = line.outcome else { return nil }
            return failure
        }
    }

    /// Whether no promise was broken. Capabilities not declared are no failures; the table names them.
    public var isConforming: Bool { failures.isEmpty }

    /// The table, with one line for each check, then the failures in full and a count.
    public var description: String {
        let width = lines.map(\.check.count).max() ?? 0
        let table = lines.map { line in
            line.check + String(repeating: " ", count: width - line.check.count) + "  " + Self.words(line.outcome)
        }
        let passed = lines.filter { if case .passed = $0.outcome { true } else { false } }.count
        let count = "\(passed) of \(lines.count) checks passed, \(failures.count) failed"
        return (table + failures.map { "\n\($0)" } + ["", count]).joined(separator: "\n")
    }

    private static func words(_ outcome: ConformanceOutcome?) -> String {
        switch outcome {
        case .passed: "passed"
        case .notDeclared(let missing): "not declared: \(missing)"
        case .failed: "FAILED"
        case nil: "skipped: long"
        }
    }

    /// Creates a report by running checks one at a time.
    init<Store: Sendable>(
        checks: [ConformanceCheck<Store>], fixture: StoreFixture<Store>, includingLong: Bool, file: String, line: Int
    ) async {
        var lines: [Line] = []
        for check in checks {
            let runs = includingLong || !check.isLong
            let outcome = runs ? await check.outcome(on: fixture, file: file, line: line) : nil
            lines.append(Line(check: check.name, rule: check.rule, promise: check.promise, outcome: outcome))
        }
        self.lines = lines
    }
}
