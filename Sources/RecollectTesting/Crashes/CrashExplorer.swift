import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Finds what a store loses in a crash: records every operation on files that a workload makes, cuts the run off after each of
/// them, and opens what is left.
///
/// Recorded are the operations of SQLite, through a file system of its own that becomes SQLite's default for the duration, and
/// those of Recollect's own code. A store that writes its files in another way is not seen; the explorer notices, because the
/// recorded operations must explain every byte that the workload left, and throws.
///
/// After each operation the process may have been killed: then all that was written is there. Or the power may have been cut:
/// then a file has what it had at its last sync, a folder the names that it had at its last sync, and of everything later any
/// part, the last write torn. In each case the store must open; what was acknowledged must be stored, and nothing that was never
/// attempted; in the order of saving, once, whole; what was removed must be gone, its words from every file too; and opening
/// once more must show the same.
///
/// The same seed explores the same crashes as far as the workload makes the same operations. One recording runs at a time in a
/// process; explorations wait for one another.
public struct CrashExplorer: Sendable {
    /// What chooses outcomes of power cuts and the order of processes.
    public var seed: UInt64
    /// How many outcomes of a power cut are opened at each point, at most.
    public var powerCuts = 3
    /// How many points are explored at most, drawn evenly by the seed; `nil` explores all.
    public var limit: Int?
    /// The one point to explore, to repeat a fault.
    public var point: CrashPoint?
    /// When to stop, with the points that were explored by then.
    public var deadline: ContinuousClock.Instant?

    /// Makes an explorer.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// Runs a scenario's workload and explores its crashes.
    /// - Throws: what the workload or the preparation throws, and `inputOutput` where the recorded operations do not explain
    ///   what the workload left.
    public func explore(_ scenario: CrashScenario) async throws -> CrashReport {
        let clock = ContinuousClock()
        let start = clock.now
        let place = try Self.makePlace()
        defer { Self.remove(place) }
        let run = place.appendingPathComponent("run")
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
                .inputOutput,
                "\(scenario.name) was not recorded whole: \(difference); its files are written past the explorer")
        }
        let replay = CrashReplay(
            scenario: scenario, journal: journal, ledger: CrashLedger(journal), before: before, place: place,
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

    /// A folder of this exploration's own: in memory where the system has such a place, since each image is made and removed.
    static func makePlace() throws -> URL {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let base = access(memory.path, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory
        let place = base.appendingPathComponent("recollect-crashes-\(UUID().uuidString)", isDirectory: true)
        try makeFolder(place)
        return place
    }

    static func makeFolder(_ folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    static func remove(_ folder: URL) {
        // A folder that stays behind is in nobody's way.
        try? FileManager.default.removeItem(at: folder)
    }
}

/// Runs bodies one after the other, in the order of their coming.
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
