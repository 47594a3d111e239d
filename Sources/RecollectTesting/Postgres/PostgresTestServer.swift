#if os(macOS) || os(Linux)
    import Foundation
    import RecollectCore

    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// A PostgreSQL server of its own for a test, from the installed programs, in a temporary folder.
    ///
    /// `start` gives a running server, and `createDatabase` the URL of an empty database for each test. `startStandby` gives a copy that
    /// follows it, and `promote` makes the copy the primary.
    ///
    /// It listens on a free port of 127.0.0.1 and ends with the process, or with the last reference. It needs no root; as root, it
    /// runs as the user `postgres`, because PostgreSQL refuses to run as root.
    public final class PostgresTestServer: Sendable {
        /// The settings of a server.
        public struct Configuration: Sendable {
            /// Whether commits are durable: `fsync`. Without it, tests are several times as fast.
            public var isDurable: Bool
            /// Lines for `postgresql.conf`, such as `max_connections = 20`.
            public var settings: [String]
            /// The certificate of the server with its private key, both as PEM; `nil` for a server without TLS.
            public var certificate: (certificate: String, key: String)?

            /// Creates settings.
            public init(
                isDurable: Bool = false, settings: [String] = [], certificate: (certificate: String, key: String)? = nil
            ) {
                self.isDurable = isDurable
                self.settings = settings
                self.certificate = certificate
            }
        }

        /// A way to end a server.
        public enum End: Sendable {
            /// Ends all connections and writes everything, as an administrator would.
            case fast
            /// Kills all processes, as a power loss of the server would.
            case kill
        }

        /// The password of the user `recollect`, who owns all databases.
        public static let password = "recollect test"

        /// The port on 127.0.0.1.
        public let port: Int
        /// The folder with the data, the socket and the log, removed at the end.
        public let folder: URL
        private let programs: PostgresPrograms
        private let process = Locked<Process?>(nil)
        /// The name of a standby for its primary.
        private var standbyName: String { "standby_\(port)" }

        /// Whether the programs of PostgreSQL are installed.
        public static var isInstalled: Bool { PostgresPrograms.found != nil }

        private init(port: Int, folder: URL, programs: PostgresPrograms) {
            self.port = port
            self.folder = folder
            self.programs = programs
        }

        deinit {
            try? end(.kill)
            // Every name in it is ours.
            try? FileManager.default.removeItem(at: folder)
        }

        /// Creates and starts a server. Takes about two seconds, and runs on a thread of Dispatch.
        /// - Throws: `unavailable` if PostgreSQL is not installed, with the way to install it; `inputOutput` with the end of its log
        ///   if it does not start.
        public static func start(_ configuration: Configuration = Configuration()) async throws -> PostgresTestServer {
            try await DispatchQueue(label: "recollect.postgres.testing").run { () throws(RecollectError) in
                try rethrowing("create") {
                    let programs = try PostgresPrograms.require()
                    let folder = try programs.makeFolder()
                    let server = PostgresTestServer(port: try freePort(), folder: folder, programs: programs)
                    try server.create(configuration)
                    try server.launch()
                    return server
                }
            }
        }

        /// Creates and starts a standby of this server: a copy with all its databases, following it by streaming replication.
        ///
        /// Takes about two seconds, and runs on a thread of Dispatch. The standby can be read. It ends with its own last reference.
        /// - Parameter isSynchronous: Whether commits of this server then wait until the standby has them.
        /// - Throws: As `start(_:)`.
        public func startStandby(isSynchronous: Bool = true) async throws -> PostgresTestServer {
            try await DispatchQueue(label: "recollect.postgres.testing").run { [self] () throws(RecollectError) in
                try Self.rethrowing("copy") {
                    let standby = PostgresTestServer(
                        port: try Self.freePort(), folder: try programs.makeFolder(), programs: programs)
                    try programs.run(
                        "pg_basebackup", "-h", folder.path, "-p", "\(port)", "-U", "postgres", "-D", standby.data.path,
                        "--checkpoint=fast", "--no-sync")
                    try standby.configure([
                        "port = \(standby.port)", "unix_socket_directories = '\(standby.folder.path)'",
                        """
                        primary_conninfo = 'host=\(folder.path) port=\(port) user=postgres application_name=\(standby.standbyName)'
                        """,
                        "wal_retrieve_retry_interval = '100ms'",
                    ])
                    try programs.write("", to: standby.signalFile)
                    try standby.launch()
                    if isSynchronous {
                        try psql("ALTER SYSTEM SET synchronous_standby_names = '\(standby.standbyName)'")
                        try psql("SELECT pg_reload_conf()")
                    }
                    return standby
                }
            }
        }

        /// Ends the recovery of a standby: it no longer follows its primary, and accepts writes. Returns after the promotion.
        ///
        /// End the primary before: otherwise, both accept writes.
        public func promote() async throws {
            try await execute("SELECT pg_promote()")
        }

        /// The URL of a database, for the user `recollect`.
        /// - Parameters:
        ///   - database: The name of the database.
        ///   - standbys: The servers to try after this one.
        public func url(database: String = "postgres", standbys: [PostgresTestServer] = []) -> String {
            let password = Self.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let hosts = ([self] + standbys).map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
            return "postgres://recollect:\(password)@\(hosts)/\(database)"
        }

        /// Creates an empty database, and returns its URL.
        /// - Parameters:
        ///   - name: The name of the database, of letters, digits and `_`; `nil` for a new one.
        ///   - standbys: The servers to try after this one.
        public func createDatabase(
            named name: String? = nil, standbys: [PostgresTestServer] = []
        ) async throws -> String {
            let name =
                name ?? "test_" + UUID.random().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
            try await execute("CREATE DATABASE \(name) OWNER recollect")
            return url(database: name, standbys: standbys)
        }

        /// Runs SQL by `psql` as the superuser, over the socket, and returns the output: a line for each row, with `|` between
        /// columns.
        @discardableResult
        public func execute(_ sql: String, database: String = "postgres") async throws -> String {
            try await DispatchQueue(label: "recollect.postgres.testing").run { [self] () throws(RecollectError) in
                try Self.rethrowing("run a statement of") { try psql(sql, database: database) }
            }
        }

        /// Ends the server. Its data stays until the last reference ends. Does nothing if it is not running.
        public func stop(_ end: End = .fast) async throws {
            try await DispatchQueue(label: "recollect.postgres.testing").run { [self] () throws(RecollectError) in
                try Self.rethrowing("stop") { try self.end(end) }
            }
        }

        /// Starts an ended server again, with its data.
        public func restart() async throws {
            try await DispatchQueue(label: "recollect.postgres.testing").run { [self] () throws(RecollectError) in
                try Self.rethrowing("restart") {
                    try end(.fast)
                    try launch()
                }
            }
        }

        /// The last lines of the server's log.
        public var log: String {
            let text = (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").suffix(20).joined(separator: "\n")
        }

        // MARK: - Processes

        private var data: URL { folder.appendingPathComponent("data") }

        /// The file that makes the server a standby. A promotion removes it.
        private var signalFile: URL { data.appendingPathComponent("standby.signal") }

        @discardableResult
        private func psql(_ sql: String, database: String = "postgres") throws -> String {
            try programs.run(
                "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder.path, "-p", "\(port)", "-U",
                "postgres", "-d", database, "-c", sql)
        }

        private func create(_ configuration: Configuration) throws {
            try programs.run(
                "initdb", "--pgdata", data.path, "--username", "postgres", "--encoding", "UTF8", "--locale", "C",
                "--auth-local", "trust", "--auth-host", "scram-sha-256", "--no-sync", "--no-instructions")
            let settings =
                [
                    "listen_addresses = '127.0.0.1'", "port = \(port)", "unix_socket_directories = '\(folder.path)'",
                    "password_encryption = 'scram-sha-256'", "max_connections = 100",
                    "fsync = \(configuration.isDurable)",
                    "full_page_writes = \(configuration.isDurable)", "shared_buffers = '32MB'", "autovacuum = off",
                ] + (try certificateSettings(configuration)) + configuration.settings
            try configure(settings)
        }

        /// Appends lines to `postgresql.conf`. Later lines replace earlier ones.
        private func configure(_ settings: [String]) throws {
            let file = data.appendingPathComponent("postgresql.conf")
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("\n\(settings.joined(separator: "\n"))\n".utf8))
        }

        /// Writes the certificate, and returns the settings for it.
        private func certificateSettings(_ configuration: Configuration) throws -> [String] {
            guard let certificate = configuration.certificate else { return [] }
            for (name, text) in [("server.crt", certificate.certificate), ("server.key", certificate.key)] {
                try programs.write(text, to: data.appendingPathComponent(name))
            }
            return ["ssl = on"]
        }

        private func launch() throws {
            let process = try programs.serve(
                "postgres", "-D", data.path, in: folder)
            self.process.withLock { $0 = process }
            for _ in 0..<600 {
                guard process.isRunning else { break }
                // The eighth line is the status (PostgreSQL source, `src/include/utils/pidfile.h`).
                let lines = (try? String(contentsOf: data.appendingPathComponent("postmaster.pid"), encoding: .utf8))?
                    .split(separator: "\n", omittingEmptySubsequences: false)
                if let lines, lines.count > 7, lines[7].trimmingCharacters(in: .whitespaces) == "ready" {
                    if !FileManager.default.fileExists(atPath: signalFile.path) { try setUpRole() }
                    return
                }
                usleep(50_000)
            }
            try end(.kill)
            throw RecollectError(
                .inputOutput, "the PostgreSQL server did not start within 30 seconds; its log:\n\(log)")
        }

        private func setUpRole() throws {
            let role = "recollect"
            try psql(
                """
                DO $$ BEGIN
                  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(role)') THEN
                    CREATE ROLE \(role) LOGIN CREATEDB CREATEROLE PASSWORD '\(Self.password)';
                  END IF;
                END $$
                """)
        }

        private func end(_ end: End) throws {
            let process = self.process.withLock { process in
                defer { process = nil }
                return process
            }
            guard let process else { return }
            let text = (try? String(contentsOf: data.appendingPathComponent("postmaster.pid"), encoding: .utf8)) ?? ""
            if let pid = text.split(separator: "\n").first.flatMap({ pid_t($0) }), pid > 1 {
                // Without the postmaster, the other processes end, too. SIGINT is the fast shutdown.
                kill(pid, end == .fast ? SIGINT : SIGKILL)
            } else {
                process.terminate()
            }
            process.waitUntilExit()
            if end == .kill { try? FileManager.default.removeItem(at: data.appendingPathComponent("postmaster.pid")) }
        }

        /// Returns an unused port of 127.0.0.1.
        static func freePort() throws -> Int {
            #if canImport(Glibc)
                let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                let handle = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            defer { close(handle) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard bind(handle, address, length) == 0 else { return Int32(-1) }
                    return getsockname(handle, address, &length)
                }
            }
            guard status == 0 else { throw RecollectError(.inputOutput, "no port of 127.0.0.1 is free") }
            return Int(UInt16(bigEndian: address.sin_port))
        }

        private static func rethrowing<Value>(
            _ action: String, _ body: () throws -> Value
        ) throws(RecollectError) -> Value {
            do {
                return try body()
            } catch let error as RecollectError {
                throw error
            } catch {
                throw RecollectError(.inputOutput, "cannot \(action) a PostgreSQL server", cause: error)
            }
        }
    }
#endif
