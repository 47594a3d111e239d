#if Postgres
    import CLibpq
    import Foundation
    import RecollectCore

    /// The servers, database and user of a connection, from a URL of libpq.
    ///
    /// Options not in the URL have the values of libpq, its environment variables and its files, except for these:
    /// - `sslmode` is `verify-full` unless all hosts are sockets or addresses of this machine. libpq's own default, `prefer`,
    ///   verifies nothing.
    /// - `target_session_attrs` is `read-write`: with several hosts, the connection is made to the primary.
    /// - `connect_timeout` is 10 seconds for each address.
    struct PostgresAddress: Sendable {
        /// The keywords and values for libpq. May include a password.
        let options: [String: String]
        /// The hosts, ports and name of the database, for messages.
        let description: String

        /// Creates an address from a URL such as `postgres://app@db1,db2:5432/history?sslrootcert=/etc/ca.pem`, or a string of keywords and
        /// values.
        /// - Throws: `invalidArgument` for a string that libpq refuses.
        init(_ url: String) throws {
            var message: UnsafeMutablePointer<CChar>?
            guard let list = PQconninfoParse(url, &message) else {
                let reason = message.map { String(cString: $0) } ?? "out of memory"
                PQfreemem(message)
                throw Self.invalid(reason.contains("missing \"=\"") ? ", beginning with postgres://" : "")
            }
            defer { PQconninfoFree(list) }
            var given: [String: String] = [:]
            var next = list
            while let keyword = next.pointee.keyword {
                if let value = next.pointee.val { given[String(cString: keyword)] = String(cString: value) }
                next += 1
            }
            guard !Self.hasUnencodedPassword(url),
                (given["port"] ?? "").split(separator: ",").allSatisfy({ UInt16($0) != nil })
            else { throw Self.invalid() }
            // Defaults include environment variables. Only these decide whether an option of ours applies.
            let defaults = Self.defaults()
            func value(_ keyword: String) -> String? { given[keyword] ?? defaults[keyword] }
            let hosts = (value("hostaddr") ?? value("host") ?? "").split(separator: ",").map(String.init)
            if value("sslmode") == nil || (given["sslmode"] == nil && Self.environment("PGSSLMODE") == nil) {
                given["sslmode"] = hosts.allSatisfy(Self.isLocal) ? "prefer" : "verify-full"
            }
            if given["target_session_attrs"] == nil, Self.environment("PGTARGETSESSIONATTRS") == nil {
                given["target_session_attrs"] = "read-write"
            }
            if given["connect_timeout"] == nil, Self.environment("PGCONNECT_TIMEOUT") == nil {
                given["connect_timeout"] = "10"
            }
            given["client_encoding"] = "UTF8"
            given["fallback_application_name"] = given["fallback_application_name"] ?? "recollect"
            options = given
            let ports = (value("port") ?? "5432").split(separator: ",", omittingEmptySubsequences: false)
            let places = (hosts.isEmpty ? ["the local socket"] : hosts).enumerated().map { index, host in
                let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
                return "\(host):\(port.isEmpty ? "5432" : port)"
            }
            description = "\(places.joined(separator: ","))/\(value("dbname") ?? value("user") ?? "")"
        }

        /// The error for a string that libpq refuses. The text may contain a password, and so may libpq's message.
        private static func invalid(_ hint: String = "") -> RecollectError {
            RecollectError(
                .invalidArgument,
                "the URL of the PostgreSQL server is invalid; write postgres://user@host:5432/database" + hint
                    + ", with special characters of names and passwords percent-encoded")
        }

        /// Whether an unencoded `/` or `@` in the password of a URL makes libpq read a part of it as another field.
        private static func hasUnencodedPassword(_ url: String) -> Bool {
            guard let scheme = url.range(of: "://") else { return false }
            let address = url[scheme.upperBound...].prefix { $0 != "?" }
            let signs = address.indices.filter { address[$0] == "@" }
            return signs.count > 1 || signs.contains { address[..<$0].contains("/") }
        }

        /// Whether a host is a socket or an address of this machine.
        private static func isLocal(_ host: String) -> Bool {
            host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" || host.hasPrefix("127.")
        }

        private static func environment(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }
        }

        /// The values of libpq's environment variables and built-in defaults.
        private static func defaults() -> [String: String] {
            guard let list = PQconndefaults() else { return [:] }
            defer { PQconninfoFree(list) }
            var values: [String: String] = [:]
            var next = list
            while let keyword = next.pointee.keyword {
                if let value = next.pointee.val { values[String(cString: keyword)] = String(cString: value) }
                next += 1
            }
            return values
        }
    }
#endif
