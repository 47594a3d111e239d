#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Histories in PostgreSQL with concurrent deletions and lost connections", .needs(.postgres))
    struct PostgresHistoryFaultTests {
        private let url: String
        private let store: PostgresHistoryStore
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        init() async throws {
            url = try await HistoryServer.urlForLongTransactions
            store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
        }

        /// Runs an operation while a transaction has changed rows and not ended. The operation waits for it.
        private func run<Value: Sendable>(
            _ operation: @escaping @Sendable () async throws -> Value, during statements: [PostgresStatement]
        ) async throws -> Value {
            let other = try await PostgresConnection.connect(to: PostgresAddress(url))
            let watching = try await PostgresConnection.connect(to: PostgresAddress(url))
            _ = try await other.run([PostgresStatement("BEGIN")] + statements)
            let task = Task { try await operation() }
            let isWaiting = try await eventually {
                try await watching.run(
                    """
                    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                ).count > 0
            }
            #expect(isWaiting)
            _ = try await other.run("COMMIT")
            return try await task.value
        }

        private static let user = PostgresValue.bytes("ana".bytes)
        private static let lock = PostgresStatement(
            "SELECT FROM recollect.session WHERE user_id = $1 AND session_id = $2 FOR UPDATE", user,
            .bytes("trip".bytes))
        private static let deletion =
            [lock]
            + ["message", "scope", "session"].map {
                PostgresStatement("DELETE FROM recollect.\($0) WHERE user_id = $1", user)
            }
        private static let renaming = [
            lock,
            PostgresStatement(
                "UPDATE recollect.session SET session_id = 'other', revision = 1 WHERE user_id = $1", user),
        ]

        @Test("A save that waits for a deletion or a move of its session is saved in a new one", arguments: [0, 1])
        func savesDuringDeletions(number: Int) async throws {
            let statements = [Self.deletion, Self.renaming][number]
            // A save without a known state reads first, and one in a known state is one statement.
            for isKnown in [false, true] {
                try await store.append([message("1")], to: scope)
                if !isKnown { store.knownStates.forget(scope.session) }
                let outcome = try await run({ try await store.append([message("2")], to: scope) }, during: statements)
                #expect(outcome == AppendOutcome(added: 1))
                #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == ["2"])
                try await store.deleteUser("ana")
            }
        }

        @Test("Details and forks that wait for a deletion of their session are saved in a new one")
        func detailsDuringDeletions() async throws {
            try await store.append([message("1")], to: scope)
            let isUpdated = try await run(
                { try await store.update(scope.session, with: SessionDetails(title: "Trip"), createIfMissing: true) },
                during: Self.deletion)
            #expect(isUpdated)
            #expect(try await store.session(scope.session)?.title == "Trip")
            let source = Scope(userId: "ana", sessionId: "source", agentId: "planner")
            try await store.append([message("1"), message("2")], to: source)
            let removal = PostgresStatement(
                "DELETE FROM recollect.session WHERE user_id = $1 AND session_id = $2", Self.user, .bytes("trip".bytes))
            try await run(
                { try await store.fork(source.session, at: "1", agentId: nil, into: "trip") },
                during: [Self.lock, removal])
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == ["1"])
        }

        @Test("A message without an agent is adopted also where messages are spread for it")
        func adoptionWithoutRoom() async throws {
            let (none, other) = (scope.session.scope(agentId: ""), scope.session.scope(agentId: "other"))
            try await store.append([message("first")], to: none)
            try await store.append([message("x", seconds: 1), message("w", seconds: 2)], to: none)
            try await store.append([message("before", seconds: 3), message("after", seconds: 5)], to: other)
            try await store.deleteMessages(["first"], in: scope.session)
            // No position is free between the messages of the other agent.
            _ = try await store.database.read(
                """
                UPDATE recollect.message SET position = 1 + (
                  SELECT position FROM recollect.message WHERE message_id = 'before') WHERE message_id = 'after'
                """)
            let outcome = try await store.append(
                [message("x", seconds: 1), message("y", seconds: 4)], to: scope,
                options: AppendOptions(claimsUnassigned: true))
            #expect(outcome == AppendOutcome(added: 1, alreadyStored: 1))
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == ["x", "y"])
            #expect(try await store.window(of: none, maxMessages: nil).map(\.id) == ["w"])
            let all = try await store.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 10))
            #expect(all.elements.map(\.message.id) == ["x", "w", "before", "y", "after"])
        }

        @Test("A session marked as unread is read after the deletion of its unread messages")
        func unreadAfterDeletions() async throws {
            try await store.append([message("1"), message("2"), message("3")], to: scope)
            try await store.update(scope.session, with: SessionDetails(isRead: true))
            try await store.deleteMessages(["3"], in: scope.session)
            try await store.update(scope.session, with: SessionDetails(isRead: false))
            #expect(try await store.session(scope.session)?.isUnread == true)
            try await store.deleteMessages(["2"], in: scope.session)
            #expect(try await store.session(scope.session)?.isUnread == false)
        }

        @Test("An operation whose connection ended during its commit returns its result", .needs(.time))
        func lostCommits() async throws {
            let port = try #require(url.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) })
            let proxy = try CuttingProxy(before: port)
            let address = try PostgresAddress(url.replacing(":\(port)/", with: ":\(proxy.port)/"))
            let through = PostgresHistoryStore(address)
            for byteCount in stride(from: 0, to: 2_000, by: 190) {
                let scope = scope.session.scope(agentId: "\(byteCount)")
                let ids = ["1", "2", "3"].map { "\(byteCount).\($0)" }
                try await through.append(ids.map { message($0) }, to: scope)
                proxy.cutNext(.toClient, after: byteCount)
                #expect(try await through.deleteMessages([ids[0]], in: scope.session) == 1)
                proxy.cutNext(.toClient, after: byteCount)
                try await through.fork(scope.session, at: ids[1], agentId: nil, into: "fork \(byteCount)")
                proxy.cutNext(.toClient, after: byteCount)
                let branch = try await through.branch(scope.session, from: ids[2], agentId: nil)
                proxy.cutNext(.toClient, after: byteCount)
                try await through.restoreBranch(branch, in: scope.session)
                proxy.cutNext(.toClient, after: byteCount)
                #expect(try await through.moveSession(scope.session, to: "trip \(byteCount)"))
                #expect(
                    try await through.moveSession(
                        SessionKey(userId: "ana", sessionId: "trip \(byteCount)"), to: scope.sessionId))
                #expect(try await through.window(of: scope, maxMessages: nil).map(\.id) == Array(ids.dropFirst()))
            }
            #expect(proxy.count > 20)
        }

        @Test("A transaction lost in a crash of the server is saved, though its number is given again", .needs(.time))
        func lostNumber() async throws {
            let server = try await PostgresTestServer.start(PostgresTestServer.Configuration(isDurable: true))
            let store = PostgresHistoryStore(try PostgresAddress(try await server.createDatabase()))
            try await store.migrate()
            let attempts = Locked(0)
            let insertion = "INSERT INTO recollect.tag (user_id, session, tag) VALUES ('u', 1, 't')"
            var database = store.database
            // The server may take long to start.
            database.retries.unavailableTime = .seconds(60)
            try await database.transaction { transaction in
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                _ = try await transaction.run(insertion)
                if attempt == 1 {
                    try await server.stop(.kill)
                    try await server.restart()
                    try await server.execute("CREATE TABLE spent (number bigint)")
                    try await server.execute(
                        """
                        DO $$ BEGIN
                          FOR number IN 1..100 LOOP INSERT INTO spent VALUES (number); COMMIT; END LOOP;
                        END $$
                        """)
                }
                return ([], ())
            }
            let rows = try await store.database.read("SELECT count(*) FROM recollect.tag")
            #expect(rows.integer(0, 0) == 1 && attempts.withLock { $0 } == 2)
            try await server.stop()
        }

        @Test("An attempt that commits late, after the next one has begun, is the only one")
        func lateCommit() async throws {
            let outcome = TransactionOutcome()
            let database = store.database
            _ = try await database.read("SELECT 1")
            try await database.pool.withConnection { first in
                _ = try await first.run([PostgresTransaction.begin, outcome.insertion(1)])
                let second = Task {
                    try await database.pool.withConnection { connection in
                        _ = try await connection.run([
                            PostgresTransaction.begin, outcome.insertion(2), PostgresStatement("COMMIT"),
                        ])
                    }
                }
                _ = try await first.run("COMMIT")
                let failure = await #expect(throws: PostgresFailure.self) { try await second.value }
                #expect(failure?.sqlState == "23505")
                #expect(try await outcome.committedAttempt(first) == 1)
            }
        }

        @Test("Concurrent operations of two servers leave no rows without a session, and right counts", .needs(.time))
        func consistency() async throws {
            let other = PostgresHistoryStore(try PostgresAddress(url))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, store) in [store, other, store, other].enumerated() {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(number))
                        for count in 0..<40 {
                            try await change(store, "\(number).\(count)", &generator)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await store.database.read(
                """
                SELECT (SELECT count(*) FROM recollect.message LEFT JOIN recollect.scope USING (user_id, session, scope)
                        LEFT JOIN recollect.session USING (user_id, session)
                        WHERE agent_id IS NULL OR session_id IS NULL),
                  (SELECT count(*) FROM recollect.scope LEFT JOIN recollect.session USING (user_id, session)
                   WHERE session_id IS NULL),
                  (SELECT count(*) FROM recollect.session WHERE message_count <> (
                     SELECT count(*) FROM recollect.message AS m
                     WHERE m.user_id = session.user_id AND m.session = session.session)),
                  (SELECT count(*) FROM recollect.message)
                """)
            #expect((0..<3).map { rows.integer(0, $0) } == [0, 0, 0])
            #expect(rows.integer(0, 3) > 0)
        }

        /// Runs a random operation. Sessions come and go meanwhile.
        private func change(
            _ store: PostgresHistoryStore, _ id: String, _ generator: inout SeededGenerator
        ) async throws {
            let scope = Scope(
                userId: "u\(Int.random(in: 0..<2, using: &generator))",
                sessionId: "s\(Int.random(in: 0..<3, using: &generator))",
                agentId: "a\(Int.random(in: 0..<2, using: &generator))")
            let name = "s\(Int.random(in: 0..<3, using: &generator))"
            do {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0..<12: #expect(try await store.append([message(id)], to: scope) == AppendOutcome(added: 1))
                case 12: try await store.deleteSession(scope.session)
                case 13: try await store.deleteUser(scope.userId)
                case 14: try await store.moveSession(scope.session, to: name)
                case 15, 16:
                    let page = try await store.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 2))
                    guard let first = page.elements.last else { return }
                    let branch = try await store.branch(scope.session, from: first.message.id, agentId: nil)
                    if Bool.random(using: &generator) {
                        try await store.restoreBranch(branch, in: scope.session)
                    }
                case 17:
                    let page = try await store.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 2))
                    guard let first = page.elements.last else { return }
                    try await store.fork(scope.session, at: first.message.id, agentId: nil, into: "fork \(id)")
                case 18: try await store.update(scope.session, with: SessionDetails(title: id))
                default: try await store.deleteMessages([id], in: scope.session)
                }
            } catch let error as RecollectError where error.code == .notFound {
                // The session or the message was deleted meanwhile.
            }
        }
    }
#endif
