#if Postgres
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting

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

    /// Waits until a condition is met, for at most 10 seconds. Returns whether it was.
    func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<500 {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
#endif
