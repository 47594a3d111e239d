import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTesting

extension HistoryUse {
    /// Two processes save.
    static let twoSavers = processes("two processes save", "saver-a", "saver-b")

    /// One saves while the other opens and closes, as commands do.
    static let saverAndOpener = processes("one saves, one opens and closes", "saver-a", "opener")

    /// One saves while the other repairs.
    static let saverAndRepairer = processes("one saves, one repairs", "saver-a", "repairer")

    /// The same, while one of the two is killed and the other goes on.
    static let oneIsKilled = [twoSavers, saverAndOpener, saverAndRepairer].map { scenario in
        var killing = scenario.named(scenario.name + ", one is killed")
        killing.killsOne = true
        return killing
    }

    /// One process has the history open under two names while another imports.
    static let twoNames = processes("two names of one folder", "alias-first", "importer") { folder in
        try FileManager.default.createDirectory(at: place(in: folder), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.deletingLastPathComponent().appendingPathComponent("alias"),
            withDestinationURL: place(in: folder))
    }

    /// Somebody removes the log of an open history, then another process imports.
    static let removedLog = processes("the log of an open history is removed", "log-removed-first", "importer") {
        try await fill($0, turns: 2)
    }

    /// Both have a history open that is damaged then; one salvages it, and the other meets the damage later.
    static let salvagedTwice = processes("a salvage beside an open history", "salvaged-under", "salvager") {
        try await fill($0, turns: 5)
    }

    /// Saves and closings of many tasks of one process: the lock between processes must exclude threads as well.
    static let savingAndClosing = CrashScenario("saving while closing") { run in
        let history = open(run.folder)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<10 {
                group.addTask {
                    for number in 0..<40 {
                        let messages = turn(number, of: "w\(task)")
                        // A save that meets a closing may fail; then it is not acknowledged.
                        try? await run.save(messages, to: scope("s\(task)"), in: history)
                    }
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    // Some saves go through between two closings; the sleep ends early when there are no more.
                    try? await Task.sleep(for: .milliseconds(1))
                    await history.close()
                }
            }
            for _ in 0..<10 { await group.next() }
            group.cancelAll()
        }
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    private static func processes(
        _ name: String, _ first: String, _ second: String,
        prepare: @escaping @Sendable (URL) async throws -> Void = { _ in }
    ) -> CrashScenario {
        CrashScenario(
            name, prepare: prepare,
            processes: [first, second].map { CrashProcess(executable: worker, arguments: ["explored", $0]) }
        ) {
            try await Reading()($0)
        }
    }

    /// Where the build put the program of the processes: beside this one, or beside the bundle of tests.
    private static let worker: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let program = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return program.deletingLastPathComponent().appendingPathComponent("RecollectTestWorker")
    }()
}
