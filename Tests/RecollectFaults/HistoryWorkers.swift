import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTesting

/// The work of the scenarios' processes, by name.
package enum HistoryWorkers {
    /// `explored NAME FOLDER`: one process of a scenario.
    package static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, let work = all[arguments[0]] else {
            throw RecollectError(.invalidArgument, "there is no such process of a scenario")
        }
        try await CrashWorker.run(in: URL(fileURLWithPath: arguments[1]), work)
    }

    private static let all: [String: @Sendable (CrashRun) async throws -> Void] = [
        "saver-a": { try await save($0, "a") },
        "saver-b": { try await save($0, "b") },
        "opener": openAndClose,
        "repairer": repair,
        "alias-first": { try await keepOpen($0) { try await openUnderAnotherName($0) } },
        "log-removed-first": { try await keepOpen($0, filled: 2) { try removeLog($0) } },
        "importer": importMeanwhile,
        "salvaged-under": isSalvagedUnder,
        "salvager": salvageTheLiving,
    ]

    /// Saves messages. A save that fails is not acknowledged.
    private static func appendUntilSaved(
        _ run: CrashRun, _ messages: [ConversationMessage], to scope: Scope, _ history: SQLiteHistoryStore
    ) async {
        do { try await run.save(messages, to: scope, in: history) } catch {
            // The outcome is unknown, so that the save is not acknowledged.
        }
    }

    private static func save(_ run: CrashRun, _ writer: String) async throws {
        let history = HistoryUse.open(run.folder)
        for number in 0..<5 {
            await appendUntilSaved(
                run, HistoryUse.turn(number, of: writer), to: HistoryUse.scope("s", agent: writer), history)
        }
        await history.close()
    }

    private static func openAndClose(_ run: CrashRun) async throws {
        for number in 0..<3 {
            let history = HistoryUse.open(run.folder)
            await appendUntilSaved(run, HistoryUse.turn(number, of: "o"), to: HistoryUse.scope("o"), history)
            await history.close()
        }
    }

    private static func repair(_ run: CrashRun) async throws {
        let history = HistoryUse.open(run.folder)
        try await history.repair()
        await appendUntilSaved(run, HistoryUse.turn(0, of: "r"), to: HistoryUse.scope("r"), history)
        await history.close()
    }

    // MARK: Two names, and removed files

    /// Keeps a history open while another process imports, then saves again and closes.
    /// - Parameter filled: The number of turns already in the history. If there are any, it saves nothing before the
    ///   log is removed, because the messages in a removed log cannot be recovered.
    private static func keepOpen(
        _ run: CrashRun, filled: Int = 0, _ loseLocks: (CrashRun) async throws -> Void
    ) async throws {
        let history = try await HistoryUse.open(run.folder).open()
        if filled > 0 {
            HistoryUse.holdFilled(run, turns: filled)
        } else {
            for number in 0..<4 {
                await appendUntilSaved(run, HistoryUse.turn(number, of: "p"), to: HistoryUse.scope("p"), history)
            }
        }
        try await loseLocks(run)
        run.signal("open")
        await run.wait(for: "imported")
        for number in 10..<14 {
            await appendUntilSaved(run, HistoryUse.turn(number, of: "p"), to: HistoryUse.scope("p"), history)
        }
        await history.close()
        run.signal("closed")
    }

    private static func openUnderAnotherName(_ run: CrashRun) async throws {
        let alias = run.folder.deletingLastPathComponent().appendingPathComponent("alias")
        let other = SQLiteHistoryStore(directory: alias, configuration: HistoryUse.configuration())
        _ = try await other.window(of: HistoryUse.scope("p"), maxMessages: 2)
    }

    private static func removeLog(_ run: CrashRun) throws {
        for suffix in ["-wal", "-shm"] { try run.remove("history/history.sqlite" + suffix) }
    }

    private static func importMeanwhile(_ run: CrashRun) async throws {
        await run.wait(for: "open")
        // As commands do: the first lists, the second imports, and the third lists.
        for step in 0..<3 {
            let history = HistoryUse.open(run.folder)
            if step == 1 {
                let batch = (0..<30).flatMap { HistoryUse.turn($0, of: "i", padding: 200) }
                await appendUntilSaved(run, batch, to: HistoryUse.scope("i"), history)
            } else {
                _ = try await history.sessions(SessionQuery(userId: "ann"), page: PageRequest(limit: 10))
            }
            await history.close()
        }
        run.signal("imported")
        await run.wait(for: "closed")
    }

    // MARK: A salvage while another process has the history open

    private static func isSalvagedUnder(_ run: CrashRun) async throws {
        HistoryUse.holdFilled(run, turns: 5)
        let history = HistoryUse.open(run.folder)
        await appendUntilSaved(run, HistoryUse.turn(0, of: "x"), to: HistoryUse.scope("x"), history)
        run.signal("both open")
        await run.wait(for: "salvaged")
        for number in 1..<4 {
            _ = try? await history.sessions(SessionQuery(userId: "ann"), page: PageRequest(limit: 10))
            await appendUntilSaved(run, HistoryUse.turn(number, of: "x"), to: HistoryUse.scope("x"), history)
        }
        await history.close()
    }

    private static func salvageTheLiving(_ run: CrashRun) async throws {
        await run.wait(for: "both open")
        let history = HistoryUse.open(run.folder)
        await appendUntilSaved(run, HistoryUse.turn(0, of: "y"), to: HistoryUse.scope("y"), history)
        // A page without messages: the table of tags.
        let pages = try DatabasePages(
            file: HistoryUse.historyFolder(in: run.folder).appendingPathComponent("history.sqlite"))
        let page = pages.roots["tag"] ?? 2
        try run.overwrite(
            "history/history.sqlite", at: (page - 1) * pages.pageSize,
            with: [UInt8](repeating: 0xA5, count: pages.pageSize))
        _ = try await history.sessions(SessionQuery(userId: "ann"), page: PageRequest(limit: 10))
        for number in 1..<4 {
            await appendUntilSaved(run, HistoryUse.turn(number, of: "y"), to: HistoryUse.scope("y"), history)
        }
        run.signal("salvaged")
        for number in 4..<8 {
            await appendUntilSaved(run, HistoryUse.turn(number, of: "y"), to: HistoryUse.scope("y"), history)
        }
        await history.close()
    }
}
