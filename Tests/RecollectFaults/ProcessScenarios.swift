import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTesting

extension HistoryUse {
    /// Two processes save.
    static let twoSavers = processes("two processes save", "saver-a", "saver-b")

    /// One process saves while another one opens and closes, as commands do.
    static let saverAndOpener = processes("one saves, one opens and closes", "saver-a", "opener")

    /// One process saves while another one repairs.
    static let saverAndRepairer = processes("one saves, one repairs", "saver-a", "repairer")

    /// The same, with one of the two processes killed.
    static let oneIsKilled = [twoSavers, saverAndOpener, saverAndRepairer].map { scenario in
        var killing = scenario.named(scenario.name + ", one is killed")
        killing.killsOne = true
        return killing
    }

    /// One process has the history open under two names while another one imports.
    static let twoNames = processes("two names of one folder", "alias-first", "importer") { folder in
        try FileManager.default.createDirectory(at: historyFolder(in: folder), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.deletingLastPathComponent().appendingPathComponent("alias"),
            withDestinationURL: historyFolder(in: folder))
    }

    /// The log of an open history is removed, then another process imports.
    static let removedLog = processes("the log of an open history is removed", "log-removed-first", "importer") {
        try await fill($0, turns: 2)
    }

    /// Two processes have a history open that is then damaged. One salvages it, and the other one finds the damage
    /// later.
    static let salvagedTwice = processes("a salvage beside an open history", "salvaged-under", "salvager") {
        try await fill($0, turns: 5)
    }

    /// Many tasks of one process save and close: the process lock must exclude threads, too.
    static let savingAndClosing = CrashScenario("saving while closing") { run in
        let history = open(run.folder)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<10 {
                group.addTask {
                    for number in 0..<40 {
                        let messages = turn(number, of: "w\(task)")
                        // A save during a close may fail; then it is not acknowledged.
                        try? await run.save(messages, to: scope("s\(task)"), in: history)
                    }
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    // Lets some saves succeed between two closes. Cancellation ends the sleep early.
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

    /// The program of the processes, built beside this program or beside the test bundle.
    private static let worker: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let program = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return program.deletingLastPathComponent().appendingPathComponent("RecollectTestWorker")
    }()
}
