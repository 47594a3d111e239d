import GRDB
import RecollectCore

/// The unallocated space of database pages, between the cell pointers and the cells
/// (https://sqlite.org/fileformat2.html#b_tree_pages).
///
/// SQLite's `secure_delete` overwrites a deleted cell. But balancing a tree moves cells to other pages and leaves
/// copies in unallocated space, out of reach of a later deletion of the moved cell. These functions overwrite that
/// space. SQLite never reads it, so a reader may use the same page meanwhile, and a torn write is harmless.
struct UnallocatedSpace {
    private let file: DatabaseFile
    private let pageSize: Int
    private let pageCount: Int

    /// Creates the space of a database's pages.
    /// - Returns: `nil` for a database with pages of ambiguous first bytes, or without a file.
    init?(_ db: Database) throws {
        guard let file = DatabaseFile(.database, of: db.sqliteConnection) else { return nil }
        let size = try file.size()
        guard size >= DatabaseHeader.size else { return nil }
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try header.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        // 1 represents 65,536.
        let stated = Int(header.bigEndian16(16))
        pageSize = stated == 1 ? 65_536 : stated
        guard pageSize >= 512 else { return nil }
        pageCount = size / pageSize
        self.file = file
        // Pages of an overflow chain and of the free list begin with a page number, and those of a pointer map with
        // a small number: either could look like the type of a B-tree page.
        let hasPointerMap = header.bigEndian32(52) != 0
        guard !hasPointerMap, pageCount < 1 << 25 else { return nil }
    }

    /// Overwrites, in the database, the unallocated space of the pages in the log. Under the process lock.
    ///
    /// The log must have been moved into the database completely. Returns false, with no change, if there was
    /// another commit since `version`: another program may be moving it into the database now.
    /// - Parameter version: The connection's data version at a read before the log was moved.
    static func clear(behindLogOf db: Database, version: UInt32) throws -> Bool {
        guard let log = DatabaseFile(.log, of: db.sqliteConnection), try log.size() > 32 else { return true }
        var isClear = false
        // No connection commits meanwhile, including those of other programs.
        try db.inTransaction(.immediate) {
            isClear = db.dataVersion == version
            if isClear { try UnallocatedSpace(db)?.clear(pages(in: log)) }
            return .rollback
        }
        // The connection's next commit would write its cached pages, with the old bytes of that space, to the log.
        // Connections of other processes drop theirs when the log restarts.
        db.releaseMemory()
        return isClear
    }

    /// Overwrites the unallocated space of all pages of a database without other connections.
    func clear() throws {
        try clear(1..<UInt32(pageCount + 1))
    }

    private func clear(_ pages: some Sequence<UInt32>) throws {
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * pageSize, alignment: 16)
        defer { page.deallocate() }
        let zeros = UnsafeRawBufferPointer(rebasing: page[pageSize...])
        page.initializeMemory(as: UInt8.self, repeating: 0)
        var hasWritten = false
        for number in pages where number >= 1 && Int(number) <= pageCount {
            let offset = (Int(number) - 1) * pageSize
            let buffer = UnsafeMutableRawBufferPointer(rebasing: page[..<pageSize])
            try file.read(into: buffer, at: offset)
            guard let space = Self.space(in: UnsafeRawBufferPointer(buffer), isFirst: number == 1),
                !Self.isZero(UnsafeRawBufferPointer(rebasing: buffer[space]))
            else { continue }
            try file.write(UnsafeRawBufferPointer(rebasing: zeros[..<space.count]), at: offset + space.lowerBound)
            hasWritten = true
        }
        if hasWritten { try file.synchronize() }
    }

    /// Returns the unallocated space of a page, or `nil` for pages other than valid B-tree pages.
    private static func space(in page: UnsafeRawBufferPointer, isFirst: Bool) -> Range<Int>? {
        func number(at offset: Int) -> Int { Int(page[offset]) << 8 | Int(page[offset + 1]) }
        let start = isFirst ? DatabaseHeader.size : 0
        let pointers: Int
        switch page[start] {
        case 0x02, 0x05: pointers = start + 12
        case 0x0A, 0x0D: pointers = start + 8
        default: return nil
        }
        let end = pointers + 2 * number(at: start + 3)
        let stated = number(at: start + 5)
        // 0 represents 65,536.
        let content = stated == 0 ? 65_536 : stated
        let freeBlock = number(at: start + 1)
        guard end <= content, content <= page.count, freeBlock == 0 || freeBlock >= content else { return nil }
        for pointer in stride(from: pointers, to: end, by: 2) where number(at: pointer) < content { return nil }
        return end..<content
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8
        for word in 0..<words where bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self) != 0 { return false }
        return bytes[(words * 8)...].allSatisfy { $0 == 0 }
    }

    /// Returns the numbers of the pages in a log, from its beginning.
    private static func pages(in log: DatabaseFile) throws -> Set<UInt32> {
        let end = try log.size()
        var header = [UInt8](repeating: 0, count: 32)
        try header.withUnsafeMutableBytes { try log.read(into: $0, at: 0) }
        let (pageSize, salt) = (Int(header.bigEndian32(8)), header[16..<24])
        guard pageSize >= 512 else { return [] }
        var pages: Set<UInt32> = []
        var frame = [UInt8](repeating: 0, count: 24)
        for offset in stride(from: 32, through: end - 24 - pageSize, by: 24 + pageSize) {
            try frame.withUnsafeMutableBytes { try log.read(into: $0, at: offset) }
            // Frames with another salt belong to an earlier log.
            guard frame[8..<16] == salt else { break }
            pages.insert(frame.bigEndian32(0))
        }
        return pages
    }
}
