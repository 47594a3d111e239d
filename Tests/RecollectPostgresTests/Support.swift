#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting

    @testable import RecollectPostgres

    extension Need {
        /// The programs of PostgreSQL.
        static let postgres = Need("PostgreSQL: `apt-get install postgresql`") { PostgresTestServer.isInstalled }
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
    }

    /// A server for histories alone: a change feed waits for the transactions of all databases of its server, and other tests have
    /// long ones.
    enum HistoryServer {
        private static let server = Task {
            let server = try await PostgresTestServer.start()
            let first = try await server.createDatabase()
            let store = PostgresHistoryStore(try PostgresAddress(first))
            try await store.migrate()
            // A database with connections cannot be copied. The server waits for their end.
            store.close()
            let name = first.split(separator: "/").last.map { String($0.prefix { $0 != "?" }) } ?? ""
            return (server: server, template: name)
        }

        /// The URL of a new database with the tables of a history, a copy of the first one.
        static var url: String {
            get async throws {
                let (server, template) = try await server.value
                let name = "copy_\(UUID().uuidString.lowercased().prefix(8))"
                try await server.execute("CREATE DATABASE \(name) TEMPLATE \(template) OWNER recollect")
                return server.url(database: name)
            }
        }
    }

    /// Waits until a condition is met, for at most 10 seconds. Returns whether it was.
    func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<500 {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
#endif
