import Foundation
import GRDB
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Query plans: no statement may read a whole table that grows with the history.
@Suite("Query plans") struct PlanTests {
    /// The steps of query plans that scan a growing table, for all statements run by `work` on the writer's connection.
    private func scans(
        of history: SQLiteHistoryStore, _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        let statements = Locked<[String]>([])
        try await history.write { db in
            db.trace { event in
                if case .statement(let statement) = event { statements.withLock { $0.append(statement.sql) } }
            }
        }
        try await work()
        return try await history.write { db in
            db.trace(options: [])
            var scans: [String] = []
            for sql in Set(statements.withLock { $0 }).sorted()
            where ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(where: sql.hasPrefix) {
                try db.sql("EXPLAIN QUERY PLAN \(sql)").forEachRow { row in
                    let step = row.text(3)
                    if ["message", "change", "session", "scope", "message_id", "attachment_use"].contains(where: {
                        step == "SCAN \($0)" || step.hasPrefix("SCAN \($0) ")
                    }) {
                        scans.append("\(step): \(sql)")
                    }
                }
            }
            return scans
        }
    }

    private func filled() async throws -> SQLiteHistoryStore {
        let history = memory()
        for session in ["s", "t", "u"] {
            try await history.append(messages(0..<20), to: Scope(userId: "ann", sessionId: session, agentId: "a"))
        }
        try await history.indexEverything()
        return history
    }

    @Test("A deletion scans no growing table", arguments: ["messages", "session", "user", "discarded"])
    func deletions(what: String) async throws {
        let history = try await filled()
        let found = try await scans(of: history) {
            switch what {
            case "messages": try await history.deleteMessages(["m3", "m19"], in: scope.session)
            case "session": try await history.deleteSession(scope.session)
            case "discarded":
                try await history.discardSession(scope.session)
                try await history.deleteSessions(discardedBefore: .distantFuture)
            default: try await history.deleteUser("ann")
            }
        }
        #expect(found == [])
    }

    @Test("A save, a change of details and a list query scan no growing table")
    func savesAndLists() async throws {
        let history = try await filled()
        let found = try await scans(of: history) {
            try await history.append(messages(20..<22), to: scope, options: AppendOptions(maxMessages: 10))
            try await history.update(scope.session, with: SessionDetails(isRead: true))
            _ = try await history.users()
            for isUnread in [true, false, nil] {
                let query = SessionQuery(userId: "ann", isUnread: isUnread, isDiscarded: isUnread == nil)
                _ = try await history.sessions(query, page: PageRequest(limit: 10))
            }
        }
        #expect(found == [])
    }
}
