#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Pools of connections to PostgreSQL", .needs(.postgres))
    struct PostgresPoolTests {
        private func pool(_ limits: PostgresPool.Limits) async throws -> PostgresPool {
            PostgresPool(try PostgresAddress(await SharedServer.url), limits: limits)
        }

        private func backend(_ connection: PostgresConnection) async throws -> Int64 {
            try await connection.run("SELECT pg_backend_pid()").integer(0, 0)
        }

        @Test("Hundreds of tasks share a few connections, each used by one task at a time")
        func bounds() async throws {
            let pool = try await pool(PostgresPool.Limits(maxConnections: 3, waitingTime: .seconds(60)))
            let inUse = Locked<[Int64: Int]>([:])
            let backends = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<300 {
                    group.addTask {
                        try await pool.withConnection { connection in
                            let id = try await backend(connection)
                            let count = inUse.withLock { inUse in
                                inUse[id, default: 0] += 1
                                return inUse[id]
                            }
                            #expect(count == 1)
                            _ = try await connection.run("SELECT pg_sleep(0.001)")
                            inUse.withLock { $0[id, default: 0] -= 1 }
                            return id
                        }
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(backends.count == 3)
        }

        @Test("Tasks get a connection in order of arrival")
        func order() async throws {
            let pool = try await pool(PostgresPool.Limits(maxConnections: 1, waitingTime: .seconds(60)))
            let served = Locked<[Int]>([])
            let tasks = try await pool.withConnection { connection in
                _ = try await backend(connection)
                var tasks: [Task<Void, any Error>] = []
                for number in 0..<20 {
                    tasks.append(
                        Task { try await pool.withConnection { _ in served.withLock { $0.append(number) } } })
                    let isWaiting = try await eventually { pool.waitingCount == number + 1 }
                    #expect(isWaiting)
                }
                return tasks
            }
            for task in tasks { try await task.value }
            #expect(served.withLock { $0 } == Array(0..<20))
        }

        @Test("A task that waits too long fails with busy, and so does one too many")
        func limits() async throws {
            let pool = try await pool(
                PostgresPool.Limits(maxConnections: 1, waitingCount: 2, waitingTime: .milliseconds(300)))
            try await pool.withConnection { connection in
                _ = try await backend(connection)
                let waiting = (0..<2).map { _ in Task { try await pool.withConnection { _ in } } }
                let areWaiting = try await eventually { pool.waitingCount == 2 }
                #expect(areWaiting)
                let excess = await #expect(throws: RecollectError.self) { try await pool.withConnection { _ in } }
                #expect(excess?.code == .busy)
                for task in waiting {
                    let late = await #expect(throws: RecollectError.self) { try await task.value }
                    #expect(late?.code == .busy)
                }
            }
            #expect(try await pool.withConnection { try await backend($0) } > 0)
        }

        @Test("A canceled task no longer waits, and the next one gets its turn")
        func cancellation() async throws {
            let pool = try await pool(PostgresPool.Limits(maxConnections: 1))
            try await pool.withConnection { connection in
                _ = try await backend(connection)
                let canceled = Task { try await pool.withConnection { _ in } }
                let isWaiting = try await eventually { pool.waitingCount == 1 }
                #expect(isWaiting)
                canceled.cancel()
                await #expect(throws: CancellationError.self) { try await canceled.value }
                #expect(pool.waitingCount == 0)
            }
            #expect(try await pool.withConnection { try await backend($0) } > 0)
        }

        @Test("A broken connection and one with an open transaction are not used again")
        func replacement() async throws {
            let pool = try await pool(PostgresPool.Limits(maxConnections: 1))
            let first = try await pool.withConnection { try await backend($0) }
            #expect(try await pool.withConnection { try await backend($0) } == first)
            let second = try await pool.withConnection { connection in
                _ = try await connection.run("BEGIN")
                return try await backend(connection)
            }
            #expect(second == first)
            let third = try await pool.withConnection { try await backend($0) }
            #expect(third != first)
            await #expect(throws: PostgresFailure.self) {
                try await pool.withConnection { connection in
                    _ = try await connection.run("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(try await pool.withConnection { try await backend($0) } != third)
        }

        @Test("After its end, a server that starts again is used without a new pool")
        func restart() async throws {
            let server = try await PostgresTestServer.start()
            let pool = PostgresPool(try PostgresAddress(server.url()))
            #expect(try await pool.withConnection { try await backend($0) } > 0)
            for end in [PostgresTestServer.End.fast, .kill] {
                try await server.stop(end)
                let failure = await #expect(throws: PostgresFailure.self) {
                    try await pool.withConnection { try await backend($0) }
                }
                #expect(failure?.error(at: pool.address.description).code == .unavailable)
                try await server.restart()
                #expect(try await pool.withConnection { try await backend($0) } > 0)
            }
        }

        @Test("A closed pool refuses tasks, also waiting ones, and closes its connections")
        func close() async throws {
            let pool = try await pool(PostgresPool.Limits(maxConnections: 1))
            let connection = try await pool.withConnection { connection in
                _ = try await backend(connection)
                let waiting = Task { try await pool.withConnection { _ in } }
                let isWaiting = try await eventually { pool.waitingCount == 1 }
                #expect(isWaiting)
                pool.close()
                let refused = await #expect(throws: RecollectError.self) { try await waiting.value }
                #expect(refused?.code == .unavailable)
                return connection
            }
            let refused = await #expect(throws: RecollectError.self) { try await pool.withConnection { _ in } }
            #expect(refused?.code == .unavailable)
            #expect(try await eventually { connection.currentCondition.isBroken })
        }
    }
#endif
