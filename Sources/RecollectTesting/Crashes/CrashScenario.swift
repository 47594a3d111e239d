import Foundation

/// A workload on a store, and how the store is opened after a crash.
public struct CrashScenario: Sendable {
    /// The name, in reports.
    public private(set) var name: String
    /// What a change that was acknowledged survives.
    public var durability: CrashDurability = .powerCut
    /// What the removal of entries survives: a trim may be undone by a power cut where its store says so.
    public var removalDurability: CrashDurability = .powerCut
    /// What the wholeness of a change survives that was not acknowledged: where it is `processEnd`, a power cut may leave a part.
    public var atomicity: CrashDurability = .powerCut
    /// Whether one of several processes is killed before an operation that the seed draws, while the others go on.
    public var killsOne = false
    let prepare: @Sendable (URL) async throws -> Void
    let work: Work
    let reopen: @Sendable (CrashImage) async throws -> CrashedStore

    /// The scenario under another name, for a variant of it.
    public func named(_ name: String) -> CrashScenario {
        var copy = self
        copy.name = name
        return copy
    }

    enum Work: Sendable {
        case here(@Sendable (CrashRun) async throws -> Void)
        case processes([CrashProcess])
    }

    /// Makes a scenario of a workload that runs in this process.
    /// - Parameters:
    ///   - name: Its name, in reports.
    ///   - prepare: Fills the folder; what it leaves there is certain.
    ///   - workload: Works on the store and closes it; its operations are recorded.
    ///   - reopen: Opens the store that a crash left, waits for what it has to finish, reads everything, and closes it. Called
    ///     twice on each image: the second time it must find the same.
    public init(
        _ name: String, prepare: @escaping @Sendable (URL) async throws -> Void = { _ in },
        workload: @escaping @Sendable (CrashRun) async throws -> Void,
        reopen: @escaping @Sendable (CrashImage) async throws -> CrashedStore
    ) {
        self.name = name
        self.prepare = prepare
        work = .here(workload)
        self.reopen = reopen
    }

    /// Makes a scenario of several processes on one folder; a scheduler chooses, by the seed, whose operation is next. Each
    /// process calls `CrashWorker.run`.
    public init(
        _ name: String, prepare: @escaping @Sendable (URL) async throws -> Void = { _ in },
        processes: [CrashProcess],
        reopen: @escaping @Sendable (CrashImage) async throws -> CrashedStore
    ) {
        self.name = name
        self.prepare = prepare
        work = .processes(processes)
        self.reopen = reopen
    }
}

/// What an acknowledged change survives.
public enum CrashDurability: Sendable {
    /// The end of the process and a power cut.
    case powerCut
    /// The end of the process; a power cut may take the last changes of a list.
    case processEnd
}

/// A program that works on the folder of a run.
public struct CrashProcess: Sendable {
    /// The program.
    public var executable: URL
    /// Its arguments; the run's folder follows them.
    public var arguments: [String]

    /// Makes a process.
    public init(executable: URL, arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }
}

/// What a crash left.
public struct CrashImage: Sendable {
    /// Where it lies; removed afterwards.
    public let folder: URL
    let wordsInFiles: @Sendable () throws -> Void

    /// Looks, while the store is open and has nothing left to finish, whether words that must be gone are in its files. The
    /// explorer looks again when the store was closed.
    public func storeHasSettled() throws {
        try wordsInFiles()
    }
}

/// What a store holds after a crash.
public struct CrashedStore: Sendable, Equatable {
    /// The entries of each list, in order. A list without entries may be left out.
    public var lists: [String: [String]]
    /// Whether the store tells that something was lost: by an event, or by what it set aside.
    public var tellsLoss: Bool
    /// What the store's own check finds wrong; each is a fault.
    public var problems: [String]

    /// Makes a description of what a store holds.
    public init(lists: [String: [String]], tellsLoss: Bool = false, problems: [String] = []) {
        self.lists = lists
        self.tellsLoss = tellsLoss
        self.problems = problems
    }
}
