import Foundation
import GRDB
import RecollectCore
import RecollectSQLite
import RecollectTesting

extension HistoryUse {
    /// Damages each page of a small history with rows in each table, and each piece of its small files.
    package static let damage = DamageScenario("damage: a history") { folder in
        try await fillForDamage(folder)
    } regions: { folder in
        try damagedRegions(folder)
    } reopen: {
        try await Reading(maxSetAsideCount: 2)($0)
    }

    private static func fillForDamage(_ folder: URL) async throws {
        let history = open(folder)
        for number in 0..<12 {
            for (user, session) in [("ann", "s"), ("ann", "t"), ("bob", "s")] {
                // One turn of each session is longer than a page.
                let padding = number == 5 ? 6000 : 150
                _ = try await history.append(
                    turn(number, of: user + session, padding: padding), to: scope(session, user: user))
            }
        }
        for number in 30..<33 {
            _ = try await history.append([picture(number, of: "anns")], to: scope("s"))
        }
        try await history.update(
            scope("s").session, with: SessionDetails(title: "A title", addedTags: ["red", "blue"]))
        try await history.fork(scope("t").session, at: "annt-3-a", into: "fork")
        _ = try await history.edit(
            [ConversationMessage(id: "bobs-2-q", role: .user, text: "lantern edited")],
            in: scope("s", user: "bob").session)
        _ = try await history.search(SearchQuery(userId: "ann", text: "lantern"))
        await history.close()
        try abandonReply(folder)
    }

    /// A streaming reply whose process has ended. The next opening saves it as a message.
    private static func abandonReply(_ folder: URL) throws {
        let queue = try DatabaseQueue(path: historyFolder(in: folder).appendingPathComponent("history.sqlite").path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    INSERT INTO streaming_reply (session_row_id, agent_id, writer, message_id, role, timestamp, text)
                    SELECT id, 'a', ?, 'cut-off', 'assistant', 1700000100000, 'lantern cut off'
                    FROM session WHERE user_id = 'bob' LIMIT 1;
                    """, arguments: [UUID().uuidString])
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try queue.close()
    }

    private static func damagedRegions(_ folder: URL) throws -> [DamagedRegion] {
        let pages = try DatabasePages(file: historyFolder(in: folder).appendingPathComponent("history.sqlite"))
        let messages = HistoryPages(pages)
        let database = (1...pages.count).map { page in
            DamagedRegion(
                file: "history/history.sqlite", offset: (page - 1) * pages.pageSize, count: pages.pageSize,
                name: page == 1 ? "page 1" : pages.owners[page] ?? "free page",
                // An entry begins with its message ID. A fork's messages have the IDs of their originals.
                allowedLosses: messages.messages(on: page).map { $0 + " " })
        }
        return database + smallFiles(folder)
    }

    /// Pieces of the attachments and of all other files beside the database.
    private static func smallFiles(_ folder: URL) -> [DamagedRegion] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }.sorted() ?? []
        return names.flatMap { name -> [DamagedRegion] in
            let bytes = (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data()
            guard !name.contains(".sqlite"), !isFolder(folder.appendingPathComponent(name)) else { return [] }
            // An empty file, such as a lock file, gets a byte.
            let count = max(bytes.count, 1)
            let pictures = (30..<33).filter { number in
                guard case .attachment(let attachment) = picture(number, of: "anns").parts[1],
                    case .inline(let content) = attachment.content
                else { return false }
                return content == bytes
            }
            return stride(from: 0, to: count, by: 64).map { offset in
                DamagedRegion(
                    file: name, offset: offset, count: min(64, count - offset),
                    name: name.contains("attachments") ? "an attachment" : name,
                    allowedLosses: pictures.map { "anns-\($0)-p " })
            }
        }
    }

    private static func isFolder(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
    }
}
