#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Addresses of PostgreSQL servers")
    struct PostgresAddressTests {
        @Test(
            "Certificates are verified unless all hosts are on this machine or the URL says otherwise",
            arguments: [
                ("postgres://app@db.example.com/history", "verify-full"),
                ("postgres://app@10.0.0.1/history", "verify-full"),
                ("postgres://app@localhost,db.example.com/history", "verify-full"),
                ("postgres://app@db.example.com/history?sslmode=require", "require"),
                ("host=db.example.com dbname=history sslmode=disable", "disable"),
                ("postgres://app@localhost/history", "prefer"), ("postgres://app@127.0.0.1:6432/history", "prefer"),
                ("postgres:///history?host=/var/run/postgresql", "prefer"), ("postgres:///history", "prefer"),
            ])
        func verification(url: String, mode: String) throws {
            #expect(try PostgresAddress(url).options["sslmode"] == mode)
        }

        @Test("The description has hosts, ports and the database, and never a password")
        func description() throws {
            let several = try PostgresAddress("postgres://app:secret@db1,db2:6432/history")
            #expect(several.description == "db1:5432,db2:6432/history")
            #expect(
                try PostgresAddress("host=db1,db2 port=6432 dbname=h password=secret").description
                    == "db1:6432,db2:6432/h")
            #expect(several.options["target_session_attrs"] == "read-write")
        }

        @Test(
            "An invalid URL is refused without its password",
            arguments: [
                "postgres://app:secret@[::1/h", "secret", "nonsense=secret", "postgres://app:x/secret@db/h",
                "postgres://app:12/secret@db/h", "postgres://app:x@secret@db/h", "postgres://app:x?y/secret@db/h",
                "postgres://db:secret/h",
            ])
        func invalid(url: String) {
            let error = #expect(throws: RecollectError.self) { try PostgresAddress(url) }
            #expect(error?.code == .invalidArgument && error?.message.contains("secret") == false)
        }

        @Test("A wrong password, user, database, port, host or certificate is a clear error", .needs(.postgres))
        func refusals() async throws {
            let url = try await SharedServer.url
            func error(_ url: String) async throws -> RecollectError {
                let address = try PostgresAddress(url)
                let failure = await #expect(throws: PostgresFailure.self, "\(url)") {
                    try await PostgresConnection.connect(to: address)
                }
                return (failure ?? PostgresFailure(message: "")).error(at: address.description)
            }
            let password = try await error(url.replacing("recollect%20test", with: "wrong"))
            #expect(password.code == .permissionDenied && password.message.contains("password"), "\(password)")
            let user = try await error(url.replacing("//recollect:", with: "//nobody:"))
            #expect(user.code == .permissionDenied && user.message.contains("nobody"), "\(user)")
            let database = try await error(url.replacing("/test_", with: "/missing_"))
            #expect(database.code == .notFound && database.message.contains("does not exist"), "\(database)")
            let port = try await error("postgres://recollect@127.0.0.1:1/history")
            #expect(port.code == .unavailable && port.message.contains("127.0.0.1:1"), "\(port)")
            let host = try await error("postgres://recollect@no-such-host.invalid/history?sslmode=prefer")
            #expect(host.code == .unavailable && host.message.contains("no-such-host"), "\(host)")
            let plain = try await error(url + "?sslmode=require")
            #expect(plain.code == .unavailable && plain.message.contains("does not support SSL"), "\(plain)")
        }

        @Test("A server's certificate is verified with its name, and large values pass through TLS", .needs(.postgres))
        func certificates() async throws {
            let server = try await PostgresTestServer.start(
                PostgresTestServer.Configuration(certificate: (certificate: certificate, key: key)))
            let root = server.folder.appendingPathComponent("root.crt")
            try Data(certificate.utf8).write(to: root)
            func connect(host: String, _ options: String) async throws -> PostgresConnection {
                let url = server.url().replacing("127.0.0.1", with: host)
                return try await PostgresConnection.connect(to: PostgresAddress("\(url)?\(options)"))
            }
            let connection = try await connect(host: "localhost", "sslmode=verify-full&sslrootcert=\(root.path)")
            #expect(try await connection.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").boolean(0, 0))
            let large = [UInt8](repeating: 0xCD, count: 5 << 20)
            let results = try await connection.run(
                (0..<3).map { _ in PostgresStatement("SELECT $1::bytea", .bytes(large)) })
            #expect(results.count == 3 && results.allSatisfy { $0.bytes(0, 0) == large })
            for (host, options, reason) in [
                ("127.0.0.1", "sslmode=verify-full&sslrootcert=\(root.path)", "does not match host name"),
                ("localhost", "sslmode=verify-full&sslrootcert=/nonexistent", "root certificate file"),
            ] {
                let failure = await #expect(throws: PostgresFailure.self) {
                    try await connect(host: host, options)
                }
                #expect(failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
                #expect(failure?.error(at: "server").code == .unavailable)
            }
        }

        @Test("Of several hosts, the first one that works is used", .needs(.postgres))
        func severalHosts() async throws {
            let url = try await SharedServer.url
            let host = try #require(url.firstMatch(of: /127\.0\.0\.1:(\d+)/))
            let several = url.replacing(host.0, with: "127.0.0.1:1,127.0.0.1:\(host.1)")
            let connection = try await PostgresConnection.connect(to: PostgresAddress(several))
            #expect(try await connection.run("SELECT 1").integer(0, 0) == 1)
        }

        @Test("A server that accepts a connection and never answers is given up after the time limit", .needs(.time))
        func silence() async throws {
            let (listener, port) = try CuttingProxy.openListener()
            defer { _ = close(listener) }
            let silent = try PostgresAddress("postgres://a@127.0.0.1:\(port)/h?connect_timeout=2")
            let failure = await #expect(throws: PostgresFailure.self) {
                try await PostgresConnection.connect(to: silent)
            }
            #expect(failure?.message.contains("no answer within 2 seconds") == true)
            let patient = try PostgresAddress("postgres://a@127.0.0.1:\(port)/h?connect_timeout=600")
            let canceled = Task { try await PostgresConnection.connect(to: patient) }
            // The second connection of the queue.
            await DispatchQueue(label: "accept").run { for _ in 0..<2 { _ = accept(listener, nil, nil) } }
            canceled.cancel()
            await #expect(throws: CancellationError.self) { try await canceled.value }
        }
    }

    /// A certificate for `localhost` of these tests alone, made by `openssl req -x509 -newkey ec`, and its key.
    private let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBlDCCATugAwIBAgIUJI1EU8pF9fsxmdrbmaM6QoDdiLEwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDEwNTYyOFoYDzIxMjYxMTA2
        MTA1NjI4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASx38TzWoWLyeS1yqIiXSkZfXGpxs5utcd+kdjoCHbeWOrDZiM6h+iO
        iJqdRfPnq00sFtPZku1IlZO/S//XLiXRo2kwZzAdBgNVHQ4EFgQUg8bjOBFmrmHE
        OKL53Vxmr/K1MpkwHwYDVR0jBBgwFoAUg8bjOBFmrmHEOKL53Vxmr/K1MpkwDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        RwAwRAIgcyWTDOttT/2AG4esCjw3G04k4Sn68P610URxU+9s9hUCIBnHUNimm/sr
        k4/LqGg6aCvUscRJosCaRcFoZSS66FDC
        -----END CERTIFICATE-----

        """
    private let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgN6eYHuk8zV71Aauo
        jg/6czKgf3rXfZkiRXIDsgHDmn+hRANCAASx38TzWoWLyeS1yqIiXSkZfXGpxs5u
        tcd+kdjoCHbeWOrDZiM6h+iOiJqdRfPnq00sFtPZku1IlZO/S//XLiXR
        -----END PRIVATE KEY-----

        """
#endif
