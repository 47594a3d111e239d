/// A page of rows, or of entries of an index, as SQLite's file format lays it out (https://sqlite.org/fileformat2.html#b_tree_pages).
///
/// Any bytes may come as a page. A cell that does not fit in it is left out.
struct BTreePage {
    enum Kind {
        case rows
        case entries
    }

    /// A row or an entry as far as it lies on its page.
    struct Cell {
        /// The row's number; 0 for an entry.
        let key: Int64
        /// The size of the whole record in bytes.
        let size: Int
        /// The bytes of the record on this page.
        let local: [UInt8]
        /// The page on which the record goes on; `nil` if all of it is here.
        let overflow: Int?
    }

    let kind: Kind
    private let bytes: [UInt8]
    private let hasChildren: Bool
    private let pointers: Range<Int>

    /// - Parameter isFirst: whether it is the file's first page, where the file's header comes before the page's.
    init?(_ bytes: [UInt8], isFirst: Bool) {
        let start = isFirst ? 100 : 0
        switch bytes[start] {
        case 0x0D: (kind, hasChildren) = (.rows, false)
        case 0x0A: (kind, hasChildren) = (.entries, false)
        case 0x02: (kind, hasChildren) = (.entries, true)
        default: return nil
        }
        let first = start + (hasChildren ? 12 : 8)
        let end = first + 2 * Int(bytes.bigEndian16(start + 3))
        guard end <= bytes.count else { return nil }
        pointers = first..<end
        self.bytes = bytes
    }

    /// The cells in their order.
    var cells: some Sequence<Cell> {
        stride(from: pointers.lowerBound, to: pointers.upperBound, by: 2).lazy.compactMap { [self] pointer in
            let start = Int(bytes.bigEndian16(pointer))
            return start >= pointers.upperBound ? cell(at: start) : nil
        }
    }

    private func cell(at start: Int) -> Cell? {
        var offset = start + (hasChildren ? 4 : 0)
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
            overflow: isWhole ? nil : Int(bytes.bigEndian32(end)))
    }

    /// How much of a record lies on its page.
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
    /// The integer of SQLite's variable length at an offset, which moves behind it; `nil` where the bytes end before it.
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
