import Foundation
import GRDB
import GRDBSQLite
import RecollectCore
import RecollectSQLite

/// A connection to another program's database. Not for concurrent use. All calls block and throw `DatabaseError`.
final class ForeignDatabase {
    private let connection: OpaquePointer

    init(uri: String, isReadOnly: Bool) throws {
        var opened: OpaquePointer?
        let flags = (isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(uri, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        connection = opened
        sqlite3_busy_timeout(opened, 10_000)
        sqlite3_extended_result_codes(opened, 1)
    }

    deinit {
        sqlite3_close_v2(connection)
    }

    /// Copies the whole database into a new file in one step, for a consistent snapshot.
    func backUp(to path: String) throws {
        var target: OpaquePointer?
        defer { sqlite3_close_v2(target) }
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        guard sqlite3_open_v2(path, &target, flags, nil) == SQLITE_OK,
            let backup = sqlite3_backup_init(target, "main", connection, "main")
        else { throw failure(target, sqlite3_errcode(target)) }
        let deadline = ContinuousClock.now + .seconds(10)
        var code = sqlite3_backup_step(backup, -1)
        while [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF), ContinuousClock.now < deadline {
            sqlite3_sleep(20)
            code = sqlite3_backup_step(backup, -1)
        }
        let finished = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw failure(target, code) }
        guard finished == SQLITE_OK else { throw failure(target, finished) }
    }

    /// Runs statements without rows.
    func run(_ text: String) throws {
        let code = sqlite3_exec(connection, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(connection, code) }
    }

    /// Calls `body` with every row of a query. The row is valid during the call.
    func forEachRow(_ query: String, _ values: any SQLBindable..., body: (RecollectSQLite.SQL) throws -> Void) throws {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, query, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(connection, code) }
        defer { sqlite3_finalize(statement) }
        let query = try RecollectSQLite.SQL(statement).bind(values)
        while try query.step() { try body(query) }
    }

    /// Returns the names of a table's columns, or an empty set for a missing table.
    func columns(of table: String) throws -> Set<String> {
        var names: Set<String> = []
        try forEachRow("SELECT name FROM pragma_table_info(?)", table) { names.insert($0.text(0)) }
        return names
    }

    private func failure(_ connection: OpaquePointer?, _ code: Int32) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: connection.map { String(cString: sqlite3_errmsg($0)) })
    }
}

/// A row of a table with possibly unknown columns: fields are taken by name, and the others remain.
struct ForeignRow {
    private var values: [String: JSONValue] = [:]

    /// Creates a copy of all columns of a row.
    init(_ row: RecollectSQLite.SQL) {
        for column in 0..<sqlite3_column_count(row.pointer) {
            guard let name = sqlite3_column_name(row.pointer, column) else { continue }
            values[String(cString: name)] = row.value(column)
        }
    }

    /// Takes a column's value, or `nil` for NULL and for a missing column.
    mutating func take(_ name: String) -> JSONValue? {
        values.removeValue(forKey: name)
    }

    /// Takes the text of a column, with a number as its digits.
    mutating func text(_ name: String) -> String? {
        switch take(name) {
        case .string(let text): text
        case .some(let value): value.jsonString
        case nil: nil
        }
    }

    /// Whether a column is true, or `nil` if it is no integer.
    mutating func isTrue(_ name: String) -> Bool? {
        take(name).flatMap { $0.integerValue.map { $0 != 0 } }
    }

    /// Takes the date of a column in SQLite.swift's format: `yyyy-MM-dd'T'HH:mm:ss.SSS` in UTC. Returns `nil` for
    /// any other value and leaves it in the row.
    mutating func date(_ name: String) -> Date? {
        guard case .string(let text) = values[name],
            let date = ISO8601.date(text) ?? ISO8601.date(text + "Z")
        else { return nil }
        values[name] = nil
        return date
    }

    /// The columns not taken, without NULL.
    var rest: [String: JSONValue] { values }
}

extension RecollectSQLite.SQL {
    /// Returns a column's value as JSON, or `nil` for NULL. Bytes become base64.
    fileprivate func value(_ column: Int32) -> JSONValue? {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_NULL: nil
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .number(double(column))
        case SQLITE_TEXT: .string(text(column))
        default: .string(withBytes(column) { Data($0).base64EncodedString() })
        }
    }
}
