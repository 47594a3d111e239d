import Foundation
import GRDB
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

    /// Whether a database's header has only formats known to SQLite (https://sqlite.org/fileformat2.html#the_database_header).
    ///
    /// SQLite refuses to write a database with another value in byte 18, and to open one with another value in byte 19 or 47.
    static func isSound(_ header: [UInt8]) -> Bool {
        (1...2).contains(header[18]) && (1...2).contains(header[19]) && header[21...23].elementsEqual([64, 32, 32])
            && header[44...46].allSatisfy { $0 == 0 } && header[47] <= 4
    }

    /// The first 100 bytes, fewer where the file is shorter, none where there is no file. Takes no lock and changes nothing.
    ///
    /// SQLite reads them: closing any descriptor of its own would drop every lock that this process has on the database, of
    /// connections that the app has open too (https://sqlite.org/howtocorrupt.html, 2.2). SQLite puts off such a closing.
    static func read(_ path: String) throws -> [UInt8] {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, nil)
        defer { sqlite3_close_v2(opened) }
        guard code == SQLITE_OK, let file = DatabaseFile(.database, of: opened) else {
            let number = opened.map(sqlite3_system_errno) ?? ENOMEM
            if number == ENOENT { return [] }
            throw RecollectError(POSIXFailure(number), doing: "open", path: path)
        }
        do {
            var bytes = [UInt8](repeating: 0, count: min(size, try file.size()))
            try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            return bytes
        } catch is DatabaseError {
            throw RecollectError(POSIXFailure(sqlite3_system_errno(opened)), doing: "read", path: path)
        }
    }
}
