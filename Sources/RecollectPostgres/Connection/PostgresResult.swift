#if Postgres
    import CLibpq

    /// The rows returned by a statement, in PostgreSQL's binary format.
    ///
    /// `@unchecked Sendable` because libpq never changes a complete result, and its functions for reading one are thread-safe
    /// (PostgreSQL documentation, "Behavior in Threaded Programs").
    final class PostgresResult: @unchecked Sendable {
        private let result: OpaquePointer

        /// Creates rows from a result of libpq, which it clears at its end.
        init(_ result: OpaquePointer) {
            self.result = result
        }

        deinit {
            PQclear(result)
        }

        /// The number of rows.
        var count: Int { Int(PQntuples(result)) }

        /// The number of columns.
        var columnCount: Int { Int(PQnfields(result)) }

        /// The command and its number of rows, such as `INSERT 0 1`. A `COMMIT` of a failed transaction returns `ROLLBACK`.
        var commandTag: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

        /// The number of rows inserted, updated, deleted or selected.
        var affectedCount: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

        func isNull(_ row: Int, _ column: Int) -> Bool {
            PQgetisnull(result, Int32(row), Int32(column)) != 0
        }

        /// Calls `body` with the bytes of a field. They are valid only during the call. NULL has none.
        func withBytes<Value>(
            _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
        ) rethrows -> Value {
            let count = Int(PQgetlength(result, Int32(row), Int32(column)))
            return try body(UnsafeRawBufferPointer(start: PQgetvalue(result, Int32(row), Int32(column)), count: count))
        }

        func bytes(_ row: Int, _ column: Int) -> [UInt8] {
            withBytes(row, column) { [UInt8]($0) }
        }

        /// The text of a `text` or a `bytea` field. Bytes other than UTF-8 are replaced.
        func text(_ row: Int, _ column: Int) -> String {
            withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
        }

        /// The value of a field of 2, 4 or 8 bytes: `smallint`, `integer` or `bigint`.
        func integer(_ row: Int, _ column: Int) -> Int64 {
            withBytes(row, column) { bytes in
                let magnitude = bytes.reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
                let unused = 64 - bytes.count * 8
                return unused < 64 ? Int64(bitPattern: magnitude << unused) >> unused : 0
            }
        }

        func boolean(_ row: Int, _ column: Int) -> Bool {
            withBytes(row, column) { $0.first == 1 }
        }

        func double(_ row: Int, _ column: Int) -> Double {
            Double(bitPattern: UInt64(bitPattern: integer(row, column)))
        }

        /// The texts of an array of `bytea` without NULL.
        func texts(_ row: Int, _ column: Int) -> [String] {
            withBytes(row, column) { bytes in
                // The number of dimensions, a flag and the type, then the size and the lower bound of the dimension.
                guard bytes.count >= 20 else { return [] }
                func integer(at offset: Int) -> Int {
                    Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
                }
                var offset = 20
                return (0..<integer(at: 12)).map { _ in
                    let count = integer(at: offset)
                    defer { offset += 4 + count }
                    return String(decoding: bytes[offset + 4..<offset + 4 + count], as: UTF8.self)
                }
            }
        }
    }

    extension PostgresResult {
        func optionalText(_ row: Int, _ column: Int) -> String? {
            isNull(row, column) ? nil : text(row, column)
        }

        func optionalInteger(_ row: Int, _ column: Int) -> Int64? {
            isNull(row, column) ? nil : integer(row, column)
        }
    }
#endif
