import Foundation
import GRDB
import GRDBSQLite
import RecollectCore
import RecollectFileSystem

/// The header of a file, possibly a SQLite database.
package enum DatabaseHeader {
    /// The length of a database's header, in bytes.
    package static let size = 100

    /// Whether a header is complete and belongs to a SQLite database.
    package static func isDatabase(_ header: [UInt8]) -> Bool {
        header.count == size && header.starts(with: Array("SQLite format 3\0".utf8))
    }

    /// Whether all formats in a database's header are known to SQLite
    /// (https://sqlite.org/fileformat2.html#the_database_header).
    ///
    /// SQLite refuses to write a database with another value in byte 18, and to open one with another value in
    /// byte 19 or 47.
    static func isSound(_ header: [UInt8]) -> Bool {
        (1...2).contains(header[18]) && (1...2).contains(header[19]) && header[21...23].elementsEqual([64, 32, 32])
            && header[44...46].allSatisfy { $0 == 0 } && header[47] <= 4
    }

    /// Reads the first 100 bytes, or all of a shorter file. Returns an empty array for a missing file. Takes no
    /// lock and changes nothing.
    ///
    /// SQLite opens and reads the file. Closing a descriptor of our own would drop all locks of this process on
    /// the database, including those of the app's connections (https://sqlite.org/howtocorrupt.html, 2.2). SQLite
    /// defers such a close.
    package static func read(_ path: String) throws -> [UInt8] {
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
