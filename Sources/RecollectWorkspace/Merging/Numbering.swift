/// Numbers values from 0 on, equal ones alike, so that what follows works with arrays instead of hashing.
struct Numbering<Value: Hashable> {
    private var numbers: [Value: Int] = [:]
    /// The different values, in the order of their numbers.
    private(set) var values: [Value] = []

    /// The number of a value that has one.
    subscript(_ value: Value) -> Int? { numbers[value] }

    /// The number of a value; the next one if it has none yet.
    mutating func number(_ value: Value) -> Int {
        if let number = numbers[value] { return number }
        numbers[value] = values.count
        values.append(value)
        return values.count - 1
    }
}
