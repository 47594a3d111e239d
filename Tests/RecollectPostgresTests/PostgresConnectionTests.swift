#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Connections to PostgreSQL", .needs(.postgres))
    struct PostgresConnectionTests {
        let url: String
        let connection: PostgresConnection

        init() async throws {
            url = try await SharedServer.url
            connection = try await PostgresConnection.connect(to: PostgresAddress(url))
        }

        /// Waits until this number of statements sleep in the database.
        private func waitForSleep(_ count: Int64) async throws {
            let observer = try await PostgresConnection.connect(to: PostgresAddress(url))
            let sleeps = try await eventually {
                try await observer.run(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND state = 'active' AND wait_event = 'PgSleep'
                    """
                ).integer(0, 0) == count
            }
            #expect(sleeps)
        }

        @Test("Each kind of value is returned as sent, in the binary format")
        func values() async throws {
            let everyByte = (0...255).map { UInt8($0) }
            let result = try await connection.run(
                "SELECT $1::bytea, $2::bigint, $3::text, $4::boolean, $5::double precision, $6::bigint, $7::bytea",
                .bytes(everyByte), .integer(.min), .text("Grüße 日本 👩‍👩‍👧"), .boolean(true), .double(-0.0), .null, .bytes([])
            )
            #expect(result.count == 1)
            #expect(result.bytes(0, 0) == everyByte)
            #expect(result.integer(0, 1) == .min)
            #expect(result.text(0, 2) == "Grüße 日本 👩‍👩‍👧")
            #expect(result.boolean(0, 3))
            #expect(result.double(0, 4).bitPattern == (-0.0).bitPattern)
            #expect(result.isNull(0, 5) && !result.isNull(0, 6))
            #expect(result.bytes(0, 6).isEmpty)
            let small = try await connection.run("SELECT 7::smallint, -7::integer, $1::bigint", .integer(-1))
            #expect([small.integer(0, 0), small.integer(0, 1), small.integer(0, 2)] == [7, -7, -1])
        }

        @Test("Arrays of any size are rows of a statement, with NULL and empty elements")
        func arrays() async throws {
            for count in [0, 1, 3, 5_000] {
                let bytes = (0..<count).map { number in number % 3 == 0 ? nil : [UInt8](repeating: 7, count: number % 5)
                }
                let result = try await connection.run(
                    "SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])", .byteArrays(bytes),
                    .integers((0..<count).map(Int64.init)), .texts((0..<count).map { "\($0)" }))
                #expect(result.count == count)
                let isSame = (0..<count).allSatisfy { row in
                    (result.isNull(row, 0) ? nil : result.bytes(row, 0)) == bytes[row]
                        && result.integer(row, 1) == Int64(row) && result.text(row, 2) == "\(row)"
                }
                #expect(isSame)
            }
        }

        @Test("Statements of a pipeline run in order, with one result each")
        func pipeline() async throws {
            let results = try await connection.run([
                PostgresStatement("BEGIN"), PostgresStatement("CREATE TEMPORARY TABLE t (id bigint)"),
                PostgresStatement("INSERT INTO t SELECT generate_series(1, 3)"),
                PostgresStatement("SELECT count(*) FROM t"), PostgresStatement("COMMIT"),
            ])
            #expect(results.map(\.commandTag) == ["BEGIN", "CREATE TABLE", "INSERT 0 3", "SELECT 1", "COMMIT"])
            #expect(results[2].affectedCount == 3)
            #expect(results[3].integer(0, 0) == 3)
        }

        @Test("After a failed statement, no other one runs, the transaction is rolled back, and the connection works")
        func failure() async throws {
            _ = try await connection.run("CREATE TEMPORARY TABLE t (id bigint PRIMARY KEY)")
            let failure = await #expect(throws: PostgresFailure.self) {
                try await connection.run([
                    PostgresStatement("BEGIN"), PostgresStatement("INSERT INTO t VALUES (1)"),
                    PostgresStatement("INSERT INTO t VALUES (1)"), PostgresStatement("INSERT INTO t VALUES (2)"),
                    PostgresStatement("COMMIT"),
                ])
            }
            #expect(failure?.sqlState == "23505" && failure?.statement == 2)
            #expect(try await connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
            #expect(!connection.currentCondition.isInTransaction)
        }

        @Test("A pipeline without BEGIN is one transaction")
        func implicitTransaction() async throws {
            _ = try await connection.run("CREATE TEMPORARY TABLE t (id bigint PRIMARY KEY)")
            await #expect(throws: PostgresFailure.self) {
                try await connection.run([
                    PostgresStatement("INSERT INTO t VALUES (1)"), PostgresStatement("SELECT 1 / 0"),
                ])
            }
            #expect(try await connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
        }

        @Test("A failure at the commit is reported, and nothing is saved")
        func failedCommit() async throws {
            _ = try await connection.run(
                "CREATE TEMPORARY TABLE t (id bigint, CONSTRAINT one UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)")
            for isExplicit in [true, false] {
                let inserts = [
                    PostgresStatement("INSERT INTO t VALUES (1)"), PostgresStatement("INSERT INTO t VALUES (1)"),
                ]
                let failure = await #expect(throws: PostgresFailure.self) {
                    try await connection.run(
                        isExplicit
                            ? [PostgresStatement("BEGIN")] + inserts + [PostgresStatement("COMMIT")] : inserts)
                }
                #expect(failure?.sqlState == "23505", "explicit: \(isExplicit)")
                #expect(try await connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
            }
        }

        @Test("Values and results larger than the buffers of the sockets pass in both directions at once")
        func large() async throws {
            let megabytes = [UInt8](repeating: 0xAB, count: 8 << 20)
            let statements = (0..<6).map { _ in PostgresStatement("SELECT $1::bytea", .bytes(megabytes)) }
            let results = try await connection.run(statements)
            #expect(results.count == 6 && results.allSatisfy { $0.bytes(0, 0) == megabytes })
        }

        @Test("A canceled task ends its statement at the server, and the connection works")
        func cancellation() async throws {
            let connection = connection
            let clock = ContinuousClock()
            let start = clock.now
            let task = Task { try await connection.run("SELECT pg_sleep(60)") }
            try await waitForSleep(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(clock.now - start < .seconds(30))
            // A late cancellation must not hit the next statement.
            for _ in 0..<20 {
                let next = Task { try await connection.run("SELECT 1") }
                next.cancel()
                _ = try? await next.value
                #expect(try await connection.run("SELECT 2").integer(0, 0) == 2)
            }
        }

        @Test("A statement past its time limit is canceled and reported as such")
        func timeLimit() async throws {
            let failure = await #expect(throws: PostgresFailure.self) {
                try await connection.run([PostgresStatement("SELECT pg_sleep(60)")], timeLimit: .milliseconds(200))
            }
            #expect(failure?.isCanceled == true)
            #expect(failure?.error(at: connection.server).code == .timedOut)
            #expect(try await connection.run("SELECT 3").integer(0, 0) == 3)
        }

        @Test("A backend ended by the server fails its statement with the reason, and the connection is broken")
        func terminated() async throws {
            let other = try await PostgresConnection.connect(to: PostgresAddress(url))
            let id = try await connection.run("SELECT pg_backend_pid()").integer(0, 0)
            let connection = connection
            let task = Task { try await connection.run("SELECT pg_sleep(60)") }
            try await waitForSleep(1)
            _ = try await other.run("SELECT pg_terminate_backend($1::integer)", .integer(id).small)
            let failure = await #expect(throws: PostgresFailure.self) { try await task.value }
            #expect(failure?.sqlState == "57P01" && failure?.isOutcomeUnknown == true)
            #expect(failure?.error(at: connection.server).code == .unavailable)
            #expect(connection.currentCondition.isBroken)
            await #expect(throws: PostgresFailure.self) { try await connection.run("SELECT 1") }
        }

        @Test("An idle connection ended by the server is known as broken without a statement")
        func terminatedWhileIdle() async throws {
            let other = try await PostgresConnection.connect(to: PostgresAddress(url))
            let id = try await connection.run("SELECT pg_backend_pid()").integer(0, 0)
            _ = try await other.run("SELECT pg_terminate_backend($1::integer)", .integer(id).small)
            #expect(try await eventually { connection.currentCondition.isBroken })
        }

        @Test("A notice of the server is not printed, and does not disturb the results")
        func notice() async throws {
            _ = try await connection.run("DO $$ BEGIN RAISE WARNING 'a warning'; END $$")
            #expect(try await connection.run("SELECT 4").integer(0, 0) == 4)
        }

        @Test("Many connections are closed at their release, while they are idle and while they run")
        func release() async throws {
            for _ in 0..<20 {
                let released = try await PostgresConnection.connect(to: PostgresAddress(url))
                let task = Task { try await released.run("SELECT pg_sleep(60)") }
                try await waitForSleep(1)
                released.close()
                await #expect(throws: PostgresFailure.self) { try await task.value }
                _ = try await PostgresConnection.connect(to: PostgresAddress(url))
            }
            let connection = connection
            let isAlone = try await eventually {
                try await connection.run(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                ).integer(0, 0) == 1
            }
            #expect(isAlone)
        }
    }

    extension PostgresValue {
        /// The value as text for a parameter of another type than `bigint`.
        fileprivate var small: PostgresValue {
            if case .integer(let value) = self { .text("\(value)") } else { self }
        }
    }
#endif
