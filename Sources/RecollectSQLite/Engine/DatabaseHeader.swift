import Foundation
import GRDBSQLite
import RecollectCore

/// The first bytes of a file that may be a SQLite database.
enum DatabaseHeader {
    /// The length of a database's header, in bytes.
    static let size = 100

    /// Whether a header is complete and a SQLite database's.
    static func isDatabase(_ header: [UInt8]) -> Bool {
        header.count == size && header.starts(with: Array("SQLite format 3\0".utf8))
    }

    /// The first 100 bytes, fewer where the file is shorter, none where there is no file. Takes no lock and changes nothing.
    ///
    /// SQLite reads them: closing any descriptor of its own would drop every lock that this process has on the database, of
    /// connections that the app has open too (https://sqlite.org/howtocorrupt.html, 2.2). SQLite puts off such a closing.
    static func read(_ path: String) throws -> [UInt8] {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, nil)
        defer { sqlite3_close_v2(opened) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard code == SQLITE_OK, let opened,
            sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods
        else {
            let number = opened.map(sqlite3_system_errno) ?? ENOMEM
            if number == ENOENT { return [] }
            throw RecollectError(POSIXFailure(number), doing: "open", path: path)
        }
        var length: Int64 = 0
        guard methods.pointee.xFileSize(file, &length) == SQLITE_OK else {
            throw RecollectError(POSIXFailure(sqlite3_system_errno(opened)), doing: "read", path: path)
        }
        let count = min(size, Int(length))
        var bytes = [UInt8](repeating: 0, count: count)
        guard methods.pointee.xRead(file, &bytes, Int32(count), 0) == SQLITE_OK else {
            throw RecollectError(POSIXFailure(sqlite3_system_errno(opened)), doing: "read", path: path)
        }
        return bytes
    }
}
