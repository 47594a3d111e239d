#if Postgres
    import RecollectCore

    extension PostgresHistoryStore {
        /// Waits for the lease of a session: see `HistoryStore` and `TurnLease`.
        public func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease? {
            try await PostgresLease(store: self).lease(of: session, for: duration)
        }

        /// The database of the leases.
        var leaseOrigin: String { database.pool.address.description }

        /// The leases that a write of the current task needs.
        var heldLeases: [TurnLease] { TurnLease.held(from: leaseOrigin) }

        /// Runs a transaction, unless the current turn has lost its lease.
        func transaction<Value: Sendable>(
            in database: PostgresDatabase,
            _ body: (PostgresTransaction) async throws -> (statements: [PostgresStatement], value: Value)
        ) async throws -> Value {
            let leases = heldLeases
            return try await database.transaction { transaction in
                if !leases.isEmpty { try await check(leases, transaction) }
                return try await body(transaction)
            }
        }

        private func check(_ leases: [TurnLease], _ transaction: PostgresTransaction) async throws {
            let query = PostgresStatement(
                PostgresLease.query(parametersFrom: 1), parameters: PostgresLease.values(leases))
            let rows = try await transaction.run([query])[0]
            let tokens = Set((0..<rows.count).map { rows.integer($0, 0) })
            for lease in leases where !tokens.contains(lease.token) { try lease.lose() }
        }
    }
#endif
