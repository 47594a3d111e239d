/// The pages of a write-ahead log, as far as its checksums prove them.
///
/// SQLite reads a log up to its first damaged frame. This type also reads the frames after it: each frame's
/// checksum covers the previous one and is stored in the frame's header, so a damaged frame does not hide later
/// ones. As in SQLite, frames count only if a commit follows them.
///
/// Without a sync between commits, a power loss may leave a gap, and SQLite continues writing at the gap: frames
/// after it may be older than those before it. Reading then ends at the gap.
///
/// In place of a damaged committed frame, the page's older version is used. Such a page is stale.
struct DamagedLog {
    private(set) var pageSize = 0
    private(set) var pageCount = 0
    /// The offset of the last intact version of each page in the log.
    private(set) var offsets: [UInt32: Int] = [:]
    /// The offset of the last damaged version of each page.
    private var damaged: [UInt32: Int] = [:]
    /// The offset of the last damaged frame of an unknown page; 0 for none.
    private var unknown = 0
    /// Whether a damaged frame hides durable commits: there is a commit after it, and more after that commit.
    private(set) var hidesCommits = false
    /// Whether there is at least one commit after a damaged frame.
    private(set) var hasHiddenCommit = false

    /// The highest plausible page number and page count in a damaged frame.
    private static let maxPageCount: UInt32 = 1 << 22

    static func isPageSize(_ size: Int) -> Bool {
        size >= 512 && size <= 65536 && size & (size - 1) == 0
    }

    /// Whether any committed frame is damaged.
    var hasDamage: Bool { unknown > 0 || !damaged.isEmpty }

    /// Whether a damaged frame may hold a later version of a page than the last intact one.
    func isStale(_ page: UInt32) -> Bool {
        max(damaged[page] ?? 0, unknown) > offsets[page] ?? 0
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
        // The pages since the last commit, intact and damaged.
        var (waiting, waitingDamaged): ([UInt32: Int], [UInt32: Int]) = ([:], [:])
        var waitingUnknown = 0
        // Whether any frame, and whether the last frame of a commit, is damaged.
        var (isBroken, isCommitBroken) = (false, false)
        for offset in stride(from: 32, through: end - 24 - pageSize, by: 24 + pageSize) {
            let frame = file.bytes(at: offset, count: 24 + pageSize)
            let isRead = frame.count == 24 + pageSize
            let stored = isRead ? Checksum(frame, at: 16) : nil
            var computed = isRead ? previous : nil
            computed?.add(frame.prefix(8), isBigEndian)
            computed?.add(frame.dropFirst(24), isBigEndian)
            let hasSalt = isRead && Array(frame[8..<16]) == salt
            // In a frame with another salt, a correct checksum proves that only the salt is damaged.
            guard let stored, hasSalt || computed == stored else {
                if hasUnsyncedCommits { break }
                (previous, isBroken, waitingUnknown) = (nil, true, offset)
                continue
            }
            var (page, committed) = (frame.bigEndian32(0), frame.bigEndian32(4))
            defer { previous = stored }
            if !hasSalt || computed != nil && computed != stored {
                // Either this frame is damaged, or the following frames were never committed, and no commit
                // follows.
                isBroken = true
                if hasUnsyncedCommits { break }
            }
            if let computed {
                if computed != stored {
                    let head = previous?.head(before: frame[24...], end: stored, isBigEndian)
                    // The page is intact if one of the two numbers is unchanged and the other one is plausible.
                    if let head,
                        head.page == page && head.committed <= Self.maxPageCount
                            || head.committed == committed && (1...Self.maxPageCount).contains(head.page)
                    {
                        (page, committed) = head
                    } else {
                        if committed > 0 { isCommitBroken = true }
                        waitingDamaged[page] = offset
                        continue
                    }
                }
                // A commit begins only after the previous one was synced.
                if hasHiddenCommit || isCommitBroken { hidesCommits = true }
                // With a damaged header, SQLite treats the whole log as empty.
                if !isWhole, committed > 0 { hidesCommits = true }
            }
            waiting[page] = offset + 24
            guard committed > 0 else { continue }
            hasHiddenCommit = isBroken
            offsets.merge(waiting) { $1 }
            damaged.merge(waitingDamaged) { $1 }
            // A page number out of range is damaged itself. The real page is unknown.
            let isUnknown = waitingDamaged.filter { $0.key == 0 || $0.key > committed }
            unknown = max(unknown, waitingUnknown, isUnknown.values.max() ?? 0)
            (waiting, waitingDamaged) = ([:], [:])
            pageCount = Int(committed)
        }
    }

    /// Whether a file is a log, possibly damaged: it has a log's first bytes, a length of whole frames, or two
    /// adjacent frames with equal salts. Files without commits are logs, too.
    static func isLog(_ file: DamagedFile) -> Bool {
        let header = file.bytes(at: 0, count: 32)
        // An unreadable beginning proves nothing.
        guard header.count == min(32, file.size), header.contains(where: { $0 != 0 }) else { return true }
        if header.count >= 4, header.bigEndian32(0) & ~1 == 0x377F_0682 { return true }
        if header.count == 32 {
            if header.bigEndian32(4) == 3_007_000 || header.bigEndian32(8) == 4096 { return true }
            if file.size > 32, (file.size - 32).isMultiple(of: frameSize) { return true }
        }
        return adjacentSalt(file) != nil
    }

    /// The length of a frame with a page of 4,096 bytes, the size in all our databases.
    private static let frameSize = 24 + 4096

    /// Returns the salt of a log with a damaged header, taken from the first two adjacent frames with equal salts,
    /// otherwise from the first frame. Frames with another salt after them are older: they were written before
    /// the log was restarted.
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
            let salt = head.count == 24 ? Array(head[8..<16]) : []
            // A salt is random: erased bytes are none.
            return salt.contains { $0 != 0 && $0 != 0xFF } ? salt : nil
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

        /// Returns the numbers at the start of a frame, computed from this checksum and the one at the frame's
        /// end, for an intact page.
        func head(before page: ArraySlice<UInt8>, end: Checksum, _ isBigEndian: Bool) -> (
            page: UInt32, committed: UInt32
        ) {
            var state = end
            page.withUnsafeBytes { bytes in
                for offset in stride(from: bytes.count - 8, through: 0, by: -8) {
                    state.second &-= Self.word(bytes, offset + 4, isBigEndian) &+ state.first
                    state.first &-= Self.word(bytes, offset, isBigEndian) &+ state.second
                }
            }
            let page = state.first &- first &- second
            let committed = state.second &- second &- state.first
            // Both are big-endian in the frame, independently of the checksum's byte order.
            return isBigEndian ? (page, committed) : (page.byteSwapped, committed.byteSwapped)
        }

        private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ isBigEndian: Bool) -> UInt32 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}
