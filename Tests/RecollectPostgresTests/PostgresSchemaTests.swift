#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    /// The rules that keep the schema distributable by user: see docs/scale.md.
    @Suite("The schema in PostgreSQL", .needs(.postgres))
    struct PostgresSchemaTests {
        @Test("Keys begin with the user, and no number is of a sequence")
        func keys() async throws {
            let connection = try await PostgresConnection.connect(to: PostgresAddress(try await HistoryServer.url))
            let keys = try await connection.run(
                """
                SELECT c.relname, coalesce(a.attname, '') FROM pg_index AS i
                LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                JOIN pg_class AS c ON c.oid = i.indrelid
                WHERE i.indisunique AND c.relnamespace = 'recollect'::regnamespace
                """)
            let others = (0..<keys.count).filter { keys.text($0, 1) != "user_id" }.map { keys.text($0, 0) }
            #expect(Set(others) == ["outcome", "feed", "migration"])
            #expect(keys.count > 40)
            let sequences = try await connection.run(
                "SELECT FROM pg_class WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'S'")
            #expect(sequences.count == 0)
        }

        @Test("Each statement names the user for each of its tables, and takes no advisory lock")
        func statements() async throws {
            let statements = try await statementsOfAllChecks()
            #expect(statements.count > 100)
            for statement in statements {
                let words = Set(statement.lowercased().split { !$0.isLetter && $0 != "_" })
                #expect(
                    words.isDisjoint(with: ["nextval", "notify", "pg_notify", "listen"])
                        && !words.contains { $0.hasPrefix("pg_advisory") || $0.hasPrefix("pg_try_advisory") },
                    "\(statement)")
                // The change feed is of all users.
                guard !statement.contains("recollect.feed_end()") else { continue }
                let tables = statement.matches(of: /recollect\.(\w+)/).filter { Self.tables.contains(String($0.1)) }
                let users = statement.components(separatedBy: "user_id").count - 1
                #expect(users >= tables.count, "\(statement)")
            }
        }

        @Test("A check reports a setting that hides the server's warning about a synchronous standby")
        func hiddenWarning() async throws {
            let url = try await HistoryServer.url
            let connection = try await PostgresConnection.connect(to: PostgresAddress(url))
            let name = try await connection.run("SELECT current_database()").text(0, 0)
            _ = try await connection.run("ALTER DATABASE \(name) SET client_min_messages = error")
            let problems = try await PostgresHistoryStore(try PostgresAddress(url)).check().problems
            #expect(problems.contains { $0.message.contains("client_min_messages") })
        }

        /// The tables with rows of users.
        private static let tables: Set<String> = [
            "session", "tag", "scope", "message", "compaction", "turn_queue", "turn_lease", "streaming_reply",
            "attachment",
            "attachment_part", "attachment_use", "change",
        ]

        /// Returns the different statements that read or write rows during the conformance suite, from the log of a server.
        private func statementsOfAllChecks() async throws -> Set<String> {
            let mark = "@statement@"
            let server = try await PostgresTestServer.start(
                PostgresTestServer.Configuration(settings: [
                    "log_statement = 'all'", "log_line_prefix = '\(mark)'", "log_parameter_max_length = 0",
                    "max_connections = 300",
                ]))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, check) in HistoryStoreConformance.checks.enumerated() {
                    if index >= 8 { try await group.next() }
                    group.addTask {
                        try await check.run {
                            let url = try await server.createDatabase()
                            let store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
                            try await store.migrate()
                            return store
                        }
                    }
                }
                try await group.waitForAll()
            }
            let log = try String(contentsOf: server.folder.appendingPathComponent("log"), encoding: .utf8)
            try await server.stop(.kill)
            let beginning = "LOG:  execute <unnamed>: "
            return Set(
                log.components(separatedBy: mark).filter { $0.hasPrefix(beginning) }
                    .map { $0.dropFirst(beginning.count).trimmingCharacters(in: .whitespacesAndNewlines) }
                    .filter { $0.contains(/^(WITH|SELECT|INSERT|UPDATE|DELETE)\b/) && $0.contains("recollect.") }
                    .filter { !$0.contains("recollect.migration") })
        }
    }
#endif
