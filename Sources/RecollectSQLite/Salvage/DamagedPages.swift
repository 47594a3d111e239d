import Foundation
import RecollectCore
import RecollectFileSystem

/// The pages of a damaged database: the last intact versions in its log, and otherwise those of its file.
///
/// Reads one page at a time. An unreadable page is missing; see `confirm`.
final class DamagedPages {
    /// The number of pages.
    let count: Int

    private let size: Int
    private let file: DamagedFile
    private let log: DamagedFile
    private let logged: DamagedLog

    /// Opens the existing files.
    /// - Parameter hasUnsyncedCommits: Whether the log may hold commits without a sync between them (`durability:
    ///   .relaxed`).
    /// - Precondition: This process has no connection to the database: closing a file drops a process's locks on
    ///   it.
    init(folder: OpenFolder, database: String, hasUnsyncedCommits: Bool) throws {
        file = try Self.open(database, in: folder)
        log = try Self.open(database + "-wal", in: folder)
        logged = DamagedLog(log, hasUnsyncedCommits: hasUnsyncedCommits)
        let header = file.bytes(at: 0, count: 100)
        size = Self.pageSize(of: file, header, logged)
        // The last existing page. A damaged commit may state any count.
        let last = logged.offsets.keys.lazy.map(Int.init).filter { [logged] in $0 <= logged.pageCount }.max() ?? 0
        count = max(file.size / size, logged.pageSize == size ? last : 0)
    }

    /// Returns the size of the pages, in bytes. The size in the header may be damaged, too.
    ///
    /// Of the size of all our databases, the log's and the header's, the one with the most well-formed pages of trees at the
    /// beginning of the file. Without any, a plausible size in the header.
    private static func pageSize(of file: DamagedFile, _ header: [UInt8], _ logged: DamagedLog) -> Int {
        let stated = header.count == 100 ? Int(header.bigEndian16(16)) : 0
        // 1 means 65,536.
        let sizes = [4096, logged.pageSize, stated == 1 ? 65536 : stated].filter(DamagedLog.isPageSize)
        guard Set(sizes).count > 1 else { return 4096 }
        func share(_ size: Int) -> Double {
            // The first megabyte has enough pages.
            let count = min(max(file.size / size, 1), (1 << 20) / size)
            let trees = (0..<count).filter { number in
                let bytes = file.bytes(at: number * size, count: size)
                return bytes.count == size && BTreePage(bytes, isFirst: number == 0)?.isWellFormed == true
            }
            return Double(trees.count) / Double(count)
        }
        var best = (size: sizes.last, share: 0.0)
        for size in sizes {
            let share = share(size)
            if share > best.share { best = (size, share) }
        }
        return best.size ?? 4096
    }

    /// The content of a log after SQLite's last valid frame.
    enum LogEnd {
        case nothing
        /// Parts of a commit: a power loss interrupted it before it was acknowledged.
        case cutCommit
        /// Commits silently skipped by SQLite because of an earlier damaged frame.
        case hiddenCommits
    }

    /// Reads a log after SQLite's last valid frame.
    ///
    /// Only for logs with a sync between commits. Without it, a power loss may leave hidden commits.
    static func endOfLog(in folder: OpenFolder, database: String) throws -> LogEnd {
        let file = try open(database + "-wal", in: folder)
        let log = DamagedLog(file, hasUnsyncedCommits: false)
        try file.confirm()
        return log.hidesCommits ? .hiddenCommits : log.hasHiddenCommit ? .cutCommit : .nothing
    }

    /// Whether a foreign file has the log's name, for example a user's notes. Empty files and files of zeros are
    /// logs without commits.
    static func hasForeignLog(in folder: OpenFolder, database: String) throws -> Bool {
        let file = try open(database + "-wal", in: folder)
        let isForeign = !DamagedLog.isLog(file)
        try file.confirm()
        return isForeign
    }

    private static func open(_ name: String, in folder: OpenFolder) throws -> DamagedFile {
        do {
            return try DamagedFile(folder.file(name, forWriting: false))
        } catch let failure as POSIXFailure where failure.number == ENOENT {
            return DamagedFile()
        }
    }

    /// Confirms the damage of unreadable pages: see `DamagedFile`.
    /// - Parameter isUnreadable: Whether there must be such pages.
    func confirm(isUnreadable: Bool) throws {
        try file.confirm(isUnreadable: isUnreadable && log.isReadable)
        try log.confirm()
    }

    /// Whether a page may be read in an older version because a later one is damaged.
    func isStale(_ number: Int) -> Bool {
        logged.pageSize == size && logged.isStale(UInt32(number))
    }

    /// Whether the header states more pages than there are: the end of the file, or its log, is missing.
    private(set) lazy var isCut: Bool = {
        // A damaged first page states nothing.
        guard let header = bytes(ofPage: 1)?.prefix(DatabaseHeader.size), DatabaseHeader.isDatabase(Array(header))
        else {
            return false
        }
        return Array(header).bigEndian32(28) > count
    }()

    /// Whether there is a stale page.
    private(set) lazy var hasStalePages = logged.hasDamage && count > 0 && (1...count).contains(where: isStale)

    /// Returns the bytes of a page, numbered from 1; `nil` if they cannot be read.
    func bytes(ofPage number: Int) -> [UInt8]? {
        guard number >= 1, number <= count else { return nil }
        let bytes =
            if let offset = logged.offsets[UInt32(number)], logged.pageSize == size {
                log.bytes(at: offset, count: size)
            } else {
                file.bytes(at: (number - 1) * size, count: size)
            }
        return bytes.count == size ? bytes : nil
    }

    /// Returns a page of a table or index tree; `nil` if it is unreadable or another kind of page.
    func page(_ number: Int) -> BTreePage? {
        bytes(ofPage: number).flatMap { BTreePage($0, isFirst: number == 1) }
    }

    /// Returns the whole record of a row or an entry; `nil` if a page of it is missing.
    /// - Parameter isCurrent: Whether a stale page counts as missing.
    func payload(of cell: BTreePage.Cell, isCurrent: Bool = false) -> [UInt8]? {
        var payload = cell.local
        guard var next = cell.overflow else { return payload }
        guard cell.size <= count * size else { return nil }
        payload.reserveCapacity(cell.size)
        while payload.count < cell.size {
            guard let page = bytes(ofPage: next), !isCurrent || !isStale(next) else { return nil }
            next = Int(page.bigEndian32(0))
            payload += page[4...].prefix(cell.size - payload.count)
        }
        // The last page of a chain has no successor.
        return next == 0 ? payload : nil
    }
}
