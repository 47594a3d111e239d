import RecollectCore

/// A message with some words.
package struct SearchMatch: Hashable, Sendable {
    package let sequence: SequenceNumber
    /// The frequency of the words, or the score, from 0 to 1.
    package var score: Double

    package init(_ sequence: SequenceNumber, score: Double) {
        (self.sequence, self.score) = (sequence, score)
    }
}

/// An expression and a filter, for messages by date.
package struct DatedExpression: Hashable, Sendable {
    package let expression: SearchExpression
    /// Whether a beginning in the expression may have very many longer words.
    package let hasPrefix: Bool
    package let filter: SearchFilter

    /// Returns the timestamps of the filter that follow a timestamp in an order, with this timestamp; `nil` for none.
    package func timestamps(_ order: SearchOrder, after last: Double?) -> ClosedRange<Int64>? {
        guard let last else { return filter.timestamps }
        // The order of a caller's cursor may be any number.
        let bound = Int64(exactly: last.rounded()) ?? (last > 0 ? .max : .min)
        let rest = order == .oldestFirst ? bound ... .max : .min...bound
        return filter.timestamps.overlaps(rest) ? filter.timestamps.clamped(to: rest) : nil
    }
}

/// A message of a date.
package struct DatedMatch: Hashable, Sendable {
    package let sequence: SequenceNumber
    package let timestamp: Int64

    package init(_ sequence: SequenceNumber, timestamp: Int64) {
        (self.sequence, self.timestamp) = (sequence, timestamp)
    }

    /// Whether two matches are in an order by date.
    package static func isInOrder(_ order: SearchOrder) -> (DatedMatch, DatedMatch) -> Bool {
        order == .oldestFirst
            ? { ($0.timestamp, $0.sequence) < ($1.timestamp, $1.sequence) }
            : { ($0.timestamp, $0.sequence) > ($1.timestamp, $1.sequence) }
    }
}
