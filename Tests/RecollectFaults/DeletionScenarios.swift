import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTesting

extension HistoryUse {
    /// Deletes messages, a session and a user, with pictures.
    static let deletion = CrashScenario("deletion") { folder in
        try await fillForDeletion(folder)
    } workload: { run in
        for (user, session) in [("ann", "s"), ("ann", "t"), ("bob", "s")] {
            run.declareExisting(entries(deletable(user, session)), in: list(scope(session, user: user)))
        }
        let history = open(run.folder)
        let first = Array(deletable("ann", "s").prefix(2))
        try await run.change(
            list(scope("s")), removing: entries(first), erasing: words("ann", "s", of: first)
        ) {
            _ = try await history.deleteMessages(first.map(\.id), in: scope("s").session)
        }
        let second = deletable("ann", "t")
        try await run.change(
            list(scope("t")), removing: entries(second), erasing: words("ann", "t", of: second)
        ) {
            _ = try await history.deleteSession(scope("t").session)
        }
        let third = deletable("bob", "s")
        try await run.change(
            list(scope("s", user: "bob")), removing: entries(third), erasing: words("bob", "s", of: third)
        ) {
            try await history.deleteUser("bob")
        }
        await history.close()
    } reopen: {
        try await Reading(allowsUnusedAttachments: false)($0)
    }

    /// The same with `.relaxed`. A power loss may undo the last deletion, but then its pictures must be back, too.
    static let deletionRelaxed: CrashScenario = {
        var scenario = CrashScenario("deletion, relaxed") { folder in
            try await fillForDeletion(folder)
        } workload: { run in
            let history = open(run.folder, durability: .relaxed)
            for (user, session) in [("ann", "s"), ("ann", "t"), ("bob", "s")] {
                let (target, all) = (scope(session, user: user), deletable(user, session))
                run.declareExisting(entries(all), in: list(target))
                try await run.change(list(target), removing: entries(all)) {
                    _ = try await history.deleteMessages(all.map(\.id), in: target.session)
                }
            }
            await history.close()
        } reopen: {
            try await Reading(allowsUnusedAttachments: false)($0)
        }
        scenario.durability = .processEnd
        scenario.removalDurability = .processEnd
        return scenario
    }()

    /// Saves of many tasks with trims: one save removes messages while another save's pictures are removed.
    static let concurrentTrims = CrashScenario("concurrent trims") { run in
        let history = open(run.folder, retention: .window)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    let target = scope("s\(task)")
                    let pictures = (0..<8).map { picture($0, of: "w\(task)") }
                    for (number, picture) in pictures.enumerated() {
                        let gone = number >= 2 ? entries([pictures[number - 2]]) : []
                        try await run.change(list(target), adding: entries([picture]), removing: gone) {
                            _ = try await history.append([picture], to: target, options: AppendOptions(maxMessages: 2))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    private static func fillForDeletion(_ folder: URL) async throws {
        let history = open(folder)
        for (user, session) in [("ann", "s"), ("ann", "t"), ("bob", "s")] {
            _ = try await history.append(deletable(user, session), to: scope(session, user: user))
        }
        _ = try await history.search(SearchQuery(userId: "ann", text: "lantern"))
        await history.close()
    }

    /// A picture, its reply, and two turns.
    private static func deletable(_ user: String, _ session: String) -> [ConversationMessage] {
        let writer = user + session
        return [picture(0, of: writer), turn(0, of: writer)[1]] + turn(1, of: writer) + turn(2, of: writer)
    }

    private static func words(_ user: String, _ session: String, of messages: [ConversationMessage]) -> [String] {
        let writer = user + session
        return messages.map { message in
            let parts = message.id.split(separator: "-")
            let number = Int(parts[1]) ?? 0
            return parts[2] == "p" ? pictureWord(writer, number) : word(writer, number, String(parts[2]))
        }
    }
}
