import Foundation
import RecollectCore

/// The pages of a damaged database: those of its file, and in place of them the last whole ones that its log holds.
///
/// Reads one page at a time. An unreadable page is missing; see `confirm`.
final class DamagedPages {
    /// How many pages there are.
    let count: Int

    private let size: Int
    private let file: DamagedFile
    private let log: DamagedFile
    private let logged: DamagedLog

    /// Opens the files that are there.
    /// - Parameter hasUnsyncedCommits: Whether the log may hold commits without a sync between them (`durability: .relaxed`).
    /// - Precondition: This process has no connection to the database: closing a file drops a process's locks on it.
    init(folder: OpenFolder, database: String, hasUnsyncedCommits: Bool) throws {
        file = try Self.open(database, in: folder)
        log = try Self.open(database + "-wal", in: folder)
        let header = file.bytes(at: 0, count: 100)
        let stated = header.count == 100 ? Int(header.bigEndian16(16)) : 0
        logged = DamagedLog(log, hasUnsyncedCommits: hasUnsyncedCommits)
        // 1 stands for 65,536. Without a size that can be true, it is the one that every database of ours has.
        let sizes = [stated == 1 ? 65536 : stated, logged.pageSize].filter(DamagedLog.isPageSize)
        size = sizes.first ?? 4096
        // The last page that is there. A damaged commit may state any count.
        let last = logged.offsets.keys.lazy.map(Int.init).filter { [logged] in $0 <= logged.pageCount }.max() ?? 0
        count = max(file.size / size, logged.pageSize == size ? last : 0)
    }

    /// The content of a log behind SQLite's last valid frame.
    enum LogEnd {
        case nothing
        /// Parts of a commit: a power cut interrupted it before it was acknowledged.
        case cutCommit
        /// Commits that SQLite would silently skip because an earlier frame is damaged.
        case hiddenCommits
    }

    /// Reads a log behind SQLite's last valid frame.
    ///
    /// Only for logs with a sync between commits. Without it, a power cut may leave hidden commits.
    static func endOfLog(in folder: OpenFolder, database: String) throws -> LogEnd {
        let file = try open(database + "-wal", in: folder)
        let log = DamagedLog(file, hasUnsyncedCommits: false)
        try file.confirm()
        return log.hidesCommits ? .hiddenCommits : log.hasHiddenCommit ? .cutCommit : .nothing
    }

    /// Whether something else than a log has the log's name: a person's notes, for instance. An empty file and one of zeros alone are
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

    /// Confirms that unreadable pages are damaged: see `DamagedFile`.
    /// - Parameter isUnreadable: Whether there must be such pages.
    func confirm(isUnreadable: Bool) throws {
        try file.confirm(isUnreadable: isUnreadable && log.isReadable)
        try log.confirm()
    }

    /// The bytes of a page, from 1 on; `nil` where they cannot be read.
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

    /// A page that has rows or entries of an index.
    func page(_ number: Int) -> BTreePage? {
        bytes(ofPage: number).flatMap { BTreePage($0, isFirst: number == 1) }
    }

    /// A row's or entry's whole record; `nil` where a page of it is missing.
    func payload(of cell: BTreePage.Cell) -> [UInt8]? {
        var payload = cell.local
        guard var next = cell.overflow else { return payload }
        guard cell.size <= count * size else { return nil }
        payload.reserveCapacity(cell.size)
        while payload.count < cell.size {
            guard let page = bytes(ofPage: next) else { return nil }
            next = Int(page.bigEndian32(0))
            payload += page[4...].prefix(cell.size - payload.count)
        }
        // The last page of a chain names no other.
        return next == 0 ? payload : nil
    }
}

/// Which pages a write-ahead log holds, found without trusting more of it than its checksums prove.
///
/// SQLite reads a log up to its first damaged frame. Here reading goes on behind it: each frame's checksum covers the one before, and
/// that one's is written in it, so a damaged frame does not hide those that follow. As in SQLite, frames count only where a commit
/// follows them.
///
/// Without a sync between commits, a power cut may leave a gap, and SQLite continues writing at the gap: frames behind it may be older
/// than those before it. Reading then ends at the gap.
private struct DamagedLog {
    private(set) var pageSize = 0
    private(set) var pageCount = 0
    /// Where in the log the last whole version of a page begins.
    private(set) var offsets: [UInt32: Int] = [:]
    /// Whether a damaged frame hides commits that were on the disk: there is a commit behind it, and more behind that.
    private(set) var hidesCommits = false
    /// Whether there is at least one commit behind a damaged frame.
    private(set) var hasHiddenCommit = false

    static func isPageSize(_ size: Int) -> Bool {
        size >= 512 && size <= 65536 && size & (size - 1) == 0
    }

