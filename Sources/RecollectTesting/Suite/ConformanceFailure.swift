/// A promise not kept by a store, with the expected and the actual result.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    /// The rule, as numbered in the guide "The rules of a history"; `nil` for a promise of the protocol itself.
    public let rule: Int?
    /// The promise.
    public let promise: String
    /// The expected result.
    public let expected: String
    /// The actual result; the description of the error if the store threw one.
    public let actual: String
    /// The error thrown by the store, if any.
    public let cause: (any Error)?
    /// The source file of the call.
    public let file: String
    /// The source line of the call.
    public let line: Int

    /// The failure in four lines.
    public var description: String {
        """
        \(check)\(rule.map { " (rule \($0))" } ?? "") at \(file):\(line)
          promise:  \(promise)
          expected: \(expected)
          actual:   \(actual)
        """
    }
}

/// The error thrown by a check's body. `ConformanceCheck` adds its name.
struct BrokenPromise: Error {
    let expected: String
    let actual: String
}

/// Throws unless the condition is true.
func expect(_ holds: Bool, _ expected: @autoclosure () -> String, actual: @autoclosure () -> String) throws {
    guard !holds else { return }
    throw BrokenPromise(expected: expected(), actual: actual())
}

/// Throws unless the values are equal.
func expectEqual<Value: Equatable>(_ actual: Value, _ expected: Value, _ what: String) throws {
    try expect(actual == expected, "\(what): \(expected)", actual: "\(actual)")
}
