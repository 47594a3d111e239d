/// Equality by bytes. `==` of Swift strings also accepts canonical equivalents: `é` as one code point and as two.
///
/// A user's edit from one to the other is an edit, and is saved like any other.
extension JSONValue {
    package func hasSameBytes(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.hasSameBytes(as: $1) }
        case (.object(let left), .object(let right)): left.hasSameBytes(as: right) { $0.hasSameBytes(as: $1) }
        default: self == other
        }
    }
}

extension [String: JSONValue] {
    package func hasSameBytes(as other: Self) -> Bool {
        hasSameBytes(as: other) { $0.hasSameBytes(as: $1) }
    }

    /// Whether the object has a member with this name and value. Keys of dictionaries can be equal with different bytes.
    package func hasMember(_ name: String, _ value: JSONValue) -> Bool {
        guard let index = index(forKey: name), self[index].key.hasSameBytes(as: name) else { return false }
        return self[index].value.hasSameBytes(as: value)
    }
}

extension [String: String] {
    package func hasSameBytes(as other: Self) -> Bool {
        hasSameBytes(as: other) { $0.hasSameBytes(as: $1) }
    }
}

extension [String: String]? {
    package func hasSameBytes(as other: Self) -> Bool {
        guard let left = self, let right = other else { return self == nil && other == nil }
        return left.hasSameBytes(as: right)
    }
}

extension String? {
    package func hasSameBytes(as other: String?) -> Bool {
        guard let left = self, let right = other else { return self == nil && other == nil }
        return left.hasSameBytes(as: right)
    }
}

extension [Attachment] {
    package func hasSameBytes(as other: [Attachment]) -> Bool {
        self == other
            && zip(self, other).allSatisfy { left, right in
                left.mediaType.hasSameBytes(as: right.mediaType) && left.name.hasSameBytes(as: right.name)
                    && left.address.hasSameBytes(as: right.address)
            }
    }
}

extension Attachment {
    /// The location of the bytes as text, if there is one.
    fileprivate var address: String? {
        switch content {
        case .inline: nil
        case .stored(let sha256, _): sha256
        case .remote(let url): url
        }
    }
}

extension Dictionary where Key == String {
    fileprivate func hasSameBytes(as other: Self, _ isSame: (Value, Value) -> Bool) -> Bool {
        count == other.count
            && allSatisfy { key, value in
                guard let index = other.index(forKey: key) else { return false }
                return key.hasSameBytes(as: other[index].key) && isSame(value, other[index].value)
            }
    }
}
