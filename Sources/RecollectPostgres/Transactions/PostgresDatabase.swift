#if Postgres
    import Foundation
    import RecollectCore

    /// The transactions of one database, run again where a server, a connection or another transaction made them fail.
    ///
    /// A transaction may be committed although its connection ended without an answer. It then runs again, so its statements must
    /// have the same effect twice as once: inserts name the columns of their conflict and do nothing, or set the same values.
    struct PostgresDatabase: Sendable {
        /// The limits of repetition.
        struct Retries: Sendable {
            /// The number of repetitions after conflicts with other transactions: serialization failures and deadlocks.
            var conflictCount = 10
            /// The time for repetitions while the server is not reachable, has no free connection, or its successor is not known yet.
            var unavailableTime: Duration = .seconds(10)
            /// The pause before the first repetition, doubled before each further one, up to a second.
            var pause: Duration = .milliseconds(10)
        }

        let pool: PostgresPool
        var retries = Retries()

        /// Runs statements in one transaction and one round trip. Returns their results.
        ///
        /// After a cancellation that reaches the server before the commit, nothing is saved.
        /// - Throws: `CancellationError`, or a `RecollectError` with the reason of the last attempt.
        func write(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
            let all = [PostgresTransaction.begin] + statements + [PostgresStatement("COMMIT")]
            let results = try await repeating { connection in
                let results = try await connection.run(all)
                try Self.checkCommit(results)
                return results
            }
            return Array(results.dropFirst().dropLast())
        }

        /// Runs work in one transaction, and then its last statements with the commit in one round trip.
        ///
        /// The work may run several times. After its failure, the transaction is rolled back. If the connection ends during the
        /// commit, nobody knows whether the server has saved it, so each transaction also saves a row of its call (`TransactionOutcome`):
        /// at most one attempt of a call is committed, and its value is returned.
        /// - Parameter body: The work. Returns the last statements, and the value of the transaction.
        /// - Throws: As `write`, and the errors of the work.
        func transaction<Value: Sendable>(
            _ body: (PostgresTransaction) async throws -> (statements: [PostgresStatement], value: Value)
        ) async throws -> Value {
            let outcome = TransactionOutcome()
            var attempt: Int64 = 0
            /// The values of attempts without an answer to their commit.
            var unknown: [Int64: Value] = [:]
            return try await repeating { connection in
                attempt += 1
                func committed() async throws -> Value? {
                    guard !unknown.isEmpty else { return nil }
                    return try await outcome.committedAttempt(connection).flatMap { unknown[$0] }
                }
                if let value = try await committed() { return value }
                let transaction = PostgresTransaction(connection)
                do {
                    let (statements, value) = try await body(transaction)
                    // From here on, the attempt may be committed.
                    unknown[attempt] = value
                    let results = try await transaction.run(
                        statements + [outcome.insertion(attempt), PostgresStatement("COMMIT")])
                    try Self.checkCommit(results)
                    return value
                } catch let failure as PostgresFailure where failure.isOutcomeUnknown {
                    throw failure
                } catch {
                    unknown[attempt] = nil
                    await transaction.rollBack()
                    // An earlier attempt was committed while this one ran: this one has found its change.
                    if let value = try await committed() { return value }
                    throw error
                }
            }
        }

        /// Throws for the commit of a failed transaction, which succeeds as a rollback.
        private static func checkCommit(_ results: [PostgresResult]) throws {
            guard results.last?.commandTag == "COMMIT" else {
                throw PostgresFailure(sqlState: "40000", message: "the transaction was rolled back")
            }
        }

        /// Runs a statement that only reads, or writes the same if it runs twice. Returns its rows.
        /// - Parameter readsInOrder: Whether the statement reads the first rows in the order of an index: see
        ///   `PostgresTransaction.readingInOrder`.
        /// - Throws: As `write`.
        func run(_ statement: PostgresStatement, readsInOrder: Bool = false) async throws -> PostgresResult {
            let settings = readsInOrder ? [PostgresTransaction.readingInOrder] : []
            return try await repeating { try await $0.run(settings + [statement])[settings.count] }
        }

        /// Runs a statement that only reads. Returns its rows.
        /// - Throws: As `write`.
        func read(_ sql: String, _ parameters: PostgresValue...) async throws -> PostgresResult {
            try await run(PostgresStatement(sql, parameters: parameters), readsInOrder: true)
        }

        /// Runs statements that only read, in one round trip and on one state of the database. Returns their rows.
        /// - Throws: As `write`.
        func read(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
            let beginning = [PostgresTransaction.beginReading, PostgresTransaction.readingInOrder]
            let all = beginning + statements + [PostgresStatement("COMMIT")]
            return Array(try await repeating { try await $0.run(all) }.dropFirst(beginning.count).dropLast())
        }

        /// Runs work that only reads, on one state of the database. The work may run several times.
        /// - Parameter timeLimit: The time for the statements of each round trip.
        /// - Throws: As `write`, and the errors of the work.
        func reading<Value: Sendable>(
            timeLimit: DispatchTimeInterval = PostgresConnection.timeLimit,
            _ body: (PostgresTransaction) async throws -> Value
        ) async throws -> Value {
            try await repeating { connection in
                let transaction = PostgresTransaction(connection, isReadOnly: true, timeLimit: timeLimit)
                do {
                    let value = try await body(transaction)
                    await transaction.rollBack()
                    return value
                } catch {
                    await transaction.rollBack()
                    throw error
                }
            }
        }

        private func error(_ failure: PostgresFailure?, or other: any Error) -> any Error {
            failure?.error(at: pool.address.description) ?? other
        }

        /// Runs work with a connection until it succeeds or fails for good.
        private func repeating<Value: Sendable>(
            _ body: (PostgresConnection) async throws -> Value
        ) async throws -> Value {
            let deadline = ContinuousClock.now + retries.unavailableTime
            var conflictCount = 0
            var pause = retries.pause
            /// A failure after which the transaction may have been committed.
            var unknown: PostgresFailure?
            while true {
                let failure: PostgresFailure
                do {
                    return try await pool.withConnection(body)
                } catch let error as PostgresFailure {
                    failure = error
                } catch is CancellationError {
                    // A canceled call without an error of its own has saved nothing.
                    throw self.error(unknown, or: CancellationError())
                }
                if failure.isOutcomeUnknown { unknown = failure }
                if failure.isConflict {
                    conflictCount += 1
                    if conflictCount > retries.conflictCount { throw failure.error(at: pool.address.description) }
                } else if !(failure.isOutcomeUnknown || failure.isStandby || failure.isServerFull)
                    || ContinuousClock.now + pause > deadline
                {
                    throw failure.error(at: pool.address.description)
                }
                pool.metrics.recordRepetition(failure.isConflict ? .conflict : .unavailable)
                // Transactions in conflict must not meet again.
                do {
                    try await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
                } catch {
                    throw self.error(unknown, or: error)
                }
                pause = min(pause * 2, .seconds(1))
            }
        }
    }
#endif
