import GRDBSQLite
import RecollectCore

/// Reads rows of a damaged database, whatever fails on the way.
final class SalvageReader {
    /// A column's value, as it lies in the file.
    enum Value: SQLBindable {
        case null
        case integer(Int64)
        case text([UInt8])

        var integer: Int64 {
            if case .integer(let value) = self { return value }
            return 0
        }

        func bind(to statement: SQL, at index: Int32) throws {
            switch self {
            case .null: try statement.bindNull(at: index)
            case .integer(let value): try statement.bind(value, at: index)
            case .text(let bytes): try statement.bind(String(decoding: bytes, as: UTF8.self), at: index)
            }
        }
    }

    private let connection: OpaquePointer
    /// How many ranges are tried before the rest is given up: damage at the end of a table makes every try fail.
    private var triesLeft = 4096

    init?(path: String) {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, nil) == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            return nil
        }
        connection = opened
    }

    deinit {
        sqlite3_close_v2(connection)
    }

    var canReadSchema: Bool {
        var count = 0
        _ = read("SELECT name FROM sqlite_master WHERE name = 'message'", []) { _ in count += 1 }
        return count == 1
    }

    /// Those of the columns that a table of the damaged database has: an older version may have written it.
    func columns(_ names: [String], of table: String) -> [String] {
        var known: Set<String> = []
        _ = read("SELECT name FROM pragma_table_info('\(table)')", []) { row in
            if case .text(let name) = row[0] { known.insert(String(decoding: name, as: UTF8.self)) }
        }
        return names.filter(known.contains)
    }

    /// Calls `body` with every readable row of a table, each once.
    ///
    /// - Parameters:
    ///   - columns: the columns to read; the first is the key.
    ///   - key: the table's integer key; `nil` reads forwards only.
    ///   - indexed: columns that an index holds too, read from there where the table cannot be read.
    ///   - index: that index.
    func forEachRow(
        of table: String, columns: String, key: String? = "rowid", orIndexed indexed: String? = nil,
        by index: String? = nil, _ body: ([Value]) throws -> Void
    ) throws {
        var failure: (any Error)?
        let take: ([Value]) -> Void = { row in
            guard failure == nil else { return }
            do { try body(row) } catch { failure = error }
        }
        guard let key else {
            _ = read("SELECT \(columns) FROM \(table)", [], take)
            if let failure { throw failure }
            return
        }
        readRange(of: table, columns, key, after: .min, through: .max, take)
        if let indexed, let index {
            _ = read("SELECT \(indexed) FROM \(table) INDEXED BY \(index)", [], take)
        }
        if let failure { throw failure }
    }

    private func readRange(
        of table: String, _ columns: String, _ key: String, after low: Int64, through high: Int64,
        _ take: ([Value]) -> Void
    ) {
        guard triesLeft > 0, low < high else { return }
        triesLeft -= 1
        var first = low
        let range = "SELECT \(key), \(columns) FROM \(table) WHERE \(key) > ? AND \(key) <= ? ORDER BY \(key)"
        let isWhole = read(range, [low, high]) { row in
            first = row[0].integer
            take(Array(row.dropFirst()))
        }
        guard !isWhole else { return }
        var last = high
        var backwards: [[Value]] = []
        let reachedFirst = read(range + " DESC", [first, high]) { row in
            last = row[0].integer - 1
            backwards.append(Array(row.dropFirst()))
        }
        backwards.reversed().forEach(take)
        guard !reachedFirst, first < last else { return }
        // Between the two ends lies a damaged page; there may be whole ones between damaged ones.
        let middle = first == .min ? min(0, last - 1) : first &+ max(1, (last / 2 &- first / 2))
        guard middle > first, middle < last else { return }
        readRange(of: table, columns, key, after: first, through: middle, take)
        readRange(of: table, columns, key, after: middle, through: last, take)
    }

    /// Runs a query; false if it failed before its end.
    private func read(_ query: String, _ values: [Int64], _ take: ([Value]) -> Void) -> Bool {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, query, -1, &statement, nil) == SQLITE_OK, let statement else {
            return false
        }
        defer { sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() { sqlite3_bind_int64(statement, Int32(index + 1), value) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: take((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
            case SQLITE_DONE: return true
            default: return false
            }
        }
    }

    private func value(_ statement: OpaquePointer, _ column: Int32) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        default:
            guard let bytes = sqlite3_column_text(statement, column) else { return .null }
            return .text(Array(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column)))))
        }
    }
}
