import Foundation
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Finds the losses of a store in crashes: records all file operations of a workload, ends the run after each of
/// them, and opens the store left.
///
/// The explorer records the operations of SQLite, by a VFS that is SQLite's default meanwhile, and those of
/// Recollect's own code. It cannot see files written in other ways. So it throws unless the recorded operations
/// explain every byte left by the workload.
///
/// A crash after an operation is one of two kinds. If the process was killed, all its writes are preserved. If the
/// power was cut, a file has its content at its last sync, a folder has its names at its last sync, and any part
/// of later changes is present, the last write torn. In each case the store must open. All acknowledged entries
/// must be there, in the order of saving, once, and complete, and no entries that were never attempted. Removed
/// entries must be gone, and their words erased from every file. Opening the store again must show the same.
///
/// The same seed explores the same crashes, as far as the workload performs the same operations. One recording
/// runs at a time in a process; further explorations wait.
public struct CrashExplorer: Sendable {
    /// The seed for outcomes of power cuts and the order of processes.
    public var seed: UInt64
    /// The maximum number of outcomes of a power cut to open at each point.
    public var powerCuts = 3
    /// The maximum number of points to explore, drawn evenly by the seed; `nil` for all.
    public var limit: Int?
    /// A single point to explore, to repeat a fault.
    public var point: CrashPoint?
    /// The time to stop at. The report then covers the points so far.
    public var deadline: ContinuousClock.Instant?

    /// Creates an explorer.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// Runs a scenario's workload and explores its crashes.
    ///
    /// - Throws: errors of the workload or the preparation; `inputOutput` if the recorded operations do not
    ///   explain the files left by the workload.
    public func explore(_ scenario: CrashScenario) async throws -> CrashReport {
        let clock = ContinuousClock()
        let start = clock.now
        let workFolder = try Self.makeRunFolder()
        defer { Self.remove(workFolder) }
        let run = workFolder.appendingPathComponent("run")
        try Self.makeFolder(run)
        try await scenario.prepare(run)
        let before = try DiskImage(folder: run)
        let journal = try await Self.recordings.run { try await record(scenario, in: run) }
        var report = CrashReport(name: scenario.name, seed: seed)
        report.operations = journal.count
        var after = before
        journal.forEach { after.apply($0) }
        if let difference = try after.difference(from: run) {
            throw RecollectError(
                .inputOutput, "\(scenario.name) was not recorded completely: \(difference)")
        }
        let replay = CrashReplay(
            scenario: scenario, journal: journal, ledger: CrashLedger(journal), before: before, workFolder: workFolder,
            explorer: self)
        try await replay.explore(&report)
        report.duration = clock.now - start
        return report
    }

    private func record(_ scenario: CrashScenario, in folder: URL) async throws -> [RecordedStep] {
        switch scenario.work {
        case .here(let workload):
            let recorder = try FileRecorder(root: folder, pauses: SeededGenerator(seed: seed))
            try recorder.start()
            defer { recorder.stop() }
            try await workload(CrashRun(folder: folder, recorder: recorder))
            return recorder.journal
        case .processes(let processes):
            return try await ProcessSchedule(seed: seed, killsOne: scenario.killsOne).run(processes, in: folder)
        }
    }

    private static let recordings = OneAtATime()

    /// Creates a folder for one exploration, in memory if the system supports it, since each image is written and
    /// removed.
    static func makeRunFolder() throws -> URL {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let base = access(memory.path, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory
        let workFolder = base.appendingPathComponent("recollect-crashes-\(UUID.random().uuidString)", isDirectory: true)
        try makeFolder(workFolder)
        return workFolder
    }

    static func makeFolder(_ folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    static func remove(_ folder: URL) {
        // A folder left behind does no harm.
        try? FileManager.default.removeItem(at: folder)
    }
}

/// Runs operations one at a time, in order of arrival.
actor OneAtATime {
    private var last: Task<Void, Never>?

    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let before = last
        let task = Task {
            await before?.value
            return try await body()
        }
        last = Task { _ = await task.result }
        return try await task.value
    }
}
