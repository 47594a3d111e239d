#if Postgres
    /// A parameter of a statement, sent in PostgreSQL's binary format.
    ///
    /// IDs and bodies are `bytes`: PostgreSQL's `text` refuses U+0000.
    enum PostgresValue: Sendable, Equatable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case double(Double)
        case text(String)
        case bytes([UInt8])
        case integers([Int64])
        case texts([String])
        /// An array of byte strings, with `nil` for NULL.
        case byteArrays([[UInt8]?])

        /// The object ID of the type, from PostgreSQL's `pg_type.dat`.
        var typeID: UInt32 {
            switch self {
            case .null: 0
            case .boolean: 16
            case .integer: 20
            case .double: 701
            case .text: 25
            case .bytes: 17
            case .integers: 1016
            case .texts: 1009
            case .byteArrays: 1001
            }
        }

        /// The size of a text or of byte strings in bytes; 0 for other values.
        var byteCount: Int {
            switch self {
            case .null, .boolean, .integer, .double, .integers: 0
            case .text(let value): value.utf8.count
            case .bytes(let value): value.count
            case .texts(let values): values.reduce(0) { $0 + $1.utf8.count }
            case .byteArrays(let values): values.reduce(0) { $0 + ($1?.count ?? 0) }
            }
        }

        /// Appends the value to a buffer. Returns `false` for NULL, which has no bytes.
        func write(to buffer: inout [UInt8]) -> Bool {
            switch self {
            case .null: return false
            case .boolean(let value): buffer.append(value ? 1 : 0)
            case .integer(let value): buffer.append(bigEndian: value)
            case .double(let value): buffer.append(bigEndian: value.bitPattern)
            case .text(let value): buffer.append(contentsOf: value.utf8)
            case .bytes(let value): buffer.append(contentsOf: value)
            case .integers(let values):
                buffer.appendArrayHead(elementTypeID: 20, count: values.count, hasNull: false)
                for value in values {
                    buffer.append(bigEndian: Int32(8))
                    buffer.append(bigEndian: value)
                }
            case .texts(let values):
                buffer.appendArrayHead(elementTypeID: 25, count: values.count, hasNull: false)
                for value in values {
                    buffer.append(bigEndian: Int32(value.utf8.count))
                    buffer.append(contentsOf: value.utf8)
                }
            case .byteArrays(let values):
                buffer.appendArrayHead(elementTypeID: 17, count: values.count, hasNull: values.contains(nil))
                for value in values {
                    buffer.append(bigEndian: Int32(value?.count ?? -1))
                    buffer.append(contentsOf: value ?? [])
                }
            }
            return true
        }
    }

    extension [UInt8] {
        fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
            Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
        }

        /// Appends the header of an array of one dimension with the lower bound 1. An empty array has no dimensions.
        fileprivate mutating func appendArrayHead(elementTypeID: Int32, count: Int, hasNull: Bool) {
            append(bigEndian: Int32(count == 0 ? 0 : 1))
            append(bigEndian: Int32(hasNull ? 1 : 0))
            append(bigEndian: elementTypeID)
            guard count > 0 else { return }
            append(bigEndian: Int32(count))
            append(bigEndian: Int32(1))
        }
    }

    extension String {
        /// The bytes of UTF-8.
        var bytes: [UInt8] { Array(utf8) }
    }

    extension PostgresValue {
        /// The bytes of a string in UTF-8; NULL for `nil`.
        static func bytes(of text: String?) -> PostgresValue {
            text.map { .bytes($0.bytes) } ?? .null
        }

        /// NULL for `nil`.
        static func optional(_ bytes: [UInt8]?) -> PostgresValue {
            bytes.map { .bytes($0) } ?? .null
        }

        /// NULL for `nil`.
        static func optional(_ integer: Int64?) -> PostgresValue {
            integer.map { .integer($0) } ?? .null
        }
    }
#endif
