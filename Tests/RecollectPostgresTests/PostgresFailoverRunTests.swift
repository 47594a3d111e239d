#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Servers sharing a history during a failover", .needs(.postgres), .needs(.processes), .needs(.time))
    struct PostgresFailoverRunTests {
        /// The number of turns. `make failover` sets it.
        private static let turnCount =
            ProcessInfo.processInfo.environment["RECOLLECT_TURNS"].flatMap(Int.init) ?? 240

        private static let python = ["/usr/bin/python3", "/opt/homebrew/bin/python3", "/usr/local/bin/python3"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        @Test(
            "Three servers run turns while connections are killed and the standby is promoted: a separate checker finds no loss",
            .needs(Need("Python") { python != nil }))
        func run() async throws {
            let folder = try TemporaryFolder()
            let primary = try await PostgresTestServer.start()
            let standby = try await primary.startStandby()
            let url = try await primary.createDatabase(named: "chats", standbys: [standby])
            let store = PostgresHistoryStore(try PostgresAddress(url))
            try await store.migrate()
            let isOver = Locked(false)
            let feed = Self.follow(store, until: isOver)
            let (tasks, sessions) = Self.turnCount < 1_000 ? (4, 6) : (8, 50)
            let turns = (Self.turnCount + 3 * tasks - 1) / (3 * tasks)
            let workers = try (0..<3).map { number in
                try Worker(["postgres-turns", url, "w\(number)", "\(sessions)", "\(tasks)", "\(turns)"])
            }
            let faults = Task {
                try await Self.interrupt(
                    primary, standby, failoverAfter: 3 * tasks * turns, until: 2 * 3 * tasks * turns)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, worker) in workers.enumerated() {
                    group.addTask {
                        let lines = await worker.finish()
                        #expect(worker.endedWell)
                        try folder.write("\(number).turns", Self.text(lines))
                    }
                }
                try await group.waitForAll()
            }
            faults.cancel()
            let killedCount = try await faults.value
            #expect(killedCount > 3)
            #expect(try await standby.execute("SELECT pg_is_in_recovery()") == "f")
            isOver.withLock { $0 = true }
            try folder.write("feed", Self.text(try await feed.value))
            let (status, output) = try await Self.check(folder.url, standby.url(database: "chats"))
            #expect(status == 0, "\(output)")
            print("\(killedCount) connections killed, one failover: \(output)")
        }

        /// Kills connections of the primary, and of the promoted standby after the failover, until it is canceled. Returns the number of
        /// killed connections.
        /// - Parameter count: The number of messages at the failover.
        private static func interrupt(
            _ primary: PostgresTestServer, _ standby: PostgresTestServer, failoverAfter count: Int, until end: Int
        ) async throws -> Int {
            var (current, killedCount, messageCount) = (primary, 0, 0)
            while !Task.isCancelled, messageCount < end {
                killedCount +=
                    Int(
                        try await current.execute(
                            """
                            SELECT count(pg_terminate_backend(pid)) FROM (
                              SELECT pid FROM pg_stat_activity WHERE usename = 'recollect' ORDER BY random() LIMIT 1
                            ) AS chosen
                            """)) ?? 0
                messageCount =
                    Int(try await current.execute("SELECT count(*) FROM recollect.message", database: "chats")) ?? 0
                if current === primary, messageCount >= count {
                    try await primary.stop(.kill)
                    try await standby.promote()
                    current = standby
                }
                // Most turns must end.
                try? await Task.sleep(for: .milliseconds(100))
            }
            return killedCount
        }

        /// Reads the change feed to its end after the run. Returns a line for each added message.
        private static func follow(_ store: PostgresHistoryStore, until isOver: Locked<Bool>) -> Task<
            [String], any Error
        > {
            Task {
                var cursor = ChangeCursor(sequence: 0)
                var lines: [String] = []
                while true {
                    let isLast = isOver.withLock { $0 }
                    do {
                        let changes = try await store.changes(after: cursor, limit: 100)
                        for change in changes where change.kind == .messageAdded {
                            let message = "\(change.session.sessionId) \(change.messageId ?? "")"
                            lines.append("added \(change.cursor.sequence) \(message)")
                        }
                        cursor = changes.last?.cursor ?? cursor
                        if isLast, changes.isEmpty { return lines }
                    } catch let error as RecollectError where !isLast && error.code == .unavailable {}
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        }

        private static func text(_ lines: [String]) -> String {
            lines.map { $0 + "\n" }.joined()
        }

        /// Runs the checker.
        private static func check(_ folder: URL, _ url: String) async throws -> (status: Int32, output: String) {
            let script = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Scripts/check-turns.py")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(python))
            process.arguments = [script.standardized.path, folder.path, "psql", url]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            return await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                    process.waitUntilExit()
                    continuation.resume(returning: (process.terminationStatus, text))
                }
            }
        }
    }
#endif
