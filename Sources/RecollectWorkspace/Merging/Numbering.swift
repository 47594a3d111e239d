/// Numbers for values, in the order of their first occurrence, equal for equal values. With numbers, later steps
/// use arrays instead of hash tables.
struct Numbering<Value: Hashable> {
    private var numbers: [Value: Int] = [:]
    /// The different values, in the order of their numbers.
    private(set) var values: [Value] = []

    /// Reserves memory for a number of values.
    mutating func reserveCapacity(_ count: Int) {
        numbers.reserveCapacity(count)
        values.reserveCapacity(count)
    }

    /// Returns the number of a value; `nil` for an unknown value.
    ///
    /// Versions of a text mostly have the same lines in the same order. So the value with the next number is
    /// compared before the hash table is searched.
    /// - Parameter previous: The number of the preceding value in the text.
    subscript(_ value: Value, after previous: Int? = nil) -> Int? {
        if let previous, previous + 1 < values.count, values[previous + 1] == value { return previous + 1 }
        return numbers[value]
    }

    /// Returns the number of a value; the next number for a new value.
    /// - Parameter previous: The number of the preceding value in the text.
    mutating func number(_ value: Value, after previous: Int? = nil) -> Int {
        if let known = self[value, after: previous] { return known }
        numbers[value] = values.count
        values.append(value)
        return values.count - 1
    }
}

extension Numbering: Sendable where Value: Sendable {}
