import GRDB
import GRDBSQLite
import RecollectCore

extension Database {
    /// Returns a statement from this connection's cache, ready to bind.
    ///
    /// GRDB binds text with a length of −1 and reads C strings, which cuts text at U+0000. So Recollect uses `SQL`
    /// for all its data: it binds and reads byte lengths.
    func sql(_ text: String) throws -> SQL {
        SQL(try cachedStatement(sql: text).sqliteStatement)
    }

    /// Runs a statement without rows.
    func run(_ text: String, _ values: any SQLBindable...) throws {
        try sql(text).bind(values).run()
    }

    /// Returns the first row's first column as an integer, or `nil` without a row or for NULL.
    func integer(_ text: String, _ values: any SQLBindable...) throws -> Int64? {
        let statement = try sql(text).bind(values)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalInteger(0) : nil
    }

    /// Returns the first row's first column, or `nil` without a row or for NULL.
    func value<Value: IntegerColumn>(_ text: String, _ values: any SQLBindable...) throws -> Value? {
        let statement = try sql(text).bind(values)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalValue(0) : nil
    }

    /// Returns the first row's first column as text, or `nil` without a row or for NULL.
    func optionalText(_ text: String, _ values: any SQLBindable...) throws -> String? {
        let statement = try sql(text).bind(values)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalText(0) : nil
    }

    /// The row ID of the last inserted row.
    func lastInserted<ID: IntegerColumn>() -> ID { ID(rawValue: lastInsertedRowID) }

    /// Returns the first column of all rows.
    func values<Value: IntegerColumn>(_ text: String, _ values: any SQLBindable...) throws -> [Value] {
        try self.values(text, values)
    }

    /// Returns the first column of all rows.
    func values<Value: IntegerColumn>(_ text: String, _ values: [any SQLBindable]) throws -> [Value] {
        var column: [Value] = []
        try sql(text).bind(values).forEachRow { column.append($0.value(0)) }
        return column
    }
}

extension Sequence where Element: IntegerColumn {
    /// The numbers as JSON, for `json_each`: one text for any number of them.
    var jsonArray: String { "[" + map { String($0.rawValue) }.joined(separator: ",") + "]" }
}

extension DatabaseError {
    /// Creates the error of a connection's last call.
    init(_ code: Int32, of connection: OpaquePointer?) {
        self.init(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
    }
}

/// A prepared statement with operations to bind values, step, and read columns. All lengths are in bytes.
package struct SQL {
    package let pointer: OpaquePointer

    package init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        sqlite3_reset(pointer)
    }

    /// Binds parameters in order from 1.
    @discardableResult
    package func bind(_ values: [any SQLBindable]) throws -> SQL {
        for (index, value) in values.enumerated() {
            try value.bind(to: self, at: Int32(index + 1))
        }
        return self
    }

    @discardableResult
    func bind(_ values: any SQLBindable...) throws -> SQL {
        try bind(values)
    }

    func bind(_ value: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(pointer, index, value))
    }

    func bind(_ value: some IntegerColumn, at index: Int32) throws {
        try bind(value.rawValue, at: index)
    }

    func bind(_ value: String, at index: Int32) throws {
        var value = value
        try value.withUTF8 { try bindText(UnsafeRawBufferPointer($0), at: index, Self.transient) }
    }

    /// Binds UTF-8 without a copy. The bytes must stay valid until the statement has run.
    func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws {
        try bindText(bytes, at: index, nil)
    }

    private func bindText(
        _ bytes: UnsafeRawBufferPointer, at index: Int32, _ destructor: sqlite3_destructor_type?
    ) throws {
        // An empty buffer may have no address, and SQLite treats text without an address as NULL.
        guard let address = bytes.baseAddress, !bytes.isEmpty else {
            return try check(sqlite3_bind_text(pointer, index, "", 0, Self.transient))
        }
        // The length has 64 bits: SQLite refuses text that is too long instead of cutting it.
        try check(
            sqlite3_bind_text64(
                pointer, index, address.assumingMemoryBound(to: CChar.self), sqlite3_uint64(bytes.count), destructor,
                UInt8(SQLITE_UTF8)))
    }

    func bindNull(at index: Int32) throws {
        try check(sqlite3_bind_null(pointer, index))
    }

    /// Throws for a failed binding. The parameter would be NULL, and the statement would report success without
    /// saving the value.
    private func check(_ code: Int32) throws {
        if code == SQLITE_OK { return }
        sqlite3_reset(pointer)
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
    }

    /// Moves to the next row. Returns false at the end.
    package func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = DatabaseError(code, of: sqlite3_db_handle(pointer))
            sqlite3_reset(pointer)
            throw error
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

    package func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    func value<Value: IntegerColumn>(_ column: Int32) -> Value {
        Value(rawValue: integer(column))
    }

    func optionalValue<Value: IntegerColumn>(_ column: Int32) -> Value? {
        isNull(column) ? nil : value(column)
    }

    package func double(_ column: Int32) -> Double {
        sqlite3_column_double(pointer, column)
    }

    package func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(pointer, column) else { return "" }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// Calls `body` with the bytes of a text or blob column, valid until the next step.
    package func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        let bytes = sqlite3_column_blob(pointer, column)
        let count = Int(sqlite3_column_bytes(pointer, column))
        return try body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    /// With this destructor, SQLite copies bound bytes before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// A value that can be bound to a statement.
package protocol SQLBindable {
    func bind(to statement: SQL, at index: Int32) throws
}

extension Int64: SQLBindable {
    package func bind(to statement: SQL, at index: Int32) throws { try statement.bind(self, at: index) }
}

extension Int: SQLBindable {
    package func bind(to statement: SQL, at index: Int32) throws { try statement.bind(Int64(self), at: index) }
}

extension String: SQLBindable {
    package func bind(to statement: SQL, at index: Int32) throws { try statement.bind(self, at: index) }
}

extension Bool: SQLBindable {
    package func bind(to statement: SQL, at index: Int32) throws { try statement.bind(self ? 1 : 0, at: index) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
    package func bind(to statement: SQL, at index: Int32) throws {
        if let self { try self.bind(to: statement, at: index) } else { try statement.bindNull(at: index) }
    }
}
