#if Postgres
    import CLibpq
    import RecollectCore

    /// A failure of a connection or a statement, as reported by the server or by libpq.
    ///
    /// It stays inside this module: callers get its `error(_:)`.
    struct PostgresFailure: Error {
        /// The code of the failure, five letters and digits (PostgreSQL documentation, "PostgreSQL Error Codes"). Empty for
        /// failures of the connection without an answer of the server.
        let sqlState: String
        /// The message, without values of parameters.
        let message: String
        /// The number of the failed statement in its pipeline, from 0; `nil` for a failure of the connection.
        var statement: Int?

        init(sqlState: String = "", message: String, statement: Int? = nil) {
            self.sqlState = sqlState
            self.message = message
            self.statement = statement
        }

        /// Creates the failure of a result. The detail is not read: it contains values of rows.
        init(_ result: OpaquePointer, statement: Int) {
            func field(_ code: Character) -> String {
                PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
            }
            let primary = field("M")
            self.init(
                sqlState: field("C"),
                message: primary.isEmpty ? Self.line(PQresultErrorMessage(result)) : primary, statement: statement)
        }

        /// Creates the last failure of a connection.
        init(connection: OpaquePointer?) {
            self.init(message: Self.line(PQerrorMessage(connection)))
        }

        /// Creates the failure of an attempt to connect, reported with `PQERRORS_VERBOSE`: libpq has no function for its SQLSTATE.
        init(connecting connection: OpaquePointer?) {
            let message = Self.line(PQerrorMessage(connection))
            guard let match = message.firstMatch(of: /: {2}([0-9A-Z]{5}): (.*?)(?:; LOCATION: .*)?$/) else {
                self.init(message: message)
                return
            }
            self.init(sqlState: String(match.1), message: String(message[..<match.range.lowerBound]) + ": " + match.2)
        }

        private static func line(_ text: UnsafePointer<CChar>?) -> String {
            let text = text.map { String(cString: $0) } ?? ""
            return text.split(whereSeparator: \.isNewline).joined(separator: "; ")
        }

        /// The failure of a transaction to run again: another one has changed what it has read.
        static let changedMeanwhile = PostgresFailure(
            sqlState: "40001", message: "another transaction has changed the same session")

        /// The failure of a commit not confirmed by the standbys.
        static let unreplicated = PostgresFailure(
            sqlState: "40003",
            message: "the server has committed a transaction, but no synchronous standby has confirmed it")

        /// Whether the same transaction may succeed if it runs again: a serialization failure or a deadlock.
        var isConflict: Bool { sqlState == "40001" || sqlState == "40P01" }

        /// Whether the transaction may have been committed: the connection ended without an answer, or the server was shut
        /// down or restarted.
        var isOutcomeUnknown: Bool {
            sqlState.isEmpty || sqlState.hasPrefix("08")
                || ["40003", "57P01", "57P02", "57P03", "57P05"].contains(sqlState)
        }

        /// Whether the server has no free connection. Others may end soon.
        var isServerFull: Bool { sqlState == "53300" }

        /// Whether the server is a standby, or became one.
        var isStandby: Bool { sqlState == "25006" }

        /// Whether the statement was canceled by a request of this client or by a time limit.
        var isCanceled: Bool { sqlState == "57014" }

        /// The failure of a statement canceled because of this client's time limit.
        var timedOut: PostgresFailure {
            PostgresFailure(
                sqlState: sqlState,
                message: "the statement took longer than 30 seconds; another transaction may hold a lock on its rows",
                statement: statement)
        }

        /// Whether no host accepts writes. libpq reports it without a SQLSTATE.
        private var isReadOnlySession: Bool {
            sqlState.isEmpty && (message.contains("session is read-only") || message.contains("is in hot standby mode"))
        }

        /// The public error.
        /// - Parameter server: The host, port and name of the database.
        func error(at server: String) -> RecollectError {
            let (code, remedy) =
                isReadOnlySession
                ? (.readOnly, "add target_session_attrs=any to the URL to read from it") : explanation
            let state = sqlState.isEmpty ? "" : " (SQLSTATE \(sqlState))"
            return RecollectError(code, "\(server): \(message)\(state)\(remedy.isEmpty ? "" : "; \(remedy)")")
        }

        private var explanation: (code: RecollectError.Code, remedy: String) {
            switch sqlState {
            case "28P01", "28000": (.permissionDenied, "check the user, the password and pg_hba.conf")
            case "42501": (.permissionDenied, "the role lacks this permission")
            case "3D000": (.notFound, "create the database, or correct its name in the URL")
            case "53100": (.diskFull, "nothing of this save was stored")
            case "53200": (.outOfMemory, "nothing of this save was stored")
            case "53300", "53400": (.busy, "the server has too many connections; use fewer, or a connection pooler")
            case "40001", "40P01", "55P03": (.busy, "other transactions changed the same rows; try again")
            case "57014", "25P03": (.timedOut, "nothing of this call was stored")
            case "25006": (.readOnly, "the server is a standby or read-only; name the primary in the URL")
            case "54000", "22001": (.tooLarge, "")
            case "23505": (.conflict, "")
            case "40003":
                (
                    .unavailable,
                    "a promotion may lose it; check the standbys of synchronous_standby_names, and save again"
                )
            case "42P01", "3F000": (.cannotOpen, "create the tables of the history, or update them, first")
            case "XX001", "XX002": (.damaged, "restore the database from a backup")
            default:
                isOutcomeUnknown
                    ? (.unavailable, "check that the server is running and reachable") : (.inputOutput, "")
            }
        }
    }
#endif
