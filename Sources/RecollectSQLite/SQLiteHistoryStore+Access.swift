import GRDB
import RecollectCore

/// Database access. Every operation of the store uses these methods.
extension SQLiteHistoryStore {
    /// Reads the database.
    /// - Parameter inPlace: Whether the read is short: see `HistoryDatabase.read`.
    func read<Value: Sendable>(
        inPlace: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await perform { try await $0.read(inPlace: inPlace, body) }
    }

    /// Reads derived data. Updates it first if the history is writable and has pending messages.
    func readUpToDate<Value: Sendable>(
        inPlace: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await perform { try await readUpToDate(in: $0, inPlace: inPlace, body) }
    }

    func readUpToDate<Value: Sendable>(
        in database: HistoryDatabase, inPlace: Bool, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let canCatchUp = database.cannotWrite == nil
        let value: Value? = try await database.read(inPlace: inPlace) {
            try canCatchUp && DerivedData.isBehind($0) ? nil : .some(body($0))
        }
        if let value { return value }
        do {
            return try await database.write { db in
                try DerivedData.update(db)
                return try body(db)
            }
        } catch let error as DatabaseError where error.hasNoSpace {
            return try await readUpToDateWithoutSpace(in: database, body)
        }
    }

    /// Updates derived data in a separate transaction and reads there. If only the commit fails, the result is
    /// still valid: the derived data was computed from committed messages.
    private func readUpToDateWithoutSpace<Value: Sendable>(
        in database: HistoryDatabase, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let result = Locked<Value?>(nil)
        do {
            return try await database.write(alone: true) { db in
                try DerivedData.update(db)
                let value = try body(db)
                result.withLock { $0 = value }
                return value
            }
        } catch let error as DatabaseError where error.hasNoSpace {
            guard let value = result.withLock({ $0 }) else { throw error }
            return value
        }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { db, _ in try body(db) }
    }

    /// Writes to the database in one transaction, unless the current turn has lost its lease. After the commit, wakes the streams of changes and the indexing
    /// in the background.
    /// - Parameter inPlace: Whether the work is short, with few rows and no files: see `HistoryDatabase.write`.
    func write<Value: Sendable>(
        inPlace: Bool = false, _ body: @escaping @Sendable (Database, WriterCache) throws -> Value
    ) async throws -> Value {
        let leases = heldLeases
        return try await perform { database in
            let value = try await database.write(inPlace: inPlace) { [cache = database.cache] db in
                try SQLiteLease.check(leases, db)
                return try body(db, cache)
            }
            signal.signal()
            follower?.noteCommit(database)
            return value
        }
    }

    /// Reads on the calling thread, for properties. Blocks.
    func readNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
        while true {
            do {
                return try connection.databaseNow().readNow(body)
            } catch is DatabaseRetired {
                continue
            } catch let error as DatabaseError {
                throw RecollectError(error, store: connection.files?.directory.path ?? "the history in memory")
            }
        }
    }

    func perform<Value: Sendable>(_ operation: (HistoryDatabase) async throws -> Value) async throws -> Value {
        do {
            return try await connection.perform(operation)
        } catch let error as DatabaseError {
            throw RecollectError(error, store: connection.files?.directory.path ?? "the history in memory")
        }
    }

    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await ioQueue.run(body)
    }
}
