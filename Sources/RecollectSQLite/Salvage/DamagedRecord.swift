/// A row or an index entry in SQLite's record format: types, then values.
struct DamagedRecord {
    enum Kind: Equatable {
        case null
        case integer
        case real
        case text
        case blob
    }

    private let bytes: [UInt8]
    /// The type number and the offset of each value.
    private var values: [(type: Int64, offset: Int)] = []

    /// Creates a record by reading its types; `nil` if they do not add up to `size` bytes.
    /// - Parameter bytes: The record, or its beginning. Of values ending past these bytes, only the types are
    ///   available.
    init?(_ bytes: [UInt8], size: Int) {
        var position = 0
        guard let head = bytes.variableInteger(at: &position), head >= position, head <= bytes.count else { return nil }
        var offset = Int(head)
        while position < head {
            guard let type = bytes.variableInteger(at: &position), let length = Self.length(of: type) else {
                return nil
            }
            values.append((type, offset))
            offset += length
            guard offset <= size else { return nil }
        }
        guard position == head, offset == size else { return nil }
        self.bytes = bytes
    }

    private static func length(of type: Int64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 12...(Int64(Int32.max)): Int(type - 12) / 2
        default: nil
        }
    }

    /// The number of bytes passed to the initializer.
    var size: Int { bytes.count }

    /// The number of values.
    var count: Int { values.count }

    /// Returns the type of a value; `null` past the last one.
    func kind(_ index: Int) -> Kind {
        guard index < values.count else { return .null }
        return switch values[index].type {
        case 0: .null
        case 7: .real
        case 1...9: .integer
        case let type where type & 1 == 1: .text
        default: .blob
        }
    }

    /// Whether the first values have these types. `nil` matches any type.
    func begins(with kinds: [Kind?]) -> Bool {
        count >= kinds.count && kinds.indices.allSatisfy { kinds[$0] == nil || kinds[$0] == kind($0) }
    }

    /// Returns an integer; 0 for a value of another type or outside of the bytes.
    func integer(_ index: Int) -> Int64 {
        guard index < values.count else { return 0 }
        let (type, offset) = values[index]
        if type == 9 { return 1 }
        guard let length = Self.length(of: type), length > 0, length <= 8, type < 7, offset + length <= bytes.count
        else { return 0 }
        let first = Int64(Int8(bitPattern: bytes[offset]))
        return bytes[offset + 1..<offset + length].reduce(first) { $0 << 8 | Int64($1) }
    }

    /// Returns the bytes of a text or a blob; none for a value of another type or outside of the bytes.
    func bytes(_ index: Int) -> ArraySlice<UInt8> {
        guard index < values.count, values[index].type >= 12, let length = Self.length(of: values[index].type),
            values[index].offset + length <= bytes.count
        else { return [] }
        return bytes[values[index].offset..<values[index].offset + length]
    }

    /// Returns a string; `nil` for a value of another type or invalid UTF-8.
    func text(_ index: Int) -> String? {
        guard kind(index) == .text else { return nil }
        let text = String(decoding: bytes(index), as: UTF8.self)
        return text.utf8.elementsEqual(bytes(index)) ? text : nil
    }

    /// Returns a real number; 0 for a value outside of the bytes.
    func real(_ index: Int) -> Double {
        guard index < values.count, values[index].offset + 8 <= bytes.count else { return 0 }
        let pattern = bytes[values[index].offset..<values[index].offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(bitPattern: pattern)
    }
}
