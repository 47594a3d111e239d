import Foundation

/// The pages of a SQLite database file without a log: the table or index of each page, and the pages of a table's rows.
/// Reads the file format (https://sqlite.org/fileformat.html) directly, so that it also works for files that SQLite
/// refuses.
package struct DatabasePages {
    /// A row of a table.
    struct Row {
        var id: Int64
        /// The columns. Only texts and integers have their values.
        var columns: [Column]
        /// The leaf with the row, and its overflow pages.
        var pages: [Int]
    }

    enum Column: Equatable {
        case null
        case integer(Int64)
        case text(String)
        case other

        var text: String? {
            if case .text(let text) = self { return text }
            return nil
        }
    }

    package let pageSize: Int
    /// The number of pages. Page numbers begin with 1.
    package let count: Int
    /// Root pages of tables and indexes, by name.
    private(set) var roots: [String: Int] = [:]
    /// The owner of each page, for example `message`, `message (interior)` or `message (overflow)`.
    package private(set) var owners: [Int: String] = [:]

    private let bytes: [UInt8]

    package init(file: URL) throws {
        bytes = Array(try Data(contentsOf: file))
        let size = bytes.count > 100 ? Int(bytes[16]) << 8 | Int(bytes[17]) : 0
        pageSize = size == 1 ? 65_536 : max(size, 512)
        count = bytes.count / pageSize
        for row in rows(root: 1) where row.columns.count >= 4 {
            guard let name = row.columns[1].text, case .integer(let root) = row.columns[3], root > 0 else { continue }
            roots[name] = Int(root)
        }
        for (name, root) in roots.merging(["sqlite_schema": 1], uniquingKeysWith: { a, _ in a }) {
            visit(root, as: name)
        }
    }

    /// The rows of a table, in the order of their IDs.
    func rows(of table: String) -> [Row] {
        roots[table].map { rows(root: $0) } ?? []
    }

    /// The leaves of a table, in order.
    func leaves(of table: String) -> [Int] {
        roots[table].map { leaves(root: $0) } ?? []
    }

    // MARK: B-trees

    private func byte(_ position: Int) -> Int { position < bytes.count ? Int(bytes[position]) : 0 }

    private func number(_ position: Int, bytes count: Int) -> Int {
        (0..<count).reduce(0) { $0 << 8 | byte(position + $1) }
    }

    private func start(of page: Int) -> Int { (page - 1) * pageSize }

    /// The offset of a page's b-tree header. On the first page, it follows the file header.
    private func header(of page: Int) -> Int { start(of: page) + (page == 1 ? 100 : 0) }

    private func kind(of page: Int) -> Int { byte(header(of: page)) }

    private func cells(of page: Int) -> [Int] {
        let isInterior = kind(of: page) == 5 || kind(of: page) == 2
        let pointers = header(of: page) + (isInterior ? 12 : 8)
        return (0..<number(header(of: page) + 3, bytes: 2)).map {
            start(of: page) + number(pointers + 2 * $0, bytes: 2)
        }
    }

    private func children(of page: Int) -> [Int] {
        guard kind(of: page) == 5 || kind(of: page) == 2 else { return [] }
        return cells(of: page).map { number($0, bytes: 4) } + [number(header(of: page) + 8, bytes: 4)]
    }

    private func leaves(root: Int) -> [Int] {
        kind(of: root) == 13 ? [root] : children(of: root).flatMap { leaves(root: $0) }
    }

    private func rows(root: Int) -> [Row] {
        leaves(root: root).flatMap { page in
            cells(of: page).map { cell in
                var position = cell
                let size = Int(varint(&position))
                let id = varint(&position)
                let (payload, overflow) = self.payload(at: position, size: size, isIndex: false)
                return Row(id: id, columns: columns(of: payload), pages: [page] + overflow)
            }
        }
    }

    private mutating func visit(_ page: Int, as name: String) {
        guard page > 0, page <= count, owners[page] == nil else { return }
        let kind = kind(of: page)
        owners[page] = kind == 5 || kind == 2 ? "\(name) (interior)" : name
        children(of: page).forEach { visit($0, as: name) }
        guard kind != 5 else { return }
        for cell in cells(of: page) {
            var position = cell + (kind == 2 ? 4 : 0)
            let size = Int(varint(&position))
            if kind == 13 { _ = varint(&position) }
            for page in payload(at: position, size: size, isIndex: kind != 13).overflow {
                owners[page] = "\(name) (overflow)"
            }
        }
    }

    /// A cell's content, and its overflow pages.
    private func payload(at position: Int, size: Int, isIndex: Bool) -> (bytes: [UInt8], overflow: [Int]) {
        let usable = pageSize - byte(20)
        let most = isIndex ? (usable - 12) * 64 / 255 - 23 : usable - 35
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (size - least) % (usable - 4)
        let local = size <= most ? size : (fitting <= most ? fitting : least)
        guard position + local <= bytes.count, local >= 0 else { return ([], []) }
        var payload = Array(bytes[position..<(position + local)])
        var pages: [Int] = []
        var next = size > local ? number(position + local, bytes: 4) : 0
        while next > 0, next <= count, payload.count < size, !pages.contains(next) {
            pages.append(next)
            let begin = start(of: next) + 4
            payload += bytes[begin..<(begin + min(usable - 4, size - payload.count))]
            next = number(start(of: next), bytes: 4)
        }
        return (payload, pages)
    }

    private func varint(_ position: inout Int) -> Int64 {
        Self.varint(&position) { UInt8(byte($0)) }
    }

    private static func varint(_ position: inout Int, _ byte: (Int) -> UInt8) -> Int64 {
        var value: UInt64 = 0
        for index in 0..<9 {
            let next = byte(position)
            position += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(next)) }
            value = value << 7 | UInt64(next & 0x7F)
            if next & 0x80 == 0 { break }
        }
        return Int64(bitPattern: value)
    }

    private func columns(of record: [UInt8]) -> [Column] {
        let byte = { (position: Int) -> UInt8 in position < record.count ? record[position] : 0 }
        var position = 0
        let headerSize = Int(Self.varint(&position, byte))
        var types: [Int64] = []
        while position < headerSize, position < record.count { types.append(Self.varint(&position, byte)) }
        var body = headerSize
        return types.map { type in
            let size = Self.size(of: type)
            defer { body += size }
            guard body + size <= record.count else { return .other }
            let content = record[body..<(body + size)]
            switch type {
            case 0: return .null
            case 8, 9: return .integer(type - 8)
            case 1...6:
                let first: Int64 = content.first.map { $0 & 0x80 == 0 ? 0 : -1 } ?? 0
                return .integer(content.reduce(first) { $0 << 8 | Int64($1) })
            case 13... where type % 2 == 1: return .text(String(decoding: content, as: UTF8.self))
            default: return .other
            }
        }
    }

    private static func size(of type: Int64) -> Int {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        default: max(0, Int(type - 12) / 2)
        }
    }
}
