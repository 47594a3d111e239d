import Foundation

/// A point of a run at which a crash is simulated.
public struct CrashPoint: Sendable, Hashable, CustomStringConvertible {
    /// The number of recorded operations before the crash.
    public var operations: Int
    /// The kind of crash: `nil` for a killed process, with all its writes preserved; a number for an outcome of a
    /// power cut, with all synced writes and some of the others.
    public var powerCut: Int?

    /// Creates a point.
    public init(operations: Int, powerCut: Int? = nil) {
        self.operations = operations
        self.powerCut = powerCut
    }

    /// The point as text: `17` or `17.2`.
    public var description: String {
        powerCut.map { "\(operations).\($0)" } ?? "\(operations)"
    }

    /// Creates a point from its text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".").map { Int($0) }
        guard let operations = parts.first ?? nil, parts.count <= 2 else { return nil }
        self.init(operations: operations, powerCut: parts.count == 2 ? parts[1] : nil)
    }
}

/// A promise not kept by a store.
public struct CrashFault: Sendable, CustomStringConvertible {
    /// The crash point; `nil` for a fault of the run itself, such as two holders of a lock.
    public let point: CrashPoint?
    /// The last operation before it.
    public let operation: String
    /// The description. It begins with the kind: `lost`, `order`, `duplicate`, `partial`, `deleted`, `residue`,
    /// `unexpected`, `unreported`, `opening`, `reopening`, `problem`, `lock`, `workload`.
    public let text: String

    /// The kind of fault.
    public var kind: String { String(text.prefix { $0 != ":" }) }

    /// The fault in one line.
    public var description: String {
        let location = point.map { $0.powerCut == nil ? "killed at \($0)" : "power cut at \($0)" } ?? "in the run"
        return "\(location) (after: \(operation)): \(text)"
    }
}

/// The results of an exploration of crashes.
public struct CrashReport: Sendable, CustomStringConvertible {
    /// The name of the scenario.
    public let name: String
    /// The seed to repeat the exploration.
    public let seed: UInt64
    /// The number of recorded operations.
    public internal(set) var operations = 0
    /// The number of opened images of a killed process.
    public internal(set) var kills = 0
    /// The number of opened images of a power cut.
    public internal(set) var powerCuts = 0
    /// The faults, in the order of operations; of each kind the first 20.
    public internal(set) var faults: [CrashFault] = []
    /// The number of faults of each kind.
    public internal(set) var counts: [String: Int] = [:]
    /// The most acknowledged entries lost at one point, not counting permitted losses.
    public internal(set) var worstLoss = 0
    /// In an exploration of one point, the operations before it, each with the number of its process; never the
    /// bytes written.
    public internal(set) var operationsBefore: [String] = []
    /// The duration of the exploration.
    public internal(set) var duration: Duration = .zero

    /// The number of explored crash points.
    public var points: Int { kills + powerCuts }

    /// Whether there are no faults.
    public var isFaultless: Bool { counts.isEmpty }

    init(name: String, seed: UInt64) {
        self.name = name
        self.seed = seed
    }

    mutating func add(_ fault: CrashFault) {
        counts[fault.kind, default: 0] += 1
        if counts[fault.kind, default: 0] <= 20 { faults.append(fault) }
    }

    /// The report: a line of figures, then a line for each fault.
    public var description: String {
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let figures =
            "\(name): seed \(seed), \(operations) operations, \(kills) kills, \(powerCuts) power cuts, "
            + (counts.isEmpty ? "no faults" : "faults: \(kinds)")
        return ([figures] + faults.map { "  \($0)" }).joined(separator: "\n")
    }
}
