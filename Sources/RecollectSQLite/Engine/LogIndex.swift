import CFiles
import Foundation
import GRDB
import RecollectCore

/// The index of a write-ahead log: the file `-shm`, mapped into memory by SQLite.
///
/// Its header says where the log ends (https://sqlite.org/walformat.html#the_wal_index_header).
struct LogIndex {
    /// The size of SQLite's parts of it, in bytes. The first one serves a log of 16 MB.
    static let regionSize = 32768

    /// The size of SQLite's allocations, in bytes: it writes the last byte of each.
    fileprivate static let allocation: UInt = 4096

    private let region: UnsafeRawPointer

    /// The index of a connection; `nil` for a database without a log, in memory for instance.
    init?(of file: DatabaseFile) throws {
        guard let region = try file.mapLogIndex(size: Self.regionSize) else { return nil }
        self.region = UnsafeRawPointer(region)
    }

    /// The length of the log up to its last commit, in bytes.
    var end: Int {
        // 1 stands for 65,536.
        let pageSize = Int(region.load(fromByteOffset: 14, as: UInt16.self))
        return 32 + Int(region.load(fromByteOffset: 16, as: UInt32.self)) * (24 + (pageSize == 1 ? 65_536 : pageSize))
    }

    /// What each frame of the log bears. It changes when the log starts again from its beginning.
    var salt: UInt64 { region.load(fromByteOffset: 32, as: UInt64.self) }
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
