/// The number of a change in the feed. A message keeps the number of its first save through edits and moves. Never
/// reused.
package struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Before the first change.
    package static let zero = SequenceNumber(rawValue: 0)

    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package var previous: SequenceNumber { SequenceNumber(rawValue: rawValue - 1) }
    package var next: SequenceNumber { SequenceNumber(rawValue: rawValue + 1) }
    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
