#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Histories in PostgreSQL with a synchronous standby", .needs(.postgres), .needs(.time))
    struct PostgresFailoverTests {
        private let primary: PostgresTestServer
        private let standby: PostgresTestServer
        private let store: PostgresHistoryStore
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        init() async throws {
            primary = try await PostgresTestServer.start()
            standby = try await primary.startStandby()
            store = PostgresHistoryStore(try PostgresAddress(await primary.createDatabase(standbys: [standby])))
            try await store.migrate()
        }

        private static let waiting =
            "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'"

        /// Whether a commit waits for the standby.
        private func isWaiting() async throws -> Bool {
            try await primary.execute("SELECT count(*) \(Self.waiting)") != "0"
        }

        /// The changes of this suite, and the IDs in the scope after each.
        private static let changes:
            [(change: @Sendable (PostgresHistoryStore, Scope) async throws -> Void, ids: [String])] = [
                // In the known state.
                ({ _ = try await $0.append([message("2")], to: $1) }, ["1", "2"]),
                // In a transaction of its own.
                ({ _ = try await $0.deleteMessages(["1"], in: $1.session) }, []),
            ]

        /// Begins a change while the standby is down, and ends the wait of its commit.
        /// - Parameter interruption: Ends the wait.
        private func change(
            _ number: Int, interruption: (Task<Void, any Error>) async throws -> Void
        ) async throws -> Task<Void, any Error> {
            try await store.append([message("1")], to: scope)
            try await standby.stop(.kill)
            let (store, scope) = (store, scope)
            let task = Task { try await Self.changes[number].change(store, scope) }
            #expect(try await eventually(isWaiting))
            try await interruption(task)
            return task
        }

        @Test(
            "A change whose connection ends while it waits for the standby returns when the standby has it",
            arguments: [0, 1])
        func lostConnection(number: Int) async throws {
            let hasReturned = Locked(false)
            let task = try await change(number) { _ in
                let count = try await primary.execute("SELECT count(pg_terminate_backend(pid)) \(Self.waiting)")
                #expect(count == "1")
            }
            let observer = Task {
                try await task.value
                hasReturned.withLock { $0 = true }
            }
            // It has run again.
            #expect(try await eventually { try await isWaiting() || hasReturned.withLock { $0 } })
            #expect(!hasReturned.withLock { $0 })
            try await standby.restart()
            try await observer.value
            try await primary.stop(.kill)
            try await standby.promote()
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == Self.changes[number].ids)
        }

        @Test(
            "A change canceled while it waits for the standby is committed, and reported as unconfirmed",
            arguments: [0, 1])
        func canceled(number: Int) async throws {
            let task = try await change(number) { $0.cancel() }
            let error = await #expect(throws: RecollectError.self) { try await task.value }
            #expect(error?.code == .unavailable && error?.message.contains("standby") == true)
            try await standby.restart()
            // Saved again, it waits for the standby.
            try await Self.changes[number].change(store, scope)
            try await primary.stop(.kill)
            try await standby.promote()
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.id) == Self.changes[number].ids)
        }
    }
#endif
