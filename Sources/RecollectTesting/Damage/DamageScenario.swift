import Foundation

/// A store to damage, one region at a time.
public struct DamageScenario: Sendable {
    /// The name, in reports.
    public let name: String
    let prepare: @Sendable (URL) async throws -> Void
    let regions: @Sendable (URL) throws -> [DamagedRegion]
    let reopen: @Sendable (CrashImage) async throws -> CrashedStore

    /// Creates a scenario.
    ///
    /// - Parameters:
    ///   - name: The name, in reports.
    ///   - prepare: Fills a store in the folder, and closes it.
    ///   - regions: Returns the regions to damage in the prepared store, with the entries each may cost.
    ///   - reopen: Opens the store, reads all entries, and closes it. The entries of the undamaged store must not
    ///     be lost. Called two or three times for each damaged copy; a later call must return the same, except for
    ///     losses by damage found late.
    public init(
        _ name: String, prepare: @escaping @Sendable (URL) async throws -> Void,
        regions: @escaping @Sendable (URL) throws -> [DamagedRegion],
        reopen: @escaping @Sendable (CrashImage) async throws -> CrashedStore
    ) {
        self.name = name
        self.prepare = prepare
        self.regions = regions
        self.reopen = reopen
    }
}

/// A part of a file to damage as a whole: a page, a sector, a byte.
public struct DamagedRegion: Sendable {
    /// The file's path, relative to the store's folder.
    public var file: String
    /// The offset in bytes.
    public var offset: Int
    /// The length in bytes.
    public var count: Int
    /// The name of the kind of region. Regions with the same name share a line of the report.
    public var name: String
    /// Prefixes of the entries to be lost or changed with the region.
    public var allowedLosses: [String]
    /// Whether these entries may be read as other entries, without a report: a store without checksums cannot
    /// detect it.
    public var mayChange: Bool

    /// Creates a region.
    public init(
        file: String, offset: Int, count: Int, name: String, allowedLosses: [String] = [], mayChange: Bool = false
    ) {
        self.file = file
        self.offset = offset
        self.count = count
        self.name = name
        self.allowedLosses = allowedLosses
        self.mayChange = mayChange
    }
}

/// The bytes written over a region.
public enum DamageKind: String, CaseIterable, Sendable {
    /// Random bytes.
    case garbage
    /// Zeros, as in a sector never written.
    case zeros
}

/// The results of an exploration of damage.
public struct DamageReport: Sendable, CustomStringConvertible {
    /// The runs of regions with one name.
    public struct Line: Sendable {
        /// The name of the regions.
        public let name: String
        /// The number of runs.
        public internal(set) var runs = 0
        /// The number of runs with a fault.
        public internal(set) var failed = 0
        /// The worst loss of a run, by the number of entries lost outside the damaged regions, then by all: the
        /// number of lost entries, and the number of entries on damaged regions.
        public internal(set) var worstLoss = (lost: 0, allowed: 0)
    }

    /// The name of the scenario.
    public let name: String
    /// The seed to repeat the exploration.
    public let seed: UInt64
    /// The number of entries in the undamaged store.
    public internal(set) var entries = 0
    /// The lines, by name of the regions, in the order of the store.
    public internal(set) var lines: [Line] = []
    /// The faults, each with the run to repeat; the first 200.
    public internal(set) var faults: [String] = []
    /// The duration of the exploration.
    public internal(set) var duration: Duration = .zero

    /// The number of damaged copies opened.
    public var runs: Int { lines.reduce(0) { $0 + $1.runs } }
    /// The largest number of entries lost outside the damaged regions in one run.
    public var worstLoss: Int { lines.map { Self.excess($0.worstLoss) }.max() ?? 0 }
    /// The number of runs with a fault.
    public var failed: Int { lines.reduce(0) { $0 + $1.failed } }
    /// Whether no run has a fault.
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
        let worst = lines[index].worstLoss
        if (Self.excess((lost, allowed)), lost) > (Self.excess(worst), worst.lost) {
            lines[index].worstLoss = (lost, allowed)
        }
        for fault in faults where self.faults.count < 200 { self.faults.append("\(run): \(fault)") }
    }

    /// The number of entries lost outside the damaged regions.
    private static func excess(_ loss: (lost: Int, allowed: Int)) -> Int { max(0, loss.lost - loss.allowed) }

    /// The report as a table, with a line for each name of regions, then a line for each fault.
    public var description: String {
        let head = "\(name): seed \(seed), \(entries) entries, \(runs) runs, \(failed) failed"
        let width = lines.map(\.name.count).max() ?? 0
        let table = lines.map { line in
            let padding = String(repeating: " ", count: width - line.name.count)
            return "  \(line.name)\(padding)  \(line.runs) runs, \(line.failed) failed, worst loss "
                + "\(line.worstLoss.lost) (\(line.worstLoss.allowed) allowed)"
        }
        return ([head] + table + faults.map { "  " + $0 }).joined(separator: "\n")
    }
}
