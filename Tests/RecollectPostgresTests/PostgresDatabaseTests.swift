#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Transactions of PostgreSQL", .needs(.postgres))
    struct PostgresDatabaseTests {
        let url: String
        let database: PostgresDatabase

        init() async throws {
            url = try await SharedServer.url
            database = PostgresDatabase(pool: PostgresPool(try PostgresAddress(url)))
            _ = try await database.write([
                PostgresStatement("CREATE TABLE counter (id bigint PRIMARY KEY, value bigint NOT NULL)"),
                PostgresStatement("CREATE TABLE item (id bigint PRIMARY KEY)"),
                PostgresStatement("INSERT INTO counter VALUES (1, 0), (2, 0)"),
            ])
        }

        /// Adds an item, and counts it: twice as once.
        private func insertion(_ id: Int64) -> [PostgresStatement] {
            [
                PostgresStatement(
                    """
                    WITH new AS (INSERT INTO item VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING id)
                    UPDATE counter SET value = value + (SELECT count(*) FROM new) WHERE id = 1
                    """, .integer(id))
            ]
        }

        private func items() async throws -> [Int64] {
            let rows = try await database.read("SELECT id FROM item ORDER BY id")
            return (0..<rows.count).map { rows.integer($0, 0) }
        }

        private var count: Int64 {
            get async throws { try await database.read("SELECT value FROM counter WHERE id = 1").integer(0, 0) }
        }

        @Test("Statements are saved together, or not at all if one fails")
        func atomicity() async throws {
            let results = try await database.write(
                insertion(1) + [PostgresStatement("SELECT count(*) FROM item")])
            #expect(results.count == 2 && results[1].integer(0, 0) == 1)
            let error = await #expect(throws: RecollectError.self) {
                try await database.write(insertion(2) + [PostgresStatement("INSERT INTO item VALUES (1)")])
            }
            #expect(error?.message.contains("23505") == true)
            #expect(try await items() == [1])
        }

        @Test("Transactions in a deadlock are repeated until all are saved")
        func deadlocks() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let rows: [Int64] = number.isMultiple(of: 2) ? [1, 2] : [2, 1]
                        for _ in 0..<5 {
                            _ = try await database.write([
                                PostgresStatement(
                                    "UPDATE counter SET value = value + 1 WHERE id = $1", .integer(rows[0])),
                                // Long enough for the other order to begin.
                                PostgresStatement("SELECT pg_sleep(0.002)"),
                                PostgresStatement(
                                    "UPDATE counter SET value = value + 1 WHERE id = $1", .integer(rows[1])),
                            ])
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await database.read("SELECT min(value), max(value) FROM counter").integer(0, 0) == 40)
        }

        @Test(
            "A connection cut at any byte of a transaction or of its answer loses no save and repeats none",
            .needs(.time))
        func cuts() async throws {
            let port = try #require(url.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) })
            let proxy = try CuttingProxy(before: port)
            let through = PostgresDatabase(
                pool: PostgresPool(
                    try PostgresAddress(url.replacing(":\(port)/", with: ":\(proxy.port)/")),
                    limits: PostgresPool.Limits(maxConnections: 1)))
            var id: Int64 = 100
            _ = try await through.write(insertion(id))
            for direction in [CuttingProxy.Direction.toServer, .toClient] {
                for byteCount in stride(from: 0, to: 460, by: direction == .toServer ? 13 : 3) {
                    let before = proxy.count
                    proxy.cutNext(direction, after: byteCount)
                    id += 1
                    _ = try await through.write(insertion(id))
                    // A cut beyond the end of the answer would wait for the next transaction.
                    if proxy.count == before { break }
                }
                // Cuts what is left to cut.
                proxy.cutNext(direction, after: 0)
                id += 1
                _ = try await through.write(insertion(id))
            }
            #expect(proxy.count > 40)
            #expect(try await items() == Array(100...id))
            #expect(try await count == id - 99)
        }

        @Test("Saves continue while backends are terminated, and each is saved once")
        func terminations() async throws {
            let savedCount = Locked(0)
            let termination = terminatingBackends(at: url, whenever: savedCount, through: 400)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in 0..<100 {
                            _ = try await database.write(insertion(Int64(task * 100 + number)))
                            savedCount.withLock { $0 += 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await termination.value > 10)
            #expect(try await items() == Array(0..<400))
            #expect(try await count == 400)
        }

        @Test("A transaction waits for a server that starts again, and fails with unavailable after its time")
        func restart() async throws {
            let server = try await PostgresTestServer.start()
            let url = try await server.createDatabase()
            var database = PostgresDatabase(pool: PostgresPool(try PostgresAddress(url)))
            _ = try await database.write([PostgresStatement("CREATE TABLE item (id bigint PRIMARY KEY)")])
            try await server.stop(.fast)
            database.retries.unavailableTime = .milliseconds(200)
            let error = await #expect(throws: RecollectError.self) {
                try await database.write([PostgresStatement("INSERT INTO item VALUES (1) ON CONFLICT (id) DO NOTHING")])
            }
            #expect(error?.code == .unavailable)
            database.retries.unavailableTime = .seconds(60)
            let waiting = Task { [database] in
                try await database.write([
                    PostgresStatement("INSERT INTO item VALUES (2) ON CONFLICT (id) DO NOTHING")
                ])
            }
            try await server.restart()
            _ = try await waiting.value
            #expect(try await database.read("SELECT id FROM item").integer(0, 0) == 2)
        }

        @Test("A canceled transaction saves nothing, and its connection is used again")
        func cancellation() async throws {
            let task = Task {
                try await database.write(insertion(7) + [PostgresStatement("SELECT pg_sleep(60)")])
            }
            let sleeps = try await eventually {
                try await database.read(
                    "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
                )
                .count == 1
            }
            #expect(sleeps)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await items().isEmpty)
        }
    }
#endif
