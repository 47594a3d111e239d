#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Histories in PostgreSQL", .needs(.postgres))
    struct PostgresHistoryStoreTests {
        static let checks = HistoryStoreConformance.checks

        private func makeStore(_ url: String? = nil) async throws -> PostgresHistoryStore {
            let url = if let url { url } else { try await HistoryServer.url }
            // The feed waits for the transactions of the other tests, too.
            return PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
        }

        @Test("PostgresHistoryStore conforms", arguments: checks)
        func conformance(_ check: HistoryStoreCheck) async throws {
            try await check.run { try await makeStore() }
        }

        // One after the other: on Linux, `Process` of Foundation crashes with very many open files.
        @Test(
            "PostgresHistoryStore conforms behind PgBouncer in transaction mode", .needs(.pgBouncer), .serialized,
            arguments: checks)
        func conformanceBehindPgBouncer(_ check: HistoryStoreCheck) async throws {
            try await check.run { try await makeStore(HistoryServer.urlThroughPgBouncer) }
        }

        @Test("PostgresChatStorage conforms", arguments: ChatStorageConformance.checks)
        func chatStorage(_ check: ChatStorageCheck) async throws {
            let fixture = StoreFixture<any ChatStorage>(
                capabilities: .all.subtracting(.keepsLongIDs), location: { try await HistoryServer.url },
                open: { url in
                    let history = try await makeStore(url)
                    return PerUserChatStorage { PostgresChatStorage(history: history, userId: $0) }
                }, remove: { _ in })
            try await check.run(on: fixture)
        }

        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        @Test("Servers that save to one session save each message once, and each agent's in its order")
        func sharedSession() async throws {
            let url = try await HistoryServer.url
            let servers = [try await makeStore(url), try await makeStore(url), try await makeStore(url)]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, server) in servers.enumerated() {
                    for task in 0..<4 {
                        group.addTask {
                            for count in 0..<20 {
                                try await server.append(
                                    [message("\(number).\(task).\(count)", seconds: Double(count))],
                                    to: scope.session.scope(agentId: "\(number).\(task)"))
                                try await server.append(
                                    [message("all \(number).\(task).\(count)", seconds: 100)], to: scope)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let all = try await servers[0].messages(of: scope.session, agentId: nil, page: PageRequest(limit: 1_000))
                .elements
            #expect(all.count == 480 && Set(all.map(\.message.id)).count == 480)
            #expect(Set(all.map(\.cursor.position)).count == 480)
            for number in 0..<3 {
                for task in 0..<4 {
                    let own = all.filter { $0.agentId == "\(number).\(task)" }.map(\.message.id)
                    #expect(own == (0..<20).map { "\(number).\(task).\($0)" })
                }
            }
            let session = try await servers[1].session(scope.session)
            #expect(session?.messageCount == 480)
        }

        @Test("A save in the state known from the last one reads nothing first, and sees the saves of other servers")
        func knownState() async throws {
            let url = try await HistoryServer.url
            let (one, other) = (try await makeStore(url), try await makeStore(url))
            let options = AppendOptions(sameRole: .drop, maxMessages: 4)
            try await one.append([message("1")], to: scope, options: options)
            try await one.append(
                [ConversationMessage(id: "2", role: .assistant, text: "reply")], to: scope, options: options)
            try await other.append([message("3")], to: scope, options: options)
            // A role repeated after the other server's message.
            let dropped = try await one.append([message("4")], to: scope, options: options)
            #expect(dropped == AppendOutcome(dropped: 1))
            let stored = try await one.append([message("1")], to: scope, options: options)
            #expect(stored == AppendOutcome(alreadyStored: 1))
            try await one.append(
                [ConversationMessage(id: "5", role: .assistant, text: "reply")], to: scope, options: options)
            try await one.append([message("6")], to: scope, options: options)
            #expect(try await other.window(of: scope, maxMessages: nil).map(\.id) == ["2", "3", "5", "6"])
        }

        @Test("A message with the role of instructions after a compaction is not one of them")
        func systemMessageAfterCompaction() async throws {
            let store = try await makeStore()
            var all = ["1", "2", "3", "4"].map { message($0) }
            all[2] = ConversationMessage(id: "3", role: .system, text: "be brief", timestamp: all[2].timestamp)
            try await store.append(all, to: scope)
            try await store.compact(Array(all.prefix(2)), of: scope, into: "summary", by: "test", after: nil)
            let compacted = try await store.compactedMessages(of: scope)
            #expect(compacted.instructions.isEmpty && compacted.messages.map(\.id) == ["3", "4"])
        }

        @Test("A compaction in a branch covers the same messages after its session was merged with another one")
        func compactionInBranchOfMergedSession() async throws {
            let store = try await makeStore()
            let (source, target) = (scope, Scope(userId: "ana", sessionId: "other", agentId: "writer"))
            let all = (1...5).map { message("\($0)") }
            try await store.append((1...6).map { message("other \($0)") }, to: target)
            try await store.append(all, to: source)
            try await store.compact(Array(all.prefix(4)), of: source, into: "summary", by: "test", after: nil)
            let branch = try await store.branch(source.session, from: "3", agentId: nil)
            try await store.moveSession(source.session, to: target.sessionId)
            let moved = target.session.scope(agentId: source.agentId)
            try await store.restoreBranch(branch, in: target.session)
            #expect(try await store.compactedMessages(of: moved).messages.map(\.id) == ["5"])
            let again = try await store.branch(target.session, from: "3", agentId: nil)
            try await store.deleteMessages(["1"], in: target.session)
            #expect(try await store.compactions(of: again.scope(agentId: source.agentId)).isEmpty)
        }

        @Test("Unread messages are still unread after a branch and its restoring")
        func unreadBranch() async throws {
            let store = try await makeStore()
            try await store.append((1...3).map { message("\($0)") }, to: scope)
            try await store.update(scope.session, with: SessionDetails(isRead: true))
            try await store.append((4...5).map { message("\($0)") }, to: scope)
            let branch = try await store.branch(scope.session, from: "4", agentId: nil)
            #expect(try await store.session(scope.session)?.isUnread == false)
            try await store.restoreBranch(branch, in: scope.session)
            #expect(try await store.session(scope.session)?.isUnread == true)
        }

        @Test("Titles have any length, and an ID too long for an index is refused")
        func longTexts() async throws {
            let store = try await makeStore()
            var generator = SeededGenerator(seed: 1)
            // Random letters: PostgreSQL compresses others.
            let long = String(
                (0..<5_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 97...122, using: &generator))) })
            try await store.append([message("1")], to: scope)
            try await store.update(scope.session, with: SessionDetails(title: long))
            let page = PageRequest<SessionCursor>(limit: 10)
            let query = SessionQuery(userId: "ana", order: .title)
            #expect(try await store.sessions(query, page: page).elements.map(\.title) == [long])
            let error = await #expect(throws: RecollectError.self) {
                try await store.append([message(long)], to: scope)
            }
            #expect(error?.code == .tooLarge)
        }

        @Test("The states of all agents of a session stay known while they save in turns")
        func knownStatesOfAgents() async throws {
            let store = try await makeStore()
            let scopes = ["planner", "writer", ""].map { scope.session.scope(agentId: $0) }
            for number in 0..<9 {
                try await store.append([message("\(number)", seconds: Double(number))], to: scopes[number % 3])
                let known = scopes.map { store.knownStates.state(of: $0) }
                let revision = try await store.database.read("SELECT revision FROM recollect.session").integer(0, 0)
                #expect(known.prefix(number + 1).allSatisfy { $0?.revision == revision })
                #expect(known[0]?.unassigned == (number < 2 ? nil : known[2]?.scope))
            }
            let all = try await store.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 10))
            #expect(all.elements.map(\.message.id) == (0..<9).map { "\($0)" })
        }

        @Test("Messages are saved once while backends are terminated")
        func terminations() async throws {
            let url = try await HistoryServer.url
            let store = try await makeStore(url)
            let savedCount = Locked(0)
            let termination = terminatingBackends(at: url, whenever: savedCount, through: 200)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for count in 0..<50 {
                            try await store.append(
                                [message("\(task).\(count)", seconds: Double(count))],
                                to: scope.session.scope(agentId: "\(task)"))
                            savedCount.withLock { $0 += 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await termination.value > 10)
            for task in 0..<4 {
                let own = try await store.window(of: scope.session.scope(agentId: "\(task)"), maxMessages: nil)
                #expect(own.map { $0.id } == (0..<50).map { "\(task).\($0)" })
            }
            #expect(try await store.session(scope.session)?.messageCount == 200)
        }

        @Test("A follower of the feed misses nothing while 16 writers save")
        func feed() async throws {
            let url = try await HistoryServer.url
            let (writing, following) = (try await makeStore(url), try await makeStore(url))
            let writers = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<16 {
                        group.addTask {
                            for count in 0..<20 {
                                let scope = Scope(userId: "\(task % 5)", sessionId: "\(task)", agentId: "a")
                                try await writing.append([message("\(task).\(count)")], to: scope)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var seen: [HistoryChange] = []
            while seen.count < 320 {
                let page = try await following.changes(after: seen.last?.cursor ?? .beginning, limit: 7)
                seen += page
            }
            try await writers.value
            #expect(Set(seen.map { $0.messageId ?? "" }).count == 320)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
            for task in 0..<16 {
                let own = seen.filter { $0.session.sessionId == "\(task)" }.map(\.messageId)
                #expect(own == (0..<20).map { "\(task).\($0)" })
            }
        }
    }

    @Suite("Migrations in PostgreSQL", .needs(.postgres))
    struct PostgresMigratorTests {
        private func makeDatabase() async throws -> PostgresDatabase {
            PostgresDatabase(pool: PostgresPool(try PostgresAddress(try await SharedServer.url)))
        }

        @Test("Migrations that begin at once run once")
        func atOnce() async throws {
            let database = try await makeDatabase()
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await PostgresMigrator(database: database).migrate() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.reduce(0, +) == PostgresSchema.migrations.count)
            #expect(try await PostgresMigrator(database: database).currentVersion() == PostgresSchema.version)
        }

        @Test("A failed step changes nothing, and the next migration continues with it")
        func failedStep() async throws {
            let database = try await makeDatabase()
            var migrator = PostgresMigrator(database: database)
            let next = PostgresSchema.version + 1
            let table = "CREATE TABLE recollect.more (id bigint)"
            migrator.migrations.append(
                PostgresSchema.Migration(version: next, statements: [table, "SELECT 1 / 0"]))
            await #expect(throws: RecollectError.self) { try await migrator.migrate() }
            #expect(try await migrator.currentVersion() == PostgresSchema.version)
            migrator.migrations.removeLast()
            migrator.migrations.append(PostgresSchema.Migration(version: next, statements: [table]))
            #expect(try await migrator.migrate() == 1)
            #expect(try await migrator.currentVersion() == next)
        }

        @Test("A database with another encoding than UTF-8 is refused and stays empty")
        func encoding() async throws {
            let address = try PostgresAddress(try await SharedServer.url(encoding: "LATIN1"))
            let store = PostgresHistoryStore(address)
            let error = await #expect(throws: RecollectError.self) { try await store.migrate() }
            #expect(error?.code == .cannotOpen && error?.message.contains("LATIN1") == true)
            let database = PostgresDatabase(pool: PostgresPool(address))
            #expect(try await PostgresMigrator(database: database).currentVersion() == 0)
        }

        @Test("Missing and newer tables are refused with the reason, and stay as they are")
        func versions() async throws {
            let database = try await makeDatabase()
            let store = PostgresHistoryStore(database.pool.address)
            let session = SessionKey(userId: "ana", sessionId: "trip")
            let missing = await #expect(throws: RecollectError.self) { try await store.session(session) }
            #expect(missing?.code == .cannotOpen && missing?.message.contains("migrate") == true)
            try await store.migrate()
            _ = try await database.read("INSERT INTO recollect.migration (version) VALUES (1000)")
            let newer = PostgresHistoryStore(database.pool.address)
            for operation in [{ _ = try await newer.session(session) }, { _ = try await newer.migrate() }] {
                let error = await #expect(throws: RecollectError.self) { try await operation() }
                #expect(error?.code == .newerSchema && error?.message.contains("1000") == true)
            }
        }
    }
#endif
