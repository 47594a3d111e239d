/// The trees of a damaged database, walked from their roots.
///
/// A tree is intact if every page of it is readable, well-formed and not stale. Then its rows are all rows of the
/// table: rows on other pages were deleted.
final class DamagedTrees {
    private let pages: DamagedPages
    private var known: [String: Bool] = [:]

    init(_ pages: DamagedPages) {
        self.pages = pages
    }

    /// Whether the tree of a table or an index is intact.
    func isWhole(_ table: String) -> Bool {
        if let known = known[table] { return known }
        let rows = SalvagedTable(rawValue: table)
        let root = schema == nil ? rows.flatMap(soleRoot) : schema?.first { $0.name == table }?.root
        let isWhole = root.map { root in
            // Indexes, and the other requested tables, have no row numbers.
            guard let rows else { return walk(root, .entries) { _, _ in true } }
            return walk(root, .rows) { _, row in SalvagedTable(rowOf: row) == rows }
        }
        known[table] = isWhole ?? false
        return isWhole ?? false
    }

    /// The numbers of all sessions, from the table or from one of its indexes; `nil` if none of these trees is
    /// intact.
    private(set) lazy var sessions: Set<Int64>? = {
        guard let schema else { return nil }
        var numbers: Set<Int64> = []
        let table = SalvagedTable.session
        for object in schema where object.table == table.rawValue && !object.isPartial {
            numbers = []
            let isWhole =
                if object.isTable {
                    walk(object.root, .rows) { key, row in
                        numbers.insert(key)
                        return SalvagedTable(rowOf: row) == table
                    }
                } else {
                    walk(object.root, .entries) { _, entry in
                        // The last value of an entry is the number of its row.
                        numbers.insert(entry.integer(entry.count - 1))
                        return entry.kind(0) == .text && entry.kind(entry.count - 1) == .integer
                    }
                }
            if isWhole { return numbers }
        }
        return nil
    }()

    // MARK: The schema

    private struct Object {
        let isTable: Bool
        let name: String
        let table: String
        let root: Int
        /// Whether an index leaves out rows.
        let isPartial: Bool
    }

    /// The tables and indexes; `nil` if the schema's tree is not intact.
    private lazy var schema: [Object]? = {
        var objects: [Object] = []
        let isWhole = walk(1, .rows) { _, row in
            guard row.count == 5, let kind = row.text(0), let name = row.text(1), let table = row.text(2) else {
                return false
            }
            let isPartial = row.text(4)?.contains("WHERE") ?? false
            objects.append(
                Object(
                    isTable: kind == "table", name: name, table: table, root: Int(row.integer(3)),
                    isPartial: isPartial))
            return true
        }
        return isWhole ? objects : nil
    }()

    /// Returns the page above all pages with rows of a table, found without a schema; `nil` if there is none, or more than one.
    ///
    /// Another page is above all the others if the root is damaged. But the roots of all tables are made with the database, and
    /// are among its first 40 pages.
    private func soleRoot(of table: SalvagedTable) -> Int? {
        var parents: [Int: Int] = [:]
        var leaves: [Int] = []
        for number in 1...max(pages.count, 1) {
            guard let page = pages.page(number), page.isWellFormed else { continue }
            for child in page.cells.map(\.child) + [page.lastChild] { child.map { parents[$0] = number } }
            guard page.kind == .rows, let cell = page.cells.first(where: { _ in true }),
                let record = pages.payload(of: cell).flatMap({ DamagedRecord($0, size: cell.size) }),
                SalvagedTable(rowOf: record) == table
            else { continue }
            leaves.append(number)
        }
        let roots = Set(
            leaves.map { leaf in
                var (root, level) = (leaf, 0)
                while let parent = parents[root], level < 20 { (root, level) = (parent, level + 1) }
                return root
            })
        guard roots.count == 1, let root = roots.first, root <= 40 else { return nil }
        return root
    }

    // MARK: Walking

    /// Visits the rows or entries of a tree in no particular order. Returns whether the tree is intact.
    /// - Parameter isOfTree: Whether a record, passed with its key, may belong to the tree.
    private func walk(_ root: Int, _ kind: BTreePage.Kind, _ isOfTree: (Int64, DamagedRecord) -> Bool) -> Bool {
        var visited: Set<Int> = []
        var lastKey = Int64.min
        func visit(_ number: Int, _ level: Int) -> Bool {
            // SQLite itself treats a tree of more than 20 levels as damaged.
            guard level <= 20, !pages.isStale(number), visited.insert(number).inserted, let page = pages.page(number),
                page.kind == kind || page.kind == .keys && kind == .rows, page.isWellFormed
            else { return false }
            // An empty leaf is valid only as the root of a table without rows.
            var isEmpty = page.lastChild == nil && number != root
            for cell in page.cells {
                isEmpty = false
                if let child = cell.child {
                    guard visit(child, level + 1) else { return false }
                }
                if kind == .rows {
                    // A child's last row may have been deleted since.
                    guard page.kind == .keys ? cell.key >= lastKey : cell.key > lastKey else { return false }
                    lastKey = cell.key
                }
                guard page.kind != .keys else { continue }
                guard let payload = pages.payload(of: cell, isCurrent: true),
                    let record = DamagedRecord(payload, size: cell.size), isOfTree(cell.key, record)
                else { return false }
            }
            return !isEmpty && (page.lastChild.map { visit($0, level + 1) } ?? true)
        }
        return visit(root, 1)
    }
}
