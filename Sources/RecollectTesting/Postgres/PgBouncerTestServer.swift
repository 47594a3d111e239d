#if os(macOS) || os(Linux)
    import Foundation
    import RecollectCore

    /// PgBouncer in transaction mode before a `PostgresTestServer`, from the installed program: each transaction may run on another
    /// connection of the server.
    ///
    /// It ends with the process, or with the last reference.
    public final class PgBouncerTestServer: Sendable {
        /// The port on 127.0.0.1.
        public let port: Int
        private let server: PostgresTestServer
        private let folder: URL
        private let process: Process

        /// The program, from `PATH` or a folder of administrators.
        private static let program: String? = {
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let folders =
                path.split(separator: ":").map(String.init) + ["/usr/sbin", "/opt/homebrew/bin", "/usr/local/bin"]
            return folders.map { $0 + "/pgbouncer" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        }()

        /// Whether PgBouncer is installed.
        public static var isInstalled: Bool { program != nil }

        private init(port: Int, server: PostgresTestServer, folder: URL, process: Process) {
            self.port = port
            self.server = server
            self.folder = folder
            self.process = process
        }

        deinit {
            process.terminate()
            process.waitUntilExit()
            // Every name in it is ours.
            try? FileManager.default.removeItem(at: folder)
        }

        /// Starts PgBouncer. Runs on a thread of Dispatch.
        /// - Parameters:
        ///   - server: The server. It must be running.
        ///   - connectionCount: The maximum number of connections to each database.
        /// - Throws: `unavailable` if PgBouncer is not installed, with the way to install it; `inputOutput` with its log if it does not
        ///   start.
        public static func start(
            before server: PostgresTestServer, connectionCount: Int = 4
        ) async throws -> PgBouncerTestServer {
            try await DispatchQueue(label: "recollect.postgres.testing").run { () throws(RecollectError) in
                do {
                    return try make(server, connectionCount)
                } catch let error as RecollectError {
                    throw error
                } catch {
                    throw RecollectError(.inputOutput, "cannot start PgBouncer", cause: error)
                }
            }
        }

        private static func make(_ server: PostgresTestServer, _ connectionCount: Int) throws -> PgBouncerTestServer {
            guard let program else {
                throw RecollectError(
                    .unavailable,
                    "PgBouncer is not installed; install it with `apt-get install pgbouncer` or `brew install pgbouncer`"
                )
            }
            let programs = try PostgresPrograms.require()
            let folder = try programs.makeFolder()
            let port = try PostgresTestServer.freePort()
            let users = folder.appendingPathComponent("users.txt")
            try programs.write("\"recollect\" \"\(PostgresTestServer.password)\"\n", to: users)
            let settings = folder.appendingPathComponent("pgbouncer.ini")
            try programs.write(
                """
                [databases]
                * = host=127.0.0.1 port=\(server.port)
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = \(port)
                unix_socket_dir =
                auth_type = scram-sha-256
                auth_file = \(users.path)
                pool_mode = transaction
                default_pool_size = \(connectionCount)
                max_client_conn = 1000
                server_idle_timeout = 5

                """, to: settings)
            let process = try programs.serve(program, settings.path, in: folder)
            let bouncer = PgBouncerTestServer(port: port, server: server, folder: folder, process: process)
            let log = folder.appendingPathComponent("log")
            for _ in 0..<200 where process.isRunning {
                // Logged after it listens.
                let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                if text.contains("process up") { return bouncer }
                usleep(50_000)
            }
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw RecollectError(.inputOutput, "PgBouncer did not start within 10 seconds; its log:\n\(text)")
        }

        /// Returns the URL of a database through PgBouncer, from its URL at the server.
        public func url(for url: String) -> String {
            url.replacingOccurrences(of: "@127.0.0.1:\(server.port)/", with: "@127.0.0.1:\(port)/")
        }
    }
#endif
