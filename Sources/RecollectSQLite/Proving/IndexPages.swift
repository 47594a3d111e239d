import GRDB
import RecollectCore

/// Reads the pages of the FTS5 index as they lie in the database: a search does not find what was removed and not yet merged away.
///
/// The format is FTS5's own: a leaf holds terms and their rows, and at its end where each term begins. The first term of a page is
/// whole, any other shares a beginning with the one before.
enum IndexPages {
    /// The pages that hold a term, from a page on: their ids, at most `limit` pages read. `next` is where to go on.
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

    /// 1 and 10 are the index's own records; of a segment's pages, the height above the leaves has five bits.
    private static func isLeaf(_ id: Int64) -> Bool { id > 10 && (id >> 31) & 0x3F == 0 }

    /// The terms of a leaf.
    static func terms(of page: UnsafeRawBufferPointer) -> [[UInt8]] {
        guard page.count >= 4 else { return [] }
        let size = Int(page[2]) << 8 | Int(page[3])
        guard size >= 4, size <= page.count else { return [] }
        var terms: [[UInt8]] = []
        var footer = size
        var place = 0
        while footer < page.count {
            guard let step = number(page, &footer) else { break }
            place += step
            var offset = place
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

    /// A number of SQLite's, of at most nine bytes; `nil` behind the end.
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
