#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Histories in PostgreSQL with a full disk and with stopped programs", .needs(.postgres), .needs(.time))
    struct PostgresServerFaultTests {
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        @Test(
            "With a full disk, a save fails with diskFull and stores nothing, and later ones succeed", .needs(.tinyDisk)
        )
        func fullDisk() async throws {
            let folder = try TemporaryFolder()
            let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 24 << 10)
            try RecollectTestSupport.run("chown", "postgres", disk.url.path)
            let server = try await PostgresTestServer.start()
            try await server.execute("CREATE TABLESPACE small LOCATION '\(disk.url.path)'")
            try await server.execute("CREATE DATABASE small OWNER recollect TABLESPACE small")
            let store = PostgresHistoryStore(try PostgresAddress(server.url(database: "small")))
            try await store.migrate()
            var saved: [String] = []
            var failure: RecollectError?
            var generator = SeededGenerator(seed: 1)
            while failure == nil, saved.count < 1_000 {
                // Random text, because PostgreSQL compresses.
                let text = (0..<20_000).map { _ in String(generator.next(), radix: 36) }.joined(separator: " ")
                let ids = ["\(saved.count)", "\(saved.count + 1)"]
                do {
                    try await store.append(
                        ids.map { ConversationMessage(id: $0, role: .user, text: $0 + text) }, to: scope)
                    saved += ids
                } catch let error as RecollectError {
                    failure = error
                }
            }
            #expect(
                failure?.code == .diskFull && failure?.message.contains("small") == true,
                "\(String(describing: failure))")
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == saved && saved.count > 2)
            try disk.resize(kilobytes: 64 << 10)
            try await store.append([message("later")], to: scope)
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == saved + ["later"])
            store.close()
            try await server.stop(.kill)
        }

        @Test("A program that stops inside a transaction delays others for ten seconds at most, and saves nothing")
        func stoppedInTransaction() async throws {
            let url = try await HistoryServer.urlForLongTransactions
            let (stopped, other) = (
                PostgresHistoryStore(try PostgresAddress(url)), PostgresHistoryStore(try PostgresAddress(url))
            )
            try await stopped.append([message("1")], to: scope)
            let (hasLock, goesOn) = (Gate(), Gate())
            let task = Task { [scope] in
                try await stopped.database.transaction { transaction in
                    _ = try await transaction.run(
                        "UPDATE recollect.session SET revision = 1 WHERE user_id = $1", .bytes(scope.userId.bytes))
                    hasLock.open()
                    try await goesOn.wait()
                    _ = try await transaction.run(
                        "DELETE FROM recollect.message WHERE user_id = $1", .bytes(scope.userId.bytes))
                    return ([], ())
                }
            }
            try await hasLock.wait()
            try await other.append([message("2")], to: scope)
            goesOn.open()
            let error = await #expect(throws: RecollectError.self) { try await task.value }
            // Its connection has ended.
            #expect(error?.code == .unavailable)
            #expect(try await other.window(of: scope, maxMessages: nil).map(\.id) == ["1", "2"])
        }

        @Test("A client that stops reading its results delays no one else")
        func stoppedReader() async throws {
            let url = try await HistoryServer.urlForLongTransactions
            // Transactions of other tests on this server end within ten seconds.
            let store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
            try await store.append((0..<200).map { message("\($0)") }, to: scope)
            let start = try await store.latestChangeCursor()
            let reader = Process()
            reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let query = "SELECT message_id, repeat('x', 100000) FROM recollect.message, generate_series(1, 100)"
            // Of a copy, psql writes each row at once. Nobody reads the pipe.
            reader.arguments = ["psql", url, "-X", "-c", "COPY (\(query)) TO STDOUT"]
            let output = Pipe()
            reader.standardOutput = output
            try reader.run()
            defer { reader.terminate() }
            let watching = try await PostgresConnection.connect(to: PostgresAddress(url))
            let isStopped = try await eventually {
                try await watching.run(
                    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'ClientWrite'"
                ).count > 0
            }
            #expect(isStopped)
            try await store.append([message("later")], to: scope)
            #expect(try await store.deleteMessages(["0"], in: scope.session) == 1)
            #expect(try await store.changes(after: start, limit: 10).map(\.messageId) == ["later", "0"])
            #expect(try await store.window(of: scope, maxMessages: nil).count == 200)
        }
    }
#endif
