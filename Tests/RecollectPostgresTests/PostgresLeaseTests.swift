#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Leases of turns in PostgreSQL", .needs(.postgres))
    struct PostgresLeaseTests {
        private let url: String
        private let store: PostgresHistoryStore
        private let other: PostgresHistoryStore
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        init() async throws {
            url = try await HistoryServer.urlForLongTransactions
            store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
            other = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
        }

        private func lease(_ store: PostgresHistoryStore, for duration: Duration = .seconds(60)) async throws
            -> TurnLease
        {
            try #require(try await store.lease(of: scope.session, for: duration))
        }

        private func expireLeases() async throws {
            _ = try await store.database.read("UPDATE recollect.turn_lease SET expires_at = '-infinity'")
        }

        @Test(
            "A turn away for longer than its lease saves nothing, and its reply is saved as interrupted by the next turn"
        )
        func lostLease() async throws {
            let first = try await lease(store)
            try await #require(throws: RecollectError.self) {
                try await first.run {
                    try await store.append([message("1")], to: scope)
                    // In the state known from the last save, in one statement.
                    try await store.append([message("2")], to: scope)
                    let reply = try await store.beginReply(
                        ConversationMessage(id: "reply", role: .assistant, text: "Once"), in: scope, maxMessages: nil)
                    try await expireLeases()
                    // Another server, and so a task outside of this turn.
                    let second = try await Task.detached { try await lease(other) }.value
                    #expect(second.token > first.token)
                    for operation in [
                        { _ = try await store.append([message("late")], to: scope) },
                        { _ = try await store.deleteMessages(["1"], in: scope.session) },
                        { try await reply.finish() },
                    ] as [@Sendable () async throws -> Void] {
                        // The first one cancels the turn. A task of its own is not canceled.
                        let error = await #expect(throws: RecollectError.self) {
                            try await Task { try await operation() }.value
                        }
                        #expect(error?.code == .leaseLost && error?.message.contains("trip") == true)
                    }
                    try await Task.detached {
                        try await second.run { try await other.append([message("3")], to: scope) }
                    }.value
                    try await store.append([message("later")], to: scope)
                }
            }
            let saved = try await other.window(of: scope, maxMessages: nil)
            #expect(saved.map(\.id) == ["1", "2", "reply", "3"])
            #expect(saved.map(\.isInterrupted) == [false, false, true, false])
            try await store.append([message("4")], to: scope)
        }

        @Test("A save and the end of its lease at the same time: the next turn sees the save, or it was refused")
        func saveDuringTakeover() async throws {
            for number in 0..<20 {
                let first = try await lease(store)
                let saving = Task {
                    try await first.run { try await store.append([message("\(number)")], to: scope) }
                }
                try await expireLeases()
                let second = try await lease(other)
                let seen = try await other.window(of: scope, maxMessages: nil).map(\.id)
                let isSaved: Bool
                do {
                    isSaved = try await saving.value.added == 1
                } catch let error as RecollectError where error.code == .leaseLost { isSaved = false }
                let after = try await other.window(of: scope, maxMessages: nil).map(\.id)
                #expect(after == seen && after.contains("\(number)") == isSaved)
                await second.release()
            }
        }

        @Test("Turns of many servers wait in order, and a server that ends lets the next one begin")
        func servers() async throws {
            let ended = PostgresHistoryStore(try PostgresAddress(url))
            let first = try await lease(ended, for: .seconds(1))
            let tokens = Locked<[Int64]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let server = PostgresHistoryStore(try PostgresAddress(url))
                        for _ in 0..<3 {
                            try await server.withLease(of: scope.session) {
                                let token = TurnLease.held.last?.token ?? 0
                                tokens.withLock { $0.append(token) }
                            }
                        }
                        server.close()
                    }
                }
                // Nothing is renewed anymore.
                ended.close()
                try await group.waitForAll()
            }
            let order = tokens.withLock { $0 }
            #expect(order.count == 18 && order == order.sorted() && Set(order).count == 18)
            #expect(order[0] > first.token)
            #expect(try await store.database.read("SELECT FROM recollect.turn_lease").count == 0)
        }
    }
#endif
