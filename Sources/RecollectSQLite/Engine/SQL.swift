import GRDB
import GRDBSQLite
import RecollectCore

extension Database {
    /// A statement of this connection's cache, ready to bind.
    ///
    /// GRDB binds text with a length of −1 and reads C strings, so text that holds U+0000 is cut; everything that Recollect
    /// keeps goes through `SQL`, which binds and reads byte lengths.
    func sql(_ text: String) throws -> SQL {
        SQL(try cachedStatement(sql: text).sqliteStatement)
    }

    /// Runs a statement that gives no rows.
    func run(_ text: String, _ values: any SQLBindable...) throws {
        try sql(text).bind(values).run()
    }

    /// The first row's first column as an integer; `nil` without a row or for NULL.
    func integer(_ text: String, _ values: any SQLBindable...) throws -> Int64? {
        let statement = try sql(text).bind(values)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalInteger(0) : nil
    }

    /// The first row's first column as text; `nil` without a row or for NULL.
    func optionalText(_ text: String, _ values: any SQLBindable...) throws -> String? {
        let statement = try sql(text).bind(values)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalText(0) : nil
    }

    /// The first column of all rows.
    func integers(_ text: String, _ values: any SQLBindable...) throws -> [Int64] {
        var integers: [Int64] = []
        try sql(text).bind(values).forEachRow { integers.append($0.integer(0)) }
        return integers
    }
}

extension Sequence<Int64> {
    /// The numbers as JSON, for `json_each`: one text for any number of them.
    var jsonArray: String { "[" + map(String.init).joined(separator: ",") + "]" }
}

/// A prepared statement: bind, step, read columns; byte lengths everywhere.
struct SQL {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        sqlite3_reset(pointer)
    }

    /// Binds parameters in order from 1.
    @discardableResult
    func bind(_ values: [any SQLBindable]) throws -> SQL {
        for (index, value) in values.enumerated() {
            value.bind(to: self, at: Int32(index + 1))
        }
        return self
    }

    @discardableResult
    func bind(_ values: any SQLBindable...) throws -> SQL {
        try bind(values)
    }

    func bind(_ value: Int64, at index: Int32) {
        sqlite3_bind_int64(pointer, index, value)
    }

    func bind(_ value: String, at index: Int32) {
        var value = value
        value.withUTF8 { bytes in
            // An empty buffer may have no address, and SQLite takes a text without an address for NULL.
            guard let address = bytes.baseAddress, !bytes.isEmpty else {
                sqlite3_bind_text(pointer, index, "", 0, Self.transient)
                return
            }
            address.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                _ = sqlite3_bind_text(pointer, index, $0, Int32(bytes.count), Self.transient)
            }
        }
    }

    func bindNull(at index: Int32) {
        sqlite3_bind_null(pointer, index)
    }

    /// Moves to the next row; false at the end.
    func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(pointer)))
            sqlite3_reset(pointer)
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
    }

    /// Runs to the end and resets.
    func run() throws {
        while try step() {}
        reset()
    }

    func reset() {
        sqlite3_reset(pointer)
    }

    /// Calls `body` for each row, then resets.
    func forEachRow(_ body: (SQL) throws -> Void) throws {
        defer { reset() }
        while try step() { try body(self) }
    }

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    func double(_ column: Int32) -> Double {
        sqlite3_column_double(pointer, column)
    }

    func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(pointer, column) else { return "" }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// The bytes of a text or blob column, valid until the next step.
    func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let bytes = sqlite3_column_blob(pointer, column)
        let count = Int(sqlite3_column_bytes(pointer, column))
        return try body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    /// SQLite copies what is bound before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// A value that can be bound to a statement.
protocol SQLBindable {
    func bind(to statement: SQL, at index: Int32)
}

extension Int64: SQLBindable {
    func bind(to statement: SQL, at index: Int32) { statement.bind(self, at: index) }
}

extension Int: SQLBindable {
    func bind(to statement: SQL, at index: Int32) { statement.bind(Int64(self), at: index) }
}

extension String: SQLBindable {
    func bind(to statement: SQL, at index: Int32) { statement.bind(self, at: index) }
}

extension Bool: SQLBindable {
    func bind(to statement: SQL, at index: Int32) { statement.bind(self ? 1 : 0, at: index) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
    func bind(to statement: SQL, at index: Int32) {
        if let self { self.bind(to: statement, at: index) } else { statement.bindNull(at: index) }
    }
}
