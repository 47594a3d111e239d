/// A promise that a store did not keep: which, what was expected and what came.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    /// The rule, as numbered in the guide "The rules of a history"; `nil` for a promise of the protocol's own.
    public let rule: Int?
    /// What must hold.
    public let promise: String
    /// What was expected.
    public let expected: String
    /// What came instead; the error's words if the store threw.
    public let actual: String
    /// The error that the store threw, if it did.
    public let cause: (any Error)?
    /// Where the check was asked for.
    public let file: String
    /// The line there.
    public let line: Int

    /// The failure in four lines.
    public var description: String {
        """
        \(check)\(rule.map { " (rule \($0))" } ?? "") at \(file):\(line)
          promise:  \(promise)
          expected: \(expected)
          came:     \(actual)
        """
    }
}

/// What a check's body throws; `ConformanceCheck` adds its name.
struct BrokenPromise: Error {
    let expected: String
    let actual: String
}

/// Throws unless the condition holds.
func expect(_ holds: Bool, _ expected: @autoclosure () -> String, came actual: @autoclosure () -> String) throws {
    guard !holds else { return }
    throw BrokenPromise(expected: expected(), actual: actual())
}

/// Throws unless both are equal.
func expectEqual<Value: Equatable>(_ actual: Value, _ expected: Value, _ what: String) throws {
    try expect(actual == expected, "\(what): \(expected)", came: "\(actual)")
}
