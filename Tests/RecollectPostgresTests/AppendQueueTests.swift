#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Appends of one process in groups", .needs(.postgres))
    struct AppendQueueTests {
        private let url: String
        private let store: PostgresHistoryStore

        init() async throws {
            url = try await HistoryServer.urlForLongTransactions
            store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
        }

        private func scope(_ session: String, _ agent: String = "agent") -> Scope {
            Scope(userId: "ana", sessionId: session, agentId: agent)
        }

        /// Runs work while a transaction holds locks on sessions. One append to each of them, in a known state, waits for it.
        private func blocking(
            _ sessions: [String], _ body: (PostgresConnection) async throws -> Void
        ) async throws {
            for session in sessions { try await store.append([message("0")], to: scope(session)) }
            let other = try await PostgresConnection.connect(to: PostgresAddress(url))
            let watching = try await PostgresConnection.connect(to: PostgresAddress(url))
            let lock = PostgresStatement(
                "SELECT FROM recollect.session WHERE user_id = 'ana' AND session_id = ANY ($1) FOR UPDATE",
                .byteArrays(sessions.map { Array($0.utf8) }))
            _ = try await other.run([PostgresStatement("BEGIN"), lock])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in sessions {
                    group.addTask {
                        let outcome = try await store.append([message("1")], to: scope(session))
                        #expect(outcome == AppendOutcome(added: 1))
                    }
                }
                let areWaiting = try await eventually {
                    try await watching.run(
                        """
                        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                        """
                    ).count == sessions.count
                }
                #expect(areWaiting)
                do {
                    try await body(watching)
                } catch {
                    _ = try await other.run("ROLLBACK")
                    throw error
                }
                _ = try await other.run("COMMIT")
                try await group.waitForAll()
            }
            for session in sessions {
                #expect(try await store.window(of: scope(session), maxMessages: nil).map(\.id) == ["0", "1"])
            }
        }

        @Test("Appends that wait are saved together, also with a trimmed window")
        func groups() async throws {
            try await store.append([message("0")], to: scope("c"))
            // Two appends run by themselves, and two in groups, which give up after 200 ms.
            try await blocking(["a", "b", "d", "e"]) { connection in
                let outcomes = try await withThrowingTaskGroup(of: AppendOutcome.self) { group in
                    for number in 1...20 {
                        group.addTask {
                            try await store.append(
                                [message("\(number)")], to: scope("c"), options: AppendOptions(maxMessages: 4))
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes == Array(repeating: AppendOutcome(added: 1), count: 20))
                // The numbers of the feed begin with that of the transaction.
                let transactions = try await connection.run(
                    """
                    SELECT count(DISTINCT sequence >> 21) FROM recollect.message JOIN recollect.session USING (user_id, session)
                    WHERE session_id = 'c' AND message_id <> '0'
                    """
                ).integer(0, 0)
                #expect(transactions < 20)
            }
            let all = try await store.messages(of: scope("c").session, agentId: nil, page: PageRequest(limit: 100))
            #expect(all.elements.count == 21)
            let window = try await store.window(of: scope("c"), maxMessages: nil)
            #expect(window.map(\.id) == all.elements.suffix(4).map(\.message.id))
            #expect(try await store.session(scope("c").session)?.messageCount == 21)
            let feed = try await store.changes(after: .beginning, limit: 100)
            #expect(Set(feed.map(\.cursor)).count == feed.count)
            #expect(
                feed.filter { $0.session == scope("c").session }.map(\.messageId) == all.elements.map(\.message.id))
        }

        @Test("Appends to other sessions are saved while those of some wait for another server")
        func blockedSessions() async throws {
            try await blocking(["a", "b", "d", "e"]) { _ in
                for session in ["c", "f", "c"] {
                    try await store.append([message("\(UUID())")], to: scope(session))
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask { try await store.append([message("1")], to: scope("other \(number)")) }
                    }
                    try await group.waitForAll()
                }
            }
        }

        @Test("An append of a group that fails by itself does not affect the others")
        func failures() async throws {
            try await store.append((0..<3).map { message("old \($0)") }, to: scope("c"))
            try await blocking(["a", "b", "d", "e"]) { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<10 {
                        group.addTask {
                            // The message is in the session already: its row is refused.
                            let id = number == 4 ? "old 1" : "new \(number)"
                            let outcome = try await store.append([message(id)], to: scope("c"))
                            #expect(
                                outcome == AppendOutcome(added: number == 4 ? 0 : 1, alreadyStored: number == 4 ? 1 : 0)
                            )
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await store.session(scope("c").session)?.messageCount == 12)
        }

        @Test("A canceled append that waits ends at once, and saves nothing")
        func cancellations() async throws {
            try await blocking(["a", "b", "d", "e"]) { _ in
                // Behind the append that waits for the other server.
                let waiting = Task { try await store.append([message("2")], to: scope("a")) }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                try await store.append([message("0")], to: scope("c"))
            }
        }

        @Test("64 tasks save in one session at the same time, each in its order")
        func oneSession() async throws {
            let other = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<64 {
                    group.addTask {
                        // Two servers.
                        for number in 0..<5 {
                            try await (task % 8 == 0 ? other : store).append(
                                [message("\(task).\(number)")], to: scope("c", "\(task % 3)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let all = try await store.messages(of: scope("c").session, agentId: nil, page: PageRequest(limit: 1_000))
            #expect(all.elements.count == 320)
            #expect(Set(all.elements.map(\.message.id)).count == 320)
            for task in 0..<64 {
                let own = all.elements.map(\.message.id).filter { $0.hasPrefix("\(task).") }
                #expect(own == (0..<5).map { "\(task).\($0)" })
            }
            #expect(try await store.session(scope("c").session)?.messageCount == 320)
        }

        @Test("Groups lose and repeat nothing while backends are terminated and tasks canceled", .needs(.time))
        func terminations() async throws {
            let savedCount = Locked(0)
            let termination = terminatingBackends(at: url, whenever: savedCount, through: 1_000)
            let acknowledged = Locked<[String: [String]]>([:])
            /// The messages of canceled appends whose outcome nobody knows.
            let unknown = Locked<Set<String>>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<32 {
                    group.addTask {
                        let session = "session \(task % 5)"
                        for number in 0..<40 {
                            let id = "\(task).\(number)"
                            let append = Task {
                                try await store.append([message(id, seconds: Double(number))], to: scope(session))
                            }
                            if (task + number) % 9 == 0 {
                                // At different times: before, while and after the append waits.
                                for _ in 0..<number { await Task.yield() }
                                append.cancel()
                            }
                            do {
                                let outcome = try await append.value
                                #expect(outcome.added + outcome.alreadyStored == 1)
                                acknowledged.withLock { $0[session, default: []].append(id) }
                            } catch is CancellationError {
                                // It has saved nothing.
                            } catch let error as RecollectError where error.code == .unavailable && append.isCancelled {
                                unknown.withLock { _ = $0.insert(id) }
                            }
                            savedCount.withLock { $0 += 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await termination.value > 10)
            for session in 0..<5 {
                let name = "session \(session)"
                let all = try await store.messages(
                    of: scope(name).session, agentId: nil, page: PageRequest(limit: 2_000))
                let ids = all.elements.map(\.message.id)
                let saved = acknowledged.withLock { $0[name] ?? [] }
                #expect(Set(ids).isSuperset(of: saved))
                #expect(Set(ids).subtracting(unknown.withLock { $0 }).subtracting(saved).isEmpty)
                #expect(ids.count == Set(ids).count)
                #expect(try await store.session(scope(name).session)?.messageCount == ids.count)
                for task in stride(from: session, to: 32, by: 5) {
                    let own = ids.filter { $0.hasPrefix("\(task).") }.compactMap {
                        Int($0.drop { $0 != "." }.dropFirst())
                    }
                    #expect(own == own.sorted())
                }
            }
        }

        @Test("An append canceled after the answer to its commit was lost is not reported as unsaved", .needs(.time))
        func lostAnswers() async throws {
            let port = try #require(url.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) })
            let proxy = try CuttingProxy(before: port)
            let address = try PostgresAddress(url.replacing(":\(port)/", with: ":\(proxy.port)/"))
            let through = PostgresHistoryStore(address, feedWaitingTime: .seconds(30))
            var (saved, unsaved) = (Set<String>(), Set<String>())
            for round in 0..<40 {
                // Two appends run by themselves, and the others in groups.
                let ids = (0..<8).map { "\(round).\($0)" }
                for index in ids.indices {
                    try await through.append([message("before \(round)")], to: scope("session \(index)"))
                }
                let count = proxy.count
                proxy.cutNext(.toClient, after: round * 4)
                let appends = ids.enumerated().map { index, id in
                    Task { try await through.append([message(id)], to: scope("session \(index)")) }
                }
                while proxy.count == count { await Task.yield() }
                appends.forEach { $0.cancel() }
                for (id, append) in zip(ids, appends) {
                    do {
                        _ = try await append.value
                        saved.insert(id)
                    } catch is CancellationError {
                        unsaved.insert(id)
                    } catch let error as RecollectError where error.code == .unavailable {
                        // Nobody knows.
                    }
                }
            }
            var stored: Set<String> = []
            for index in 0..<8 {
                let all = try await store.messages(
                    of: scope("session \(index)").session, agentId: nil, page: PageRequest(limit: 1_000))
                stored.formUnion(all.elements.map(\.message.id))
            }
            #expect(stored.isSuperset(of: saved))
            #expect(stored.isDisjoint(with: unsaved))
            #expect(!saved.isEmpty)
        }

        @Test("The store of a server that is not reachable fails all waiting appends")
        func closedStore() async throws {
            try await store.append([message("0")], to: scope("c"))
            store.close()
            await withTaskGroup(of: Void.self) { group in
                for number in 1...10 {
                    group.addTask {
                        let error = await #expect(throws: RecollectError.self) {
                            try await store.append([message("\(number)")], to: scope("c"))
                        }
                        #expect(error?.code == .unavailable)
                    }
                }
            }
        }
    }
#endif
