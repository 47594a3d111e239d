import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

/// Writes rows of a damaged database into a new one, with unchanged values.
final class SalvageWriter {
    private let db: Database
    /// The columns of each table in the order of its rows. Rows of an older schema have only the first of them.
    private let columns: [SalvagedTable: [String]]
    private var written = 0

    init(_ db: Database) throws {
        self.db = db
        var columns: [SalvagedTable: [String]] = [:]
        for table in SalvagedTable.allCases {
            try db.sql("SELECT name FROM pragma_table_info(?)").bind(table.rawValue)
                .forEachRow { columns[table, default: []].append($0.text(0)) }
        }
        self.columns = columns
    }

    /// Runs a step of the copy in the current transaction, or in a new one. Commits after enough bytes were
    /// written. A failed step ends the copy, so nothing is rolled back.
    func transactions<Result>(_ step: () throws -> Result) throws -> Result {
        if !db.isInsideTransaction { try db.run("BEGIN") }
        let result = try step()
        if written > 4_000_000 { try commit() }
        return result
    }

    /// Commits the last transaction.
    func commit() throws {
        if db.isInsideTransaction { try db.run("COMMIT") }
        written = 0
    }

    /// Inserts a row unless its key, or one of its unique values, already exists. Returns whether it was inserted.
    /// - Parameter values: Values for columns by name, in place of the row's.
    @discardableResult
    func insert(
        _ row: DamagedRecord, _ key: Int64, into table: SalvagedTable, replacing values: [String: Int64?] = [:]
    ) throws -> Bool {
        var names = Array((columns[table] ?? []).prefix(row.count))
        // Columns missing from the row get their defaults.
        let added = values.keys.filter { !names.contains($0) && values[$0] != .some(nil) }.sorted()
        names += added.filter { (columns[table] ?? []).contains($0) }
        let marks = repeatElement("?", count: names.count).joined(separator: ", ")
        let statement = try db.sql(
            "INSERT OR IGNORE INTO \(table.rawValue) (\(names.joined(separator: ", "))) VALUES (\(marks))")
        for (index, name) in names.enumerated() {
            if index == 0 {
                try statement.bind(.integer(key), at: 1)
            } else if let value = values[name] {
                try statement.bind(value.map(RawValue.integer) ?? .null, at: index + 1)
            } else {
                try statement.bind(RawValue(row, index), at: index + 1)
            }
        }
        try statement.run()
        written += 100 + row.size
        return db.changesCount > 0
    }

    /// Inserts a message and the uses of its attachments. Content with a wrong checksum is copied with this
    /// checksum, so that `check()` reports it. A message without a checksum gets one. Returns whether the message
    /// was inserted.
    func insertMessage(_ row: DamagedRecord, _ key: Int64) throws -> Bool {
        let names = columns[.message] ?? []
        func index(_ name: String) -> Int { names.firstIndex(of: name) ?? .max }
        // Text other than UTF-8 was never saved, and could not be addressed.
        guard row.text(index("role")) != nil, row.text(index("message_id")) != nil else { return false }
        var values: [String: Int64?] = [:]
        if row.kind(index("checksum")) == .null {
            var checksum = MessageChecksum()
            for name in MessageChecksum.columns {
                switch row.kind(index(name)) {
                case .null: checksum.addNull()
                case .integer: checksum.add(row.integer(index(name)))
                default: row.bytes(index(name)).withUnsafeBytes { checksum.add($0) }
                }
            }
            values["checksum"] = checksum.value
        }
        guard try insert(row, key, into: .message, replacing: values) else { return false }
        let parts = row.bytes(index("parts"))
        if parts.contains(Array("\"sha256\"".utf8)) {
            // Unreadable parts use no attachments; `check()` reports them.
            let list = (try? parts.withUnsafeBytes { try ContentPart.parse(list: $0) }) ?? []
            try AttachmentUse.insert(
                ConversationMessage(role: .user, parts: list), sequence: SequenceNumber(rawValue: key), db)
        }
        return true
    }
}

/// A value for a statement, as stored in a row.
private enum RawValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(ArraySlice<UInt8>)
    case blob(ArraySlice<UInt8>)

    init(_ row: DamagedRecord, _ index: Int) {
        self =
            switch row.kind(index) {
            case .null: .null
            case .integer: .integer(row.integer(index))
            case .real: .real(row.real(index))
            case .text: .text(row.bytes(index))
            case .blob: .blob(row.bytes(index))
            }
    }
}

extension SQL {
    /// Binds a value. Text keeps its bytes, even if they are not UTF-8.
    fileprivate func bind(_ value: RawValue, at index: Int) throws {
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .null: sqlite3_bind_null(pointer, Int32(index))
            case .integer(let value): sqlite3_bind_int64(pointer, Int32(index), value)
            case .real(let value): sqlite3_bind_double(pointer, Int32(index), value)
            case .text(let bytes):
                // An empty buffer may have no address, and SQLite treats a string without an address as NULL.
                bytes.isEmpty
                    ? sqlite3_bind_text(pointer, Int32(index), "", 0, copies)
                    : bytes.withUnsafeBytes {
                        sqlite3_bind_text(
                            pointer, Int32(index), $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count),
                            copies)
                    }
            case .blob(let bytes):
                bytes.withUnsafeBytes {
                    sqlite3_bind_blob(pointer, Int32(index), $0.baseAddress, Int32($0.count), copies)
                }
            }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
