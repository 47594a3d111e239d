import GRDB
import RecollectCore

/// The positions of the change feed and of the tables derived from it.
struct FeedState {
    /// The number of the last change.
    var last: SequenceNumber
    /// The sequence number of the last message with derived data.
    var derivedThrough: SequenceNumber

    /// The number of changes without derived data.
    var pending: Int64 { last.rawValue - derivedThrough.rawValue }
}

extension FeedState {
    /// The sequence number of the last message with derived data, as an SQL expression.
    static let derivedThroughSQL = "(SELECT through FROM derived_data)"

    init(_ db: Database) throws {
        last = try db.lastSequence()
        derivedThrough = try db.value("SELECT \(Self.derivedThroughSQL)") ?? .zero
    }
}

extension Database {
    /// The number of the feed's last change, of a message or of any other kind, as an SQL expression.
    static let lastSequence = """
        max(ifnull((SELECT max(sequence) FROM message), 0), ifnull((SELECT max(sequence) FROM change), 0))
        """

    /// Returns the number of the feed's last change, of a message or of any other kind.
    func lastSequence() throws -> SequenceNumber {
        try value("SELECT \(Self.lastSequence)") ?? .zero
    }
}
