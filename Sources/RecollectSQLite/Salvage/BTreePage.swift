/// A page of a table or index tree in SQLite's file format (https://sqlite.org/fileformat2.html#b_tree_pages).
///
/// Any bytes may be passed as a page. Cells beyond the end of the page are left out.
struct BTreePage {
    enum Kind {
        case rows
        case entries
        /// An interior page of a table tree, with only keys and children.
        case keys
    }

    /// A row or an index entry, with its bytes on this page.
    struct Cell {
        /// The row's number, or the greatest one in the child; 0 for an entry.
        let key: Int64
        /// The size of the whole record in bytes.
        let size: Int
        /// The bytes of the record on this page.
        let local: [UInt8]
        /// The page with the rest of the record; `nil` if all of it is here.
        let overflow: Int?
        /// The child page before this cell; `nil` on a leaf.
        let child: Int?
        /// The range of the cell on its page.
        fileprivate let range: Range<Int>
    }

    let kind: Kind
    /// The child page after the last cell; `nil` on a leaf.
    let lastChild: Int?
    private let bytes: [UInt8]
    private let start: Int
    private let pointers: Range<Int>

    /// Creates a page from its bytes; `nil` if they are not a page of a tree.
    /// - Parameter isFirst: Whether it is the file's first page, with the file's header before the page's header.
    init?(_ bytes: [UInt8], isFirst: Bool) {
        let start = isFirst ? 100 : 0
        let hasChildren: Bool
        switch bytes[start] {
        case 0x0D: (kind, hasChildren) = (.rows, false)
        case 0x0A: (kind, hasChildren) = (.entries, false)
        case 0x02: (kind, hasChildren) = (.entries, true)
        case 0x05: (kind, hasChildren) = (.keys, true)
        default: return nil
        }
        let first = start + (hasChildren ? 12 : 8)
        let end = first + 2 * Int(bytes.bigEndian16(start + 3))
        guard end <= bytes.count else { return nil }
        pointers = first..<end
        lastChild = hasChildren ? Int(bytes.bigEndian32(start + 8)) : nil
        self.bytes = bytes
        self.start = start
    }

    /// Whether the cells, the free space between them, and the space before them make up the page exactly.
    var isWellFormed: Bool {
        let cells = Array(cells)
        guard cells.count * 2 == pointers.count else { return false }
        let stated = Int(bytes.bigEndian16(start + 5))
        let content = stated == 0 ? 65536 : stated
        guard content >= pointers.upperBound, content <= bytes.count else { return false }
        var ranges = cells.map(\.range)
        var free = Int(bytes.bigEndian16(start + 1))
        while free > 0 {
            guard free >= content, free + 4 <= bytes.count else { return false }
            let size = Int(bytes.bigEndian16(free + 2))
            guard size >= 4 else { return false }
            ranges.append(free..<free + size)
            let next = Int(bytes.bigEndian16(free))
            guard next == 0 || next > free else { return false }
            free = next
        }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var (end, gaps) = (content, 0)
        for range in ranges {
            guard range.lowerBound >= end else { return false }
            gaps += range.lowerBound - end
            end = range.upperBound
        }
        return end <= bytes.count && gaps + bytes.count - end == Int(bytes[start + 7])
    }

    /// The cells in their order.
    var cells: some Sequence<Cell> {
        stride(from: pointers.lowerBound, to: pointers.upperBound, by: 2).lazy.compactMap { [self] pointer in
            let start = Int(bytes.bigEndian16(pointer))
            return start >= pointers.upperBound ? cell(at: start) : nil
        }
    }

    private func cell(at start: Int) -> Cell? {
        var offset = start
        var child: Int?
        if lastChild != nil {
            guard start + 4 <= bytes.count else { return nil }
            child = Int(bytes.bigEndian32(start))
            offset += 4
        }
        if kind == .keys {
            guard let key = bytes.variableInteger(at: &offset) else { return nil }
            return Cell(key: key, size: 0, local: [], overflow: nil, child: child, range: range(start, offset))
        }
        guard let size = bytes.variableInteger(at: &offset), size > 0, size <= Int64(Int32.max) else { return nil }
        var key: Int64 = 0
        if kind == .rows {
            guard let read = bytes.variableInteger(at: &offset) else { return nil }
            key = read
        }
        let localSize = localSize(of: Int(size))
        let end = offset + localSize
        let isWhole = localSize == Int(size)
        guard end + (isWhole ? 0 : 4) <= bytes.count else { return nil }
        return Cell(
            key: key, size: Int(size), local: Array(bytes[offset..<end]),
            overflow: isWhole ? nil : Int(bytes.bigEndian32(end)), child: child,
            range: range(start, end + (isWhole ? 0 : 4)))
    }

    /// Returns the range of a cell. Each cell takes at least 4 bytes.
    private func range(_ start: Int, _ end: Int) -> Range<Int> { start..<max(end, start + 4) }

    /// Returns the number of a record's bytes on its page.
    private func localSize(of size: Int) -> Int {
        let usable = bytes.count
        let most = kind == .rows ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard size > most else { return size }
        let least = (usable - 12) * 32 / 255 - 23
        let some = least + (size - least) % (usable - 4)
        return some <= most ? some : least
    }
}

extension [UInt8] {
    /// Reads SQLite's variable-length integer at an offset and moves the offset past it. Returns `nil` if the
    /// bytes end before.
    func variableInteger(at offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        for position in 0..<9 {
            guard offset < count else { return nil }
            let byte = self[offset]
            offset += 1
            if position == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return Int64(bitPattern: value)
    }
}
