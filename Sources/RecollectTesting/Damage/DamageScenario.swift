import Foundation

/// A store that is damaged, one place at a time.
public struct DamageScenario: Sendable {
    /// The name, in reports.
    public let name: String
    let prepare: @Sendable (URL) async throws -> Void
    let places: @Sendable (URL) throws -> [DamagedPlace]
    let reopen: @Sendable (CrashImage) async throws -> CrashedStore

    /// Makes a scenario.
    /// - Parameters:
    ///   - name: Its name, in reports.
    ///   - prepare: Fills a store in the folder, and closes it.
    ///   - places: The places of the prepared store that are damaged, with what each may cost.
    ///   - reopen: Opens the store, reads everything, and closes it; what the whole store shows is what must not be lost. Called
    ///     twice on each damaged copy: the second time it must find the same.
    public init(
        _ name: String, prepare: @escaping @Sendable (URL) async throws -> Void,
        places: @escaping @Sendable (URL) throws -> [DamagedPlace],
        reopen: @escaping @Sendable (CrashImage) async throws -> CrashedStore
    ) {
        self.name = name
        self.prepare = prepare
        self.places = places
        self.reopen = reopen
    }
}

/// A part of a file that is damaged as a whole: a page, a sector, a byte.
public struct DamagedPlace: Sendable {
    /// The file's path, from the store's folder on.
    public var file: String
    /// Where it begins, in bytes.
    public var offset: Int
    /// How long it is, in bytes.
    public var count: Int
    /// What it is: places of one name are one line of the report.
    public var name: String
    /// Beginnings of the entries that may be lost with it, or be there changed.
    public var mayLose: [String]
    /// Whether those may be read as other entries, without a word: a store without checksums cannot tell.
    public var mayChange: Bool

    /// Makes a place.
    public init(
        file: String, offset: Int, count: Int, name: String, mayLose: [String] = [], mayChange: Bool = false
    ) {
        self.file = file
        self.offset = offset
        self.count = count
        self.name = name
        self.mayLose = mayLose
        self.mayChange = mayChange
    }
}

/// What a place is overwritten with.
public enum DamageKind: String, CaseIterable, Sendable {
    /// Random bytes.
    case garbage
    /// Zeros, as a sector that was never written.
    case zeros
}

/// What an exploration of damage found.
public struct DamageReport: Sendable, CustomStringConvertible {
    /// The places of one name.
    public struct Line: Sendable {
        /// Their name.
        public let name: String
        /// How many were damaged.
        public internal(set) var runs = 0
        /// How many of the runs have a fault.
        public internal(set) var failed = 0
        /// The most entries that a run lost, and how many of these it was allowed to lose.
        public internal(set) var worstLoss = (lost: 0, allowed: 0)
    }

    /// The scenario.
    public let name: String
    /// The seed that repeats it.
    public let seed: UInt64
    /// How many entries the whole store has.
    public internal(set) var entries = 0
    /// By the name of the places, in the order of the store.
    public internal(set) var lines: [Line] = []
    /// What is wrong, each with the run that repeats it; the first 200.
    public internal(set) var faults: [String] = []
    /// How long it took.
    public internal(set) var duration: Duration = .zero

    /// How many copies were damaged and opened.
    public var runs: Int { lines.reduce(0) { $0 + $1.runs } }
    /// The most entries that a run lost beyond what it was allowed to lose.
    public var worstLoss: Int { lines.map { $0.worstLoss.lost - $0.worstLoss.allowed }.max() ?? 0 }
    /// How many of them have a fault.
    public var failed: Int { lines.reduce(0) { $0 + $1.failed } }
    /// Whether nothing is wrong.
    public var isFaultless: Bool { failed == 0 }

    init(name: String, seed: UInt64) {
        self.name = name
        self.seed = seed
    }

    mutating func add(_ name: String, lost: Int, allowed: Int, faults: [String], run: String) {
        let index =
            lines.firstIndex { $0.name == name }
            ?? {
                lines.append(Line(name: name))
                return lines.count - 1
            }()
        lines[index].runs += 1
        if !faults.isEmpty { lines[index].failed += 1 }
        if lost - allowed > lines[index].worstLoss.lost - lines[index].worstLoss.allowed
            || (lost == allowed && lost > lines[index].worstLoss.lost)
        {
            lines[index].worstLoss = (lost, allowed)
        }
        for fault in faults where self.faults.count < 200 { self.faults.append("\(run): \(fault)") }
    }

    /// A table, one line for the places of a name, then a fault in each line.
    public var description: String {
        let head = "\(name): seed \(seed), \(entries) entries, \(runs) runs, \(failed) with faults"
        let width = lines.map(\.name.count).max() ?? 0
        let table = lines.map { line in
            let padding = String(repeating: " ", count: width - line.name.count)
            return "  \(line.name)\(padding)  \(line.runs) runs, \(line.failed) failed, worst loss "
                + "\(line.worstLoss.lost) where \(line.worstLoss.allowed) may be lost"
        }
        return ([head] + table + faults.map { "  " + $0 }).joined(separator: "\n")
    }
}
