#if Postgres
    import InMemoryTracing
    import MetricsTestKit
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Metrics and spans of PostgreSQL", .needs(.postgres))
    struct PostgresMetricsTests {
        private let scope = Scope(userId: "ana", sessionId: "a secret trip", agentId: "planner")

        @Test("Operations report their duration, their error and a span, without IDs")
        func operations() async throws {
            let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
            let url = try await HistoryServer.url
            let store = try PostgresHistoryStore(
                url: url, configuration: PostgresConfiguration(metrics: metrics, tracer: tracer))
            try await store.append([message("1")], to: scope)
            try await store.append([message("2")], to: scope)
            _ = try await store.session(scope.session)
            _ = try await store.withLease(of: scope.session) {}
            store.close()
            await #expect(throws: RecollectError.self) { try await store.branches(of: scope.session) }
            func count(_ operation: String, _ error: String = "none") throws -> Int {
                let dimensions = [("operation", operation), ("error", error)]
                return try metrics.expectTimer("recollect.postgres.duration", dimensions).values.count
            }
            #expect(try count("append") == 2 && count("session") == 1 && count("releaseLease") == 1)
            #expect(try count("branches", "unavailable") == 1)
            #expect(try metrics.expectTimer("recollect.postgres.connection.wait").values.count >= 5)
            let names = tracer.finishedSpans.map(\.operationName)
            #expect(names.filter { $0 == "recollect.append" }.count == 2 && names.contains("recollect.session"))
            let failed = try #require(tracer.finishedSpans.first { $0.operationName == "recollect.branches" })
            #expect(!failed.errors.isEmpty)
            for span in tracer.finishedSpans { #expect(!"\(span.attributes)".contains("secret")) }
        }

        @Test("A transaction that runs again is counted by its reason")
        func repetitions() async throws {
            let metrics = TestMetrics()
            let url = try await HistoryServer.url
            let store = try PostgresHistoryStore(
                url: url, configuration: PostgresConfiguration(metrics: metrics))
            let attempts = Locked(0)
            try await store.database.transaction { transaction in
                _ = try await transaction.run("SELECT 1")
                let isFirst = attempts.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { throw PostgresFailure.changedMeanwhile }
                return ([], ())
            }
            let reason = [("reason", "conflict")]
            #expect(try metrics.expectCounter("recollect.postgres.repetitions", reason).values == [1])
        }
    }
#endif
