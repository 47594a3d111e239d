import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTesting

extension HistoryUse {
    /// Opens a history with one damaged page. Only the content of that page may be lost.
    static func salvage(_ what: String, of table: String, _ choose: @escaping @Sendable ([Int]) -> Int?)
        -> CrashScenario
    {
        CrashScenario("salvage: \(what) of \(table)") { folder in
            try await fill(folder, turns: 30, padding: 300)
            try damage(folder, table, choose)
        } workload: { run in
            holdFilled(run, turns: 30, padding: 300)
            for (list, entries) in try lostEntries(of: run.folder) { run.allowLoss(of: entries, in: list) }
            let history = open(run.folder)
            _ = try await history.check()
            _ = try await history.sessions(SessionQuery(userId: "ann"), page: PageRequest(limit: 10))
            _ = try await history.messages(
                of: scope("s").session, agentId: nil, page: PageRequest(limit: 1000))
            try await history.repair()
            await history.close()
        } reopen: {
            try await Reading()($0)
        }
    }

    static let salvages = [
        salvage("the last leaf", of: "session", \.last), salvage("a leaf", of: "message") { $0[$0.count / 2] },
    ]

    /// Overwrites a leaf of a table with invalid bytes, and saves the IDs of the messages on it.
    private static func damage(_ folder: URL, _ table: String, _ choose: ([Int]) -> Int?) throws {
        let file = historyFolder(in: folder).appendingPathComponent("history.sqlite")
        let pages = try DatabasePages(file: file)
        guard let page = choose(pages.leaves(of: table)) else {
            throw RecollectError(.notFound, "the table \(table) has no such page")
        }
        let lost = HistoryPages(pages).messages(on: page)
        try Data(lost.joined(separator: "\n").utf8).write(to: lostList(folder))
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64((page - 1) * pages.pageSize))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: pages.pageSize))
        try handle.close()
    }

    /// Beside the run's folder, which contains only the store.
    private static func lostList(_ folder: URL) -> URL {
        folder.deletingLastPathComponent().appendingPathComponent("lost")
    }

    private static func lostEntries(of folder: URL) throws -> [String: [String]] {
        let ids = Set(try String(contentsOf: lostList(folder), encoding: .utf8).split(separator: "\n").map(String.init))
        var lost: [String: [String]] = [:]
        for session in ["s", "t"] {
            let messages = (0..<30).flatMap { turn($0, of: session, padding: 300) }
            lost[list(scope(session))] = entries(messages.filter { ids.contains($0.id) })
        }
        return lost
    }
}
