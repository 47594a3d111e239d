import GRDB
import GRDBSQLite

extension Database {
    /// A number that changes with each commit of this connection, and, at the beginning of a transaction, after
    /// commits of others (`SQLITE_FCNTL_DATA_VERSION`).
    var dataVersion: UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}
