import GRDB
import GRDBSQLite
import RecollectCore

extension Database {
    /// Reads from one snapshot.
    func snapshot<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try run("BEGIN")
        // A read-only transaction has nothing that a failed COMMIT could lose.
        defer { try? run("COMMIT") }
        return try body(self)
    }

    /// Commits writes in one transaction; a write that fails is undone alone and keeps its failure.
    ///
    /// A savepoint copies each page that it is the first to touch, and writes hardly ever fail: so all are done without, and
    /// only when one has failed is everything undone and done again, each write in a savepoint of its own.
    /// - Parameters:
    ///   - cache: Forgets what is undone.
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
            // The first failure is the one to tell; a transaction that cannot be undone ends with its connection.
            if isInsideSQLiteTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    private func performInSavepoint(_ write: QueuedWrite, _ cache: WriterCache) throws {
        try run("SAVEPOINT write")
        do {
            try write.perform(self)
        } catch {
            // Some failures (a full disk) have undone the whole transaction already.
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
