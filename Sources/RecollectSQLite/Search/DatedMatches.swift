import GRDB
import RecollectCore

/// The messages that match an expression and pass a filter, by date.
///
/// The index knows the time of a message only roughly, so all matches of a block of time are read and sorted, one block
/// after the other: a page costs as much as the matches in the blocks with its messages.
struct DatedMatches {
    struct Match {
        let sequence: SequenceNumber
        let timestamp: Int64
    }

    let db: Database
    let match: String
    /// Whether FTS5 reads all matches of a prefix for each block. They are then read once.
    let isPrefix: Bool
    let filter: SearchFilter
    let order: SearchOrder

    /// Whether two matches are in an order by date.
    static func isInOrder(_ order: SearchOrder) -> (Match, Match) -> Bool {
        order == .oldestFirst
            ? { ($0.timestamp, $0.sequence) < ($1.timestamp, $1.sequence) }
            : { ($0.timestamp, $0.sequence) > ($1.timestamp, $1.sequence) }
    }

    /// Calls `body` with the matches in order, until it returns true. Returns whether it did.
    /// - Parameter last: The timestamp of the last match before the page. The matches before this timestamp in the order
    ///   are left out.
    func forEach(
        through bound: SequenceNumber, after last: Double?, _ body: (Match) throws -> Bool
    ) throws -> Bool {
        var timestamps = filter.timestamps
        if let last {
            // The order of a caller's cursor may be any number.
            let last = Int64(exactly: last.rounded()) ?? (last > 0 ? .max : .min)
            let rest = order == .oldestFirst ? last ... .max : .min...last
            guard timestamps.overlaps(rest) else { return false }
            timestamps = timestamps.clamped(to: rest)
        }
        let own = "(\(match)) AND \(filter.match)"
        if isPrefix {
            for match in try matches(own, in: timestamps, through: bound) where try body(match) { return true }
            return false
        }
        for era in inOrder(FilterTokens.eras(of: timestamps)) {
            let isUsed = try db.integer(
                "SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid <= ? LIMIT 1",
                "\(own) AND \"\(era.token)\"", bound)
            guard isUsed != nil else { continue }
            for block in inOrder(Array(era.blocks)) {
                for match in try matches("\(own) AND \"\(FilterTokens.time(block))\"", in: timestamps, through: bound) {
                    if try body(match) { return true }
                }
            }
        }
        return false
    }

    private func inOrder<Element>(_ elements: [Element]) -> [Element] {
        order == .oldestFirst ? elements : elements.reversed()
    }

    private func matches(
        _ match: String, in timestamps: ClosedRange<Int64>, through bound: SequenceNumber
    ) throws -> [Match] {
        // `CROSS JOIN` keeps this order of tables.
        let rows = try db.sql(
            """
            SELECT m.sequence, m.timestamp, \(SearchFilter.columns) FROM message_search
            CROSS JOIN message m ON m.sequence = message_search.rowid
            WHERE message_search MATCH ? AND message_search.rowid <= ?
            """
        ).bind(match, bound)
        defer { rows.reset() }
        var matches: [Match] = []
        while try rows.step() {
            let timestamp = rows.integer(1)
            guard timestamps.contains(timestamp), try filter.matches(rows, columnsFrom: 2) else { continue }
            matches.append(Match(sequence: rows.value(0), timestamp: timestamp))
        }
        return matches.sorted(by: Self.isInOrder(order))
    }
}
