import Foundation

/// A workload on a store, with the code to open the store after a crash.
public struct CrashScenario: Sendable {
    /// The name, in reports.
    public private(set) var name: String
    /// The kind of crash survived by an acknowledged change.
    public var durability: CrashDurability = .powerCut
    /// The kind of crash survived by the removal of entries. A power cut may undo a trim, if its store says so.
    public var removalDurability: CrashDurability = .powerCut
    /// The kind of crash survived by the atomicity of an unacknowledged change. With `processEnd`, a power cut may
    /// leave a part of the change.
    public var atomicity: CrashDurability = .powerCut
    /// Whether one of several processes is killed before an operation drawn by the seed, while the others go on.
    public var killsOne = false
    let prepare: @Sendable (URL) async throws -> Void
    let work: Work
    let reopen: @Sendable (CrashImage) async throws -> CrashedStore

    /// Returns the scenario under another name, for a variant of it.
    public func named(_ name: String) -> CrashScenario {
        var copy = self
        copy.name = name
        return copy
    }

    enum Work: Sendable {
        case here(@Sendable (CrashRun) async throws -> Void)
        case processes([CrashProcess])
    }

    /// Creates a scenario with a workload in this process.
    ///
    /// - Parameters:
    ///   - name: The name, in reports.
    ///   - prepare: Fills the folder. Its result counts as synced.
    ///   - workload: Works on the store and closes it. Its operations are recorded.
    ///   - reopen: Opens the store left by a crash, waits for its recovery, reads all entries, and closes it.
    ///     Called twice for each image; the second call must return the same.
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

    /// Creates a scenario with several processes on one folder.
    ///
    /// A scheduler draws the process of the next operation by the seed. Each process calls `CrashWorker.run`.
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

/// The kind of crash survived by an acknowledged change.
public enum CrashDurability: Sendable {
    /// The end of the process, and a power cut.
    case powerCut
    /// The end of the process. A power cut may undo the last changes of a list.
    case processEnd
}

/// A program to run on the folder of a run.
public struct CrashProcess: Sendable {
    /// The program.
    public var executable: URL
    /// Its arguments. The path of the run's folder is appended.
    public var arguments: [String]

    /// Creates a process.
    public init(executable: URL, arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }
}

/// A folder as left by a crash.
public struct CrashImage: Sendable {
    /// The folder, removed after the check.
    public let folder: URL
    let wordsInFiles: @Sendable () throws -> Void

    /// Checks the store's files for erased words. Call it while the store is open and has no work left.
    ///
    /// The explorer checks again after the store is closed.
    public func storeIsUpToDate() throws {
        try wordsInFiles()
    }
}

/// The content of a store after a crash.
public struct CrashedStore: Sendable, Equatable {
    /// The entries of each list, in order. Empty lists may be omitted.
    public var lists: [String: [String]]
    /// Whether the store reports a loss, by an event or a file set aside.
    public var reportsLoss: Bool
    /// The problems found by the store's own check. Each is a fault.
    public var problems: [String]

    /// Creates a description of a store's content.
    public init(lists: [String: [String]], reportsLoss: Bool = false, problems: [String] = []) {
        self.lists = lists
        self.reportsLoss = reportsLoss
        self.problems = problems
    }
}
