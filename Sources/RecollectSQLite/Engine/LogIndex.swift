import CFiles
import Foundation
import GRDB
import RecollectCore

/// The index of a write-ahead log: the file `-shm`, mapped into memory by SQLite.
enum LogIndex {
    /// The size of SQLite's parts of it, in bytes. The first one serves a log of 16 MB.
    static let regionSize = 32768

    /// The size of SQLite's allocations, in bytes: it writes the last byte of each.
    fileprivate static let allocation: UInt = 4096
}

extension Database {
    /// Makes the log's index where it is missing, with all blocks of its first part. Before the connection's first look at the
    /// database.
    ///
    /// On a file system of smaller blocks than 4 KB, SQLite leaves holes in the index. If the disk is full when it writes to one of
    /// them, the system ends the process with SIGBUS.
    /// - Throws: `diskFull`.
    func allocateLogIndex(beside path: String) throws {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_frsize < LogIndex.allocation else { return }
        guard let file = DatabaseFile(.database, of: sqliteConnection),
            let region = try file.mapLogIndex(size: LogIndex.regionSize)
        else { return }
        // Older kernels and other systems cannot do this; the mapping stays for SQLite to use.
        guard recollect_allocate_mapped(region, UInt(LogIndex.regionSize)) != 0, errno == EFAULT else { return }
        file.unmapLogIndex()
        throw RecollectError(POSIXFailure(ENOSPC), doing: "make the index of the log beside", path: path)
    }
}
