import RecollectCore

/// The ID of a row of `session`.
extension SessionRowID: IntegerColumn {}

/// The value of `sequence` in rows of messages and changes.
extension SequenceNumber: IntegerColumn {}

/// The ID of a row of `scope`. Never reused.
struct ScopeRowID: IntegerColumn {
    let rawValue: Int64
}

/// The ID of a row of `streaming_reply`. Never reused.
struct ReplyRowID: IntegerColumn {
    let rawValue: Int64
}

/// The position of a message in its session.
struct Position: IntegerColumn {
    /// Before every message.
    static let min = Position(rawValue: .min)
    /// Before the first message.
    static let start = Position(rawValue: 0)
    /// Behind every message.
    static let max = Position(rawValue: .max)

    let rawValue: Int64

    /// Returns the position of an appended message: after all earlier messages of the feed, with room for 2^20
    /// positions before the next.
    static func appended(_ sequence: SequenceNumber) -> Position {
        Position(rawValue: sequence.rawValue << 20)
    }

    static func + (position: Position, distance: Int64) -> Position {
        Position(rawValue: position.rawValue + distance)
    }

    static func - (position: Position, other: Position) -> Int64 {
        position.rawValue - other.rawValue
    }
}
