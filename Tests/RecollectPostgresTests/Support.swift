#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting

    @testable import RecollectPostgres

    extension Need {
        /// The programs of PostgreSQL.
        static let postgres = Need("PostgreSQL: `apt-get install postgresql`") { PostgresTestServer.isInstalled }
        /// PgBouncer, and the programs of PostgreSQL.
        static let pgBouncer = Need("PgBouncer: `apt-get install pgbouncer postgresql`") {
            PgBouncerTestServer.isInstalled && PostgresTestServer.isInstalled
        }
    }

    /// The server of all tests without faults. Each test has a database of its own.
    enum SharedServer {
        private static let server = Task {
            // A server looks for a deadlock only after this time, by default after a second.
            try await PostgresTestServer.start(
                PostgresTestServer.Configuration(settings: ["deadlock_timeout = '20ms'"]))
        }

        /// The URL of a new database.
        static var url: String {
            get async throws { try await server.value.createDatabase() }
        }

        /// Returns the URL of a new database with an encoding.
        static func url(encoding: String) async throws -> String {
            let server = try await server.value
            let name = "encoding_\(UUID().uuidString.lowercased().prefix(8))"
            try await server.execute(
                "CREATE DATABASE \(name) ENCODING '\(encoding)' LOCALE 'C' TEMPLATE template0 OWNER recollect")
            return server.url(database: name)
        }
    }

    /// A server for histories. A change feed waits for the transactions of all databases of its server, so tests with long
    /// transactions have another one.
    final class HistoryServer: Sendable {
        private static let plain = HistoryServer()
        private static let busy = HistoryServer()
        private static let pooled = HistoryServer()

        /// The URL of a new database with the tables of a history.
        static var url: String { get async throws { try await plain.makeDatabase() } }

        /// The URL of a new database with the tables of a history, for a test with long transactions.
        static var urlForLongTransactions: String { get async throws { try await busy.makeDatabase() } }

        /// The URL of a new database with the tables of a history, through PgBouncer in transaction mode.
        static var urlThroughPgBouncer: String {
            get async throws {
                let url = try await pooled.makeDatabase()
                return try await bouncer.value.url(for: url)
            }
        }

        private static let bouncer = Task {
            try await PgBouncerTestServer.start(before: pooled.server.value.server)
        }

        private let server = Task {
            // Each test has several stores with up to 10 connections.
            let server = try await PostgresTestServer.start(
                PostgresTestServer.Configuration(settings: ["max_connections = 500"]))
            let first = try await server.createDatabase()
            let store = PostgresHistoryStore(try PostgresAddress(first))
            try await store.migrate()
            // A database with connections cannot be copied. The server waits for their end.
            store.close()
            let name = first.split(separator: "/").last.map { String($0.prefix { $0 != "?" }) } ?? ""
            return (server: server, template: name)
        }

        /// Copies the first database.
        private func makeDatabase() async throws -> String {
            let (server, template) = try await server.value
            let name = "copy_\(UUID().uuidString.lowercased().prefix(8))"
            try await server.execute("CREATE DATABASE \(name) TEMPLATE \(template) OWNER recollect")
            return server.url(database: name)
        }
    }

    extension PostgresHistoryStore {
        convenience init(
            _ address: PostgresAddress, feedWaitingTime: Duration = .seconds(1),
            replyLeaseDuration: Duration = .seconds(30)
        ) {
            self.init(
                address, PostgresConfiguration(feedTimeout: feedWaitingTime, replyLeaseDuration: replyLeaseDuration))
        }
    }

    /// Returns a message of the user with a string of its own.
    func message(_ id: String, seconds: Double = 0) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .user, text: "text of \(id)",
            timestamp: Date(timeIntervalSince1970: 1_700_000_000 + seconds))
    }

    /// Terminates a random backend of a database after each tenth save. Returns the number of terminated ones.
    func terminatingBackends(
        at url: String, whenever savedCount: Locked<Int>, through limit: Int
    ) -> Task<Int, any Error> {
        Task {
            let connection = try await PostgresConnection.connect(to: PostgresAddress(url))
            var count = 0
            // Only after progress: otherwise, no connection might live long enough on a slow machine.
            for target in stride(from: 10, to: limit, by: 10) {
                while savedCount.withLock({ $0 }) < target { try await Task.sleep(for: .milliseconds(1)) }
                count += try await connection.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1
                    """
                ).count
            }
            return count
        }
    }

    /// Waits until a condition is met, for at most a minute. Returns whether it was.
    func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<3_000 {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
#endif
