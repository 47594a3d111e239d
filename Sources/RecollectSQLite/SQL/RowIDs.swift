/// The ID of a row of `session`. Never reused.
struct SessionRowID: IntegerColumn {
    let rawValue: Int64
}

/// The ID of a row of `scope`. Never reused.
struct ScopeRowID: IntegerColumn {
    let rawValue: Int64
}

/// The ID of a row of `streaming_reply`. Never reused.
struct ReplyRowID: IntegerColumn {
    let rawValue: Int64
}

/// The number of a change in the feed. A message keeps the number of its first save through edits and moves. Never
/// reused.
struct SequenceNumber: IntegerColumn {
    /// Before the first change.
    static let zero = SequenceNumber(rawValue: 0)

    let rawValue: Int64

    var previous: SequenceNumber { SequenceNumber(rawValue: rawValue - 1) }
    var next: SequenceNumber { SequenceNumber(rawValue: rawValue + 1) }
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