    init(_ file: DamagedFile, hasUnsyncedCommits: Bool) {
        let end = file.size
        guard end > 32 else { return }
        var header = file.bytes(at: 0, count: 32)
        if header.count < 32 { header = [UInt8](repeating: 0, count: 32) }
        let magic = header.bigEndian32(0)
        let isBigEndian = magic == 0x377F_0683
        var previous: Checksum? = Checksum()
        previous?.add(header[0..<24], isBigEndian)
        let isWhole = magic & ~1 == 0x377F_0682 && previous == Checksum(header, at: 24)
        let stated = Int(header.bigEndian32(8))
        pageSize = isWhole && Self.isPageSize(stated) ? stated : 4096
        if !isWhole { previous = nil }
        let salt = isWhole ? Array(header[16..<24]) : Self.salt(file) ?? []
        var waiting: [UInt32: Int] = [:]
        // Of what is damaged: anything, a commit's last frame.
        var (isBroken, isCommitBroken) = (false, false)
        for offset in stride(from: 32, through: end - 24 - pageSize, by: 24 + pageSize) {
            let frame = file.bytes(at: offset, count: 24 + pageSize)
            guard frame.count == 24 + pageSize, Array(frame[8..<16]) == salt else {
                if hasUnsyncedCommits { break }
                (previous, isBroken) = (nil, true)
                continue
            }
            let stored = Checksum(frame, at: 16)
            var computed = previous
            computed?.add(frame[0..<8], isBigEndian)
            computed?.add(frame[24...], isBigEndian)
            previous = stored
            if let computed {
                if computed != stored {
                    // Either this page is damaged, or what follows was never committed: then no commit follows.
                    isBroken = true
                    if frame.bigEndian32(4) > 0 { isCommitBroken = true }
                    if hasUnsyncedCommits { break }
                    continue
                }
                // The next commit begins when the one before was synced.
                if hasHiddenCommit || isCommitBroken { hidesCommits = true }
                // Without its first bytes SQLite takes the whole log for empty.
                if !isWhole, frame.bigEndian32(4) > 0 { hidesCommits = true }
            }
            waiting[frame.bigEndian32(0)] = offset + 24
            let committed = frame.bigEndian32(4)
            guard committed > 0 else { continue }
            hasHiddenCommit = isBroken
            offsets.merge(waiting) { $1 }
            waiting = [:]
            pageCount = Int(committed)
        }
    }

    /// Whether a file is a log, as far as damage leaves it: the first bytes are a log's, the length is that of whole frames, or two
    /// adjacent frames have equal salts. Files without commits are logs, too.
    static func isLog(_ file: DamagedFile) -> Bool {
        let header = file.bytes(at: 0, count: 32)
        // An unreadable beginning says nothing.
        guard header.count == min(32, file.size), header.contains(where: { $0 != 0 }) else { return true }
        if header.count >= 4, header.bigEndian32(0) & ~1 == 0x377F_0682 { return true }
        if header.count == 32 {
            if header.bigEndian32(4) == 3_007_000 || header.bigEndian32(8) == 4096 { return true }
            if file.size > 32, (file.size - 32).isMultiple(of: frameSize) { return true }
        }
        return adjacentSalt(file) != nil
    }

    /// The length of a frame with a page of the size that every database of ours has.
    private static let frameSize = 24 + 4096

    /// The salt of a log with a damaged header: that of the first two adjacent frames with equal salts. Frames with another salt behind
    /// them are older: they were written before the log was restarted.
    private static func salt(_ file: DamagedFile) -> [UInt8]? {
        adjacentSalt(file) ?? salts(file).first { _ in true }
    }

    private static func adjacentSalt(_ file: DamagedFile) -> [UInt8]? {
        var last: [UInt8]?
        for salt in salts(file) {
            if salt == last { return salt }
            last = salt
        }
        return nil
    }

    private static func salts(_ file: DamagedFile) -> some Sequence<[UInt8]> {
        stride(from: 32, to: file.size, by: frameSize).lazy.compactMap { offset in
            let head = file.bytes(at: offset, count: 24)
            return head.count == 24 ? Array(head[8..<16]) : nil
        }
    }

    /// The running checksum of a log.
    private struct Checksum: Equatable {
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init() {}

        init(_ bytes: [UInt8], at offset: Int) {
            (first, second) = (bytes.bigEndian32(offset), bytes.bigEndian32(offset + 4))
        }

        mutating func add(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 8) {
                    first &+= Self.word(bytes, offset, isBigEndian) &+ second
                    second &+= Self.word(bytes, offset + 4, isBigEndian) &+ first
                }
            }
        }

        private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ isBigEndian: Bool) -> UInt32 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}

extension [UInt8] {
    func bigEndian16(_ offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    func bigEndian32(_ offset: Int) -> UInt32 {
        UInt32(bigEndian16(offset)) << 16 | UInt32(bigEndian16(offset + 2))
    }
}
