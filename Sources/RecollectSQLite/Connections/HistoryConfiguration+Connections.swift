import CSQLite
import GRDB
import GRDBSQLite

extension HistoryConfiguration {
    /// Returns the configuration of every connection.
    /// - Parameter begin: Called before the connection's first access to the database.
    func connections(begin: @escaping @Sendable (Database) throws -> Void = { _ in }) -> Configuration {
        var connections = Configuration()
        connections.label = "recollect.history"
        connections.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        connections.foreignKeysEnabled = false
        connections.prepareDatabase { db in
            // GRDB's authorizer serves its observations. No observation is used, and preparing a statement is
            // twice as fast without it.
            sqlite3_set_authorizer(db.sqliteConnection, nil, nil)
            try begin(db)
            let code = sqlite3_exec(
                db.sqliteConnection,
                """
                PRAGMA secure_delete = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
                PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 0;
                PRAGMA journal_size_limit = 33554432
                """, nil, nil, nil)
            guard code == SQLITE_OK else { throw DatabaseError(code, of: db.sqliteConnection) }
            try db.setCheckpointsOnClose(false)
        }
        return connections
    }
}

extension Database {
    /// Sets whether closing the last connection checkpoints the log and removes it.
    func setCheckpointsOnClose(_ isOn: Bool) throws {
        let code = recollect_checkpoints_on_close(sqliteConnection, isOn ? 1 : 0)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
