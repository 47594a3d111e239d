import GRDB
import GRDBSQLite
import RecollectCore

/// A file of an open connection, read and written through SQLite's own descriptor.
///
/// Closing any other descriptor of a database would drop all locks of this process on it
/// (https://sqlite.org/howtocorrupt.html, 2.2).
struct DatabaseFile {
    enum Part {
        case database, log
    }

    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: UnsafePointer<sqlite3_io_methods>

    /// Creates access to a file of a connection; `nil` if it is not open, for example in memory. SQLite opens the
    /// log at the first read.
    init?(_ part: Part, of connection: OpaquePointer?) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let operation = part == .database ? SQLITE_FCNTL_FILE_POINTER : SQLITE_FCNTL_JOURNAL_POINTER
        guard let connection, sqlite3_file_control(connection, "main", operation, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        (self.file, self.methods) = (file, methods)
    }

    /// Returns the length in bytes.
    func size() throws -> Int {
        var size: sqlite3_int64 = 0
        try check(methods.pointee.xFileSize(file, &size))
        return Int(size)
    }

    /// Fills a buffer with the bytes from an offset on. All of them must exist.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        try check(methods.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), sqlite3_int64(offset)))
    }

    /// Fills a buffer with the bytes from an offset on. Returns false if the file ends before.
    func readIfPresent(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Bool {
        let code = methods.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), sqlite3_int64(offset))
        if code == ResultCode.SQLITE_IOERR_SHORT_READ.rawValue { return false }
        try check(code)
        return true
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        try check(methods.pointee.xWrite(file, bytes.baseAddress, Int32(bytes.count), sqlite3_int64(offset)))
    }

    func truncate(to size: Int) throws {
        try check(methods.pointee.xTruncate(file, sqlite3_int64(size)))
    }

    func synchronize() throws {
        try check(methods.pointee.xSync(file, SQLITE_SYNC_FULL))
    }

    /// Maps the first part of the log's index into memory, and creates the index if it is missing. Returns `nil`
    /// for a VFS without shared memory.
    func mapLogIndex(size: Int) throws -> UnsafeMutableRawPointer? {
        guard methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap else { return nil }
        var region: UnsafeMutableRawPointer?
        let code = map(file, 0, Int32(size), 1, &region)
        if code != SQLITE_OK { unmapLogIndex() }
        try check(code)
        return region
    }

    /// Undoes `mapLogIndex`. The file stays.
    func unmapLogIndex() {
        _ = methods.pointee.xShmUnmap?(file, 0)
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
