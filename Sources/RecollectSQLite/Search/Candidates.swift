import GRDB
import RecollectCore

/// The messages that match an expression and pass a filter, newest first.
struct Candidates {
    /// The number of first matches added with a later check. If there are fewer, the collector checks the shown
    /// ones.
    private static let few = 1000

    let db: Database
    let tier: ParsedQuery.Tier
    let filter: SearchFilter

    /// Returns the newest matches up to a sequence number, at most `count`. A short list may include matches
    /// rejected by the filter.
    ///
    /// Matches are checked one by one. If most of them are rejected, the rest is searched with the filter inside
    /// the index, which skips from match to match.
    func newest(_ count: Int, through bound: SequenceNumber) throws -> [(sequence: SequenceNumber, score: Double)] {
        var found: [(sequence: SequenceNumber, score: Double)] = []
        var next: SequenceNumber? = bound
        // FTS5 collects all matches of a prefix before it returns the first, so a prefix is searched only once.
        if try !tier.isPrefix || !filter.isNarrow(db) {
            next = nil
            let few = min(count, Self.few)
            var matches = 0
            try forEach(tier.match, through: bound) { sequence, score in
                matches += 1
                if try matches <= few || filter.matches(sequence) { found.append((sequence, score)) }
                if matches == few { found = try found.filter { try filter.matches($0.sequence) } }
                if found.count == count || matches < few { return found.count < count }
                if found.count < matches / 4 { next = sequence.previous }
                return next == nil
            }
        }
        guard let next else { return found }
        try forEach("(\(tier.match)) AND \(filter.match)", through: next) { sequence, score in
            if try filter.matches(sequence) { found.append((sequence, score)) }
            return found.count < count
        }
        return found
    }

    /// Calls `body` with the matches, newest first, until it returns false.
    private func forEach(
        _ match: String, through bound: SequenceNumber,
        _ body: (_ sequence: SequenceNumber, _ score: Double) throws -> Bool
    ) throws {
        let rows = try db.sql(
            """
            SELECT rowid, recollect_score(message_search, ?) FROM message_search
            WHERE message_search MATCH ? AND rowid <= ? ORDER BY rowid DESC
            """
        ).bind(SearchScore.argument(tier.phraseCounts), match, bound)
        defer { rows.reset() }
        while try rows.step(), try body(rows.value(0), rows.double(1)) {}
    }
}
