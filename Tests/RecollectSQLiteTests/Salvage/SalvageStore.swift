import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A small history with content in every table, and the messages saved in it.
struct SalvageStore {
    let folder: TemporaryFolder
    /// The saved messages of each scope, in order.
    private(set) var saved: [Scope: [ConversationMessage]] = [:]

    static let users = ["ann", "bob"]

    /// Creates the history and closes it, so that its log is checkpointed into the database.
    init(in folder: TemporaryFolder, rounds: Int = 6) async throws {
        self.folder = folder
        let history = folder.history()
        for round in 0..<rounds {
            for (number, scope) in Self.scopes.enumerated() {
                let size = round % 6 == 3 ? 9000 : 150 + 37 * number
                let text = "round \(round) " + String(repeating: "word\(round) ", count: size / 6)
                let question = ConversationMessage(
                    id: "\(number)-\(round)-q", role: .user, text: text,
                    timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double(round * 100 + number)))
                let answer = ConversationMessage(
                    id: "\(number)-\(round)-a", role: .assistant,
                    parts: [.text("answer \(round)"), .thinking(text, signature: nil)],
                    timestamp: Date(timeIntervalSince1970: 1_700_000_001 + Double(round * 100 + number)))
                try await history.append([question, answer], to: scope)
                saved[scope, default: []] += [question, answer]
            }
        }
        for scope in Self.scopes {
            var details = SessionDetails()
            details.title = "about \(scope.sessionId)"
            details.addedTags = ["tag \(scope.sessionId)"]
            try await history.update(scope.session, with: details, createIfMissing: false)
        }
        for scope in Self.scopes {
            let covered = Array((saved[scope] ?? []).prefix(2))
            try await history.compact(covered, of: scope, into: "round 0", by: "writer", after: nil)
        }
        _ = try await history.search(SearchQuery(userId: "ann", text: "round"))
        await history.close()
    }

    static let scopes = [
        Scope(userId: "ann", sessionId: "first", agentId: "a"),
        Scope(userId: "ann", sessionId: "second", agentId: "b"),
        Scope(userId: "bob", sessionId: "first", agentId: "a"),
        Scope(userId: "bob", sessionId: "first", agentId: "c"),
    ]

    var database: URL { folder.file("history.sqlite") }

    /// The content of a page, as reported by SQLite.
    struct Page {
        let number: Int
        let table: String
        let kind: String
        /// The maximum number of messages lost with the page.
        let messages: Int
    }

    func pages() throws -> [Page] {
        let queue = try DatabaseQueue(path: database.path)
        defer { try? queue.close() }
        return try queue.read { db in
            var pages: [Int: Page] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT pageno, name, pagetype, ncell FROM dbstat") {
                let (number, table, kind): (Int, String, String) = (row[0], row[1], row[2])
                let messages = table != "message" || kind == "internal" ? 0 : kind == "leaf" ? row[3] : 1
                pages[number] = Page(number: number, table: table, kind: kind, messages: messages)
            }
            let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            return (1...count).map { pages[$0] ?? Page(number: $0, table: "free", kind: "", messages: 0) }
        }
    }

    /// Compares a history with the saved messages. Returns the numbers of missing and of changed messages. Records an
    /// issue for messages that were not saved or are out of order.
    func missing(in history: SQLiteHistoryStore, _ comment: Comment) async throws -> (missing: Int, changed: Int) {
        var (missing, changed) = (0, 0)
        for (scope, messages) in saved {
            let stored = try await history.messages(
                of: scope.session, agentId: scope.agentId, page: PageRequest(limit: 10_000)
            ).elements.map(\.message)
            let ids = Set(stored.map(\.id))
            let expected = messages.filter { ids.contains($0.id) }
            #expect(stored.map(\.id) == expected.map(\.id), comment)
            missing += messages.count - stored.count
            changed += zip(stored, expected).count { $0 != $1 }
        }
        return (missing, changed)
    }
}

/// Random bytes from a seed.
func noise(_ count: Int, seed: UInt64) -> Data {
    var generator = SeededGenerator(seed: seed)
    return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
}
