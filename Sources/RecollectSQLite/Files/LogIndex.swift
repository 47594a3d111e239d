import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

/// The index of a write-ahead log: the file `-shm`, mapped into memory by SQLite.
///
/// Its header contains the end of the log (https://sqlite.org/walformat.html#the_wal_index_header).
struct LogIndex {
    /// The size of the parts of the index, in bytes. The first part covers a log of 16 MB.
    static let regionSize = 32768

    /// The size of SQLite's allocations, in bytes: it writes the last byte of each.
    fileprivate static let allocation: UInt = 4096

    private let region: UnsafeRawPointer

    /// Creates access to the index of a connection; `nil` for a database without a log, for example in memory.
    init?(of file: DatabaseFile) throws {
        guard let region = try file.mapLogIndex(size: Self.regionSize) else { return nil }
        self.region = UnsafeRawPointer(region)
    }

    /// The length of the log up to its last commit, in bytes.
    var end: Int {
        // 1 means 65,536.
        let pageSize = Int(region.load(fromByteOffset: 14, as: UInt16.self))
        return 32 + Int(region.load(fromByteOffset: 16, as: UInt32.self)) * (24 + (pageSize == 1 ? 65_536 : pageSize))
    }

    /// The salt in each frame of the log. It changes when the log starts again from its beginning.
    var salt: UInt64 { region.load(fromByteOffset: 32, as: UInt64.self) }
}

extension Database {
    /// Creates the log's index if it is missing, and allocates all blocks of its first part. Call it before the
    /// connection's first access to the database.
    ///
    /// On a file system with blocks of less than 4 KB, SQLite leaves holes in the index. If the disk is full when
    /// SQLite writes to a hole, the system ends the process with SIGBUS.
    /// - Throws: `diskFull`.
    func allocateLogIndex(beside path: String) throws {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_frsize < LogIndex.allocation else { return }
        guard let file = DatabaseFile(.database, of: sqliteConnection),
            let region = try file.mapLogIndex(size: LogIndex.regionSize)
        else { return }
        do {
            try MappedFile.allocateBlocks(at: region, size: LogIndex.regionSize)
        } catch {
            // Older kernels and other systems cannot do this. The mapping stays for SQLite to use.
            guard error.number == EFAULT else { return }
            file.unmapLogIndex()
            throw RecollectError(POSIXFailure(ENOSPC), doing: "create the log's index for", path: path)
        }
    }
}
