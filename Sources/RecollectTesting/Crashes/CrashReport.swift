import Foundation

/// A moment of a run at which it is cut off.
public struct CrashPoint: Sendable, Hashable, CustomStringConvertible {
    /// How many operations of the journal were made.
    public var operations: Int
    /// How it ended: `nil` is a killed process, which leaves all that was written; a number is an outcome of a power cut, which
    /// leaves what was synced and some of the rest.
    public var powerCut: Int?

    /// Makes a point.
    public init(operations: Int, powerCut: Int? = nil) {
        self.operations = operations
        self.powerCut = powerCut
    }

    /// The point as it is written and read: `17` or `17.2`.
    public var description: String {
        powerCut.map { "\(operations).\($0)" } ?? "\(operations)"
    }

    /// Reads a point.
    public init?(_ text: String) {
        let parts = text.split(separator: ".").map { Int($0) }
        guard let operations = parts.first ?? nil, parts.count <= 2 else { return nil }
        self.init(operations: operations, powerCut: parts.count == 2 ? parts[1] : nil)
    }
}

/// Something that a store promised and did not keep.
public struct CrashFault: Sendable, CustomStringConvertible {
    /// Where the run was cut off; `nil` for a fault of the run itself, two holders of a lock for instance.
    public let point: CrashPoint?
    /// The operation before that.
    public let operation: String
    /// What is wrong. Begins with the kind: `lost`, `order`, `twice`, `half`, `deleted`, `words`, `never attempted`, `untold`,
    /// `opening`, `reopening`, `problem`, `lock`, `workload`.
    public let text: String

    /// The kind of fault.
    public var kind: String { String(text.prefix { $0 != ":" }) }

    /// The fault in a line.
    public var description: String {
        let place = point.map { $0.powerCut == nil ? "killed at \($0)" : "power cut at \($0)" } ?? "in the run"
        return "\(place) (after: \(operation)): \(text)"
    }
}

/// What an exploration found.
public struct CrashReport: Sendable, CustomStringConvertible {
    /// The scenario.
    public let name: String
    /// The seed that repeats it.
    public let seed: UInt64
    /// How many operations were recorded.
    public internal(set) var operations = 0
    /// How many images of a killed process were opened.
    public internal(set) var kills = 0
    /// How many images of a power cut were opened.
    public internal(set) var powerCuts = 0
    /// What is wrong, in the order of the journal; of each kind the first 20.
    public internal(set) var faults: [CrashFault] = []
    /// How many faults there were of each kind.
    public internal(set) var counts: [String: Int] = [:]
    /// The most acknowledged entries that were lost at one point and must not be.
    public internal(set) var worstLoss = 0
    /// Where one point was explored, the operations before it, each with the number of its process; never what was written.
    public internal(set) var operationsBefore: [String] = []
    /// How long it took.
    public internal(set) var duration: Duration = .zero

    /// How many crash points were explored.
    public var points: Int { kills + powerCuts }

    /// Whether nothing is wrong.
    public var isFaultless: Bool { counts.isEmpty }

    init(name: String, seed: UInt64) {
        self.name = name
        self.seed = seed
    }

    mutating func add(_ fault: CrashFault) {
        counts[fault.kind, default: 0] += 1
        if counts[fault.kind, default: 0] <= 20 { faults.append(fault) }
    }

    /// A line of figures, then a fault in each line.
    public var description: String {
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let figures =
            "\(name): seed \(seed), \(operations) operations, \(kills) kills, \(powerCuts) power cuts, "
            + (counts.isEmpty ? "no fault" : "faults: \(kinds)")
        return ([figures] + faults.map { "  \($0)" }).joined(separator: "\n")
    }
}
