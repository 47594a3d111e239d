import GRDB
import GRDBSQLite
import RecollectCore

extension Database {
    /// Reads from one snapshot.
    func snapshot<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try run("BEGIN")
        // A read-only transaction has nothing to lose in a failed COMMIT.
        defer { try? run("COMMIT") }
        return try body(self)
    }

    /// Commits writes in one transaction. A failed write is rolled back alone and keeps its error.
    ///
    /// A savepoint copies each page it changes first, and writes rarely fail. So all writes run without savepoints.
    /// Only after a failure is the transaction rolled back and repeated, with each write in a savepoint of its own.
    /// - Parameters:
    ///   - cache: The cache to clear after a rollback.
    ///   - begin: Called at the beginning of each transaction.
    func commitTogether(
        _ writes: [QueuedWrite], _ cache: WriterCache, begin: (Database) throws -> Void
    ) throws {
        var hasFailedWrite = false
        do {
            try transaction(cache) {
                try begin(self)
                for write in writes {
                    do {
                        try write.perform(self)
                    } catch {
                        hasFailedWrite = true
                        throw error
                    }
                }
            }
        } catch  where hasFailedWrite && writes.count > 1 && !error.spoilsConnection {
            cache.forget()
            try transaction(cache) {
                try begin(self)
                for write in writes { try performInSavepoint(write, cache) }
            }
        }
    }

    private func transaction(_ cache: WriterCache, _ body: () throws -> Void) throws {
        try cache.begin.ready(self).run()
        do {
            try body()
            try cache.commit.ready(self).run()
        } catch {
            // The first failure is thrown. If the rollback fails, the transaction ends with its connection.
            if isInsideSQLiteTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    private func performInSavepoint(_ write: QueuedWrite, _ cache: WriterCache) throws {
        try run("SAVEPOINT write")
        do {
            try write.perform(self)
        } catch {
            // Some failures (a full disk) have already rolled back the whole transaction.
            guard isInsideSQLiteTransaction, !error.spoilsConnection else { throw error }
            try run("ROLLBACK TO write")
            cache.forget()
        }
        try run("RELEASE write")
    }

    private var isInsideSQLiteTransaction: Bool {
        sqlite3_get_autocommit(sqliteConnection) == 0
    }
}
