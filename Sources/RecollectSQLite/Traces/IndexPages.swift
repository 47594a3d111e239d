import GRDB
import RecollectCore

/// Reads the pages of the FTS5 index directly: a search does not find removed terms before they are merged away.
///
/// The format is FTS5's own: a leaf holds terms and their rows, and at its end the start of each term. The first
/// term of a page is complete. Each other term shares a prefix with the one before.
enum IndexPages {
    /// Returns the pages with one of the terms after a page ID, from at most `limit` pages. `next` is the last page
    /// ID read, or `nil` at the end.
    static func pages(
        holding terms: [[UInt8]], after id: Int64, limit: Int, _ db: Database
    ) throws -> (found: [(id: Int64, term: [UInt8])], next: Int64?) {
        var found: [(id: Int64, term: [UInt8])] = []
        var last: Int64?
        var count = 0
        try db.sql("SELECT id, block FROM message_search_data WHERE id > ? ORDER BY id LIMIT ?").bind(id, limit)
            .forEachRow {
                row in
                let id = row.integer(0)
                last = id
                count += 1
                guard isLeaf(id) else { return }
                row.withBytes(1) { page in
                    for term in Self.terms(of: page) where terms.contains(term) { found.append((id, term)) }
                }
            }
        return (found, count == limit ? last : nil)
    }

    /// Whether a page is a leaf. 1 and 10 are the index's own records. In the ID of a segment's page, five bits are
    /// the height above the leaves, and one bit marks a doclist index.
    private static func isLeaf(_ id: Int64) -> Bool { id > 10 && (id >> 31) & 0x3F == 0 }

    /// Returns the terms of a leaf.
    static func terms(of page: UnsafeRawBufferPointer) -> [[UInt8]] {
        guard page.count >= 4 else { return [] }
        let size = Int(page[2]) << 8 | Int(page[3])
        guard size >= 4, size <= page.count else { return [] }
        var terms: [[UInt8]] = []
        var footer = size
        var position = 0
        while footer < page.count {
            guard let step = number(page, &footer) else { break }
            position += step
            var offset = position
            var shared = 0
            if !terms.isEmpty {
                guard let count = number(page, &offset) else { break }
                shared = count
            }
            guard let length = number(page, &offset), offset + length <= size, shared <= terms.last?.count ?? 0 else {
                break
            }
            terms.append(Array((terms.last ?? []).prefix(shared)) + page[offset..<offset + length])
        }
        // A term begins with the number of its index: there is only one.
        return terms.map { Array($0.dropFirst()) }
    }

    /// Reads a SQLite varint of at most eight bytes. Returns `nil` for a longer one or beyond the end.
    private static func number(_ page: UnsafeRawBufferPointer, _ offset: inout Int) -> Int? {
        var value = 0
        for _ in 0..<8 {
            guard offset < page.count else { return nil }
            let byte = page[offset]
            offset += 1
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
