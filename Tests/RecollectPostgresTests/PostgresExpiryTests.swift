#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Retention by age in PostgreSQL", .needs(.postgres))
    struct PostgresExpiryTests {
        private let store: PostgresHistoryStore
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")
        private let cutoff = Date(timeIntervalSince1970: 1_700_000_100)

        init() async throws {
            store = PostgresHistoryStore(
                try PostgresAddress(try await HistoryServer.urlForLongTransactions), feedWaitingTime: .seconds(30))
        }

        @Test("Messages before a date are deleted in all sessions of all users, also between newer ones, and no others")
        func messages() async throws {
            // More than one transaction deletes.
            let old = (0..<2_300).map { message("old \($0)", seconds: 50) }
            try await store.append(old + [message("new", seconds: 100), message("imported", seconds: 20)], to: scope)
            for number in 0..<40 {
                let other = Scope(userId: "user \(number)", sessionId: "s", agentId: "a")
                try await store.append([message("1", seconds: 99), message("2", seconds: 101)], to: other)
            }
            try await store.append([message("1", seconds: 200)], to: scope.session.scope(agentId: "writer"))
            let start = try await store.latestChangeCursor()
            #expect(try await store.deleteMessages(olderThan: cutoff) == 2_341)
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == ["new"])
            let session = try #require(try await store.session(scope.session))
            #expect(session.messageCount == 2 && session.preview == "text of new")
            for number in 0..<40 {
                let other = Scope(userId: "user \(number)", sessionId: "s", agentId: "a")
                #expect(try await store.window(of: other, maxMessages: nil).map(\.id) == ["2"])
            }
            let changes = try await store.changes(after: start, limit: 1_000)
            #expect(changes.count == 41 && changes.allSatisfy { $0.kind == .sessionRearranged && $0.messageId == nil })
            let hits = try await store.search(SearchQuery(userId: "ana", text: "old"))
            #expect(hits.elements.isEmpty)
            #expect(try await store.deleteMessages(olderThan: cutoff) == 0)
            #expect(try await store.check().problems.allSatisfy { $0.kind == "durability" })
        }

        @Test("Sessions discarded before a date are deleted, and one restored meanwhile is not")
        func discardedSessions() async throws {
            for id in ["discarded", "restored", "kept"] {
                try await store.append([message(id)], to: Scope(userId: "ana", sessionId: id, agentId: "a"))
            }
            let (discarded, restored) = (scope.session("discarded"), scope.session("restored"))
            try await store.discardSession(discarded)
            try await store.discardSession(restored)
            #expect(try await store.deleteSessions(discardedBefore: Date(timeIntervalSinceNow: -3_600)) == 0)
            try await store.restoreSession(restored)
            let later = Date(timeIntervalSinceNow: 3_600)
            #expect(try await store.delete(restored, ifDiscardedBefore: later.millisecondsSince1970) == false)
            #expect(try await store.deleteSessions(discardedBefore: later) == 1)
            #expect(try await store.session(discarded) == nil)
            #expect(try await store.session(restored)?.messageCount == 1)
            #expect(try await store.session(scope.session("kept")) != nil)
        }

        @Test("A session locked by another program is left out and named, and all others expire")
        func lockedSession() async throws {
            let scopes = ["locked", "a", "b"].map { Scope(userId: "ana", sessionId: $0, agentId: "a") }
            for scope in scopes {
                try await store.append([message("1", seconds: 50)], to: scope)
                try await store.discardSession(scope.session)
            }
            let other = try await PostgresConnection.connect(to: store.database.pool.address)
            let lock = "SELECT FROM recollect.session WHERE session_id = 'locked' FOR UPDATE"
            _ = try await other.run("BEGIN")
            #expect(try await other.run(lock).count == 1)
            let messages = await #expect(throws: RecollectError.self) {
                try await store.deleteMessages(olderThan: cutoff)
            }
            let later = Date(timeIntervalSinceNow: 3_600)
            let sessions = await #expect(throws: RecollectError.self) {
                try await store.deleteSessions(discardedBefore: later)
            }
            for error in [messages, sessions] {
                #expect(error?.code == .busy && error?.message.contains("session locked of user ana") == true)
                #expect(error?.message.contains("at least 2 ") == true)
            }
            _ = try await other.run("ROLLBACK")
            #expect(try await store.deleteMessages(olderThan: cutoff) == 1)
            #expect(try await store.deleteSessions(discardedBefore: later) == 1)
        }

        @Test("A date that is no number deletes nothing")
        func notANumber() async throws {
            try await store.append([message("1")], to: scope)
            let date = Date(timeIntervalSince1970: .nan)
            let errors = [
                await #expect(throws: RecollectError.self) { try await store.deleteMessages(olderThan: date) },
                await #expect(throws: RecollectError.self) { try await store.deleteSessions(discardedBefore: date) },
            ]
            #expect(errors.allSatisfy { $0?.code == .invalidArgument })
            #expect(try await store.window(of: scope, maxMessages: nil).count == 1)
        }
    }

    extension Scope {
        /// Returns another session of the user.
        fileprivate func session(_ id: String) -> SessionKey { SessionKey(userId: userId, sessionId: id) }
    }
#endif
