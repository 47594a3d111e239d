import GRDB
import RecollectCore
import RecollectSearch

/// The matches of expressions in the index.
extension SQLiteSearchSource {
    /// The number of matches checked one by one, at least.
    private static let fewMatches = 64
    /// The number of first candidates added with a later check. If there are fewer, the search checks the shown ones.
    private static let fewCandidates = 1000

    func mayFind(_ expression: SearchExpression, through bound: SequenceNumber) throws -> Bool {
        guard let match = expression.fts5 else { return true }
        return try db.integer(
            "SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid <= ? LIMIT 1", match, bound) != nil
    }

    /// The matches are checked one by one, unless most of them are rejected: inside the index, the filter takes as long as
    /// a word in all messages.
    func newest(
        _ words: ParsedQuery.Tier, _ filter: SearchFilter, limit: Int, through bound: SequenceNumber
    ) throws -> [SearchMatch] {
        let phraseCount = words.words.reduce(0) { $0 + $1.count }
        var found: [SearchMatch] = []
        var readCount = 0
        var next: SequenceNumber?
        try forEach(
            words.expression.fts5 ?? filter.tokens(of: userId), "recollect_frequency", String(phraseCount),
            through: bound
        ) { match in
            readCount += 1
            if try passesAlsoDiscarded(match.sequence, filter) { found.append(match) }
            if readCount >= Self.fewMatches, found.count < readCount / 4 { next = match.sequence.previous }
            return next == nil && found.count < limit
        }
        guard let next, found.count < limit else { return found }
        // The index stores times only approximately.
        try forEach(
            words.expression.fts5(filter.tokens(of: userId)), "recollect_frequency", String(phraseCount), through: next
        ) { match in
            if try passesAlsoDiscarded(match.sequence, filter) { found.append(match) }
            return found.count < limit
        }
        return found
    }

    /// Reads the index alone, and none of these messages. The index stores times only approximately.
    func message(
        beforeNewest count: Int, _ expression: SearchExpression, _ filter: SearchFilter, through bound: SequenceNumber
    ) throws -> SequenceNumber? {
        guard filter.timestamps == .min ... .max else { return nil }
        let tokens = filter.tokens(of: userId)
        var found: SequenceNumber?
        // A word in few messages of all users needs no second look, nor does a filter that all messages pass.
        for match in [expression.fts5 ?? tokens] + (try isOfOnlyUser(filter) ? [] : [expression.fts5(tokens)]) {
            found = try db.value(
                """
                SELECT rowid FROM message_search WHERE message_search MATCH ? AND rowid <= ?
                ORDER BY rowid DESC LIMIT 1 OFFSET ?
                """, match, bound, count)
            if found == nil { return nil }
        }
        return found
    }

    /// Whether all messages pass, because the history has no other user.
    private func isOfOnlyUser(_ filter: SearchFilter) throws -> Bool {
        guard filter.isEmpty else { return false }
        let other = try db.integer(
            "SELECT 1 FROM session WHERE user_id < ?1 UNION ALL SELECT 1 FROM session WHERE user_id > ?1 LIMIT 1",
            userId)
        return other == nil
    }

    /// Matches are checked one by one. If most of them are rejected, the rest is searched with the filter inside
    /// the index, which skips from match to match.
    func candidates(
        _ words: ParsedQuery.Tier, _ filter: SearchFilter, limit: Int, through bound: SequenceNumber
    ) throws -> [SearchMatch] {
        let groups = FTS5Functions.argument(words.words.map(\.count))
        var found: [SearchMatch] = []
        var next: SequenceNumber? = bound
        // FTS5 collects all matches of a prefix before it returns the first, so a prefix is searched only once.
        if try !words.hasPrefix || !isNarrow(filter), let match = words.expression.fts5 {
            next = nil
            let few = min(limit, Self.fewCandidates)
            var matches = 0
            try forEach(match, "recollect_score", groups, through: bound) { match in
                matches += 1
                if try matches <= few || passes(match.sequence, filter) { found.append(match) }
                if matches == few { found = try found.filter { try passes($0.sequence, filter) } }
                if found.count == limit || matches < few { return found.count < limit }
                if found.count < matches / 4 { next = match.sequence.previous }
                return next == nil
            }
        }
        guard let next else { return found }
        try forEach(
            words.expression.fts5(filter.tokens(of: userId)), "recollect_score", groups, through: next
        ) { match in
            if try passes(match.sequence, filter) { found.append(match) }
            return found.count < limit
        }
        return found
    }

    /// Whether the filter is likely to reject most messages. Only speed depends on it.
    private func isNarrow(_ filter: SearchFilter) throws -> Bool {
        guard filter.isEmpty else { return true }
        let own = try db.integer("SELECT count(*) FROM session WHERE user_id = ?", userId) ?? 0
        return try own < (db.integer("SELECT max(id) FROM session") ?? 0) / 4
    }

    /// Calls `body` with the matches and the result of a function, newest first, until it returns false.
    private func forEach(
        _ match: String, _ function: String, _ argument: String, through bound: SequenceNumber,
        _ body: (SearchMatch) throws -> Bool
    ) throws {
        let rows = try db.sql(
            """
            SELECT rowid, \(function)(message_search, ?) FROM message_search
            WHERE message_search MATCH ? AND rowid <= ? ORDER BY rowid DESC
            """
        ).bind(argument, match, bound)
        defer { rows.reset() }
        while try rows.step(), try body(SearchMatch(rows.value(0), score: rows.double(1))) {}
    }

    /// The index knows the time of a message only roughly, so all matches of a block of time are read and sorted, one block
    /// after the other: a page costs as much as the matches in the blocks with its messages.
    func forEachByDate(
        _ expression: DatedExpression, _ order: SearchOrder, through bound: SequenceNumber, after last: Double?,
        _ body: (DatedMatch) throws -> Bool
    ) throws -> Bool {
        guard let timestamps = expression.timestamps(order, after: last) else { return false }
        let filter = expression.filter
        let own = expression.expression.fts5(filter.tokens(of: userId))
        func inOrder<Element>(_ elements: [Element]) -> [Element] {
            order == .oldestFirst ? elements : elements.reversed()
        }
        func matches(_ match: String) throws -> [DatedMatch] {
            try datedMatches(match, filter, in: timestamps, through: bound).sorted(by: DatedMatch.isInOrder(order))
        }
        if expression.hasPrefix {
            // FTS5 reads all matches of a prefix for each block. They are read once.
            for match in try matches(own) where try body(match) { return true }
            return false
        }
        for era in inOrder(FilterTokens.eras(of: timestamps)) {
            let isUsed = try db.integer(
                "SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid <= ? LIMIT 1",
                "\(own) AND \"\(era.token)\"", bound)
            guard isUsed != nil else { continue }
            for block in inOrder(Array(era.blocks)) {
                for match in try matches("\(own) AND \"\(FilterTokens.time(block))\"") where try body(match) {
                    return true
                }
            }
        }
        return false
    }

    private func datedMatches(
        _ match: String, _ filter: SearchFilter, in timestamps: ClosedRange<Int64>, through bound: SequenceNumber
    ) throws -> [DatedMatch] {
        // `CROSS JOIN` keeps this order of tables.
        let rows = try db.sql(
            """
            SELECT m.sequence, m.timestamp, \(Self.columns) FROM message_search
            CROSS JOIN message m ON m.sequence = message_search.rowid
            WHERE message_search MATCH ? AND message_search.rowid <= ?
            """
        ).bind(match, bound)
        defer { rows.reset() }
        var matches: [DatedMatch] = []
        while try rows.step() {
            let timestamp = rows.integer(1)
            guard timestamps.contains(timestamp),
                try passes(rows, columnsFrom: 2, filter, listed: !filter.includesDiscarded)
            else { continue }
            matches.append(DatedMatch(rows.value(0), timestamp: timestamp))
        }
        return matches
    }
}

extension SearchFilter {
    /// Returns the filter as an FTS5 expression. It matches all messages that pass, and some others.
    func tokens(of userId: String) -> String {
        var groups = [[FilterTokens.user(userId)]]
        if let session { groups.append([FilterTokens.session(session)]) }
        if let agentId { groups.append([FilterTokens.agent(agentId.string)]) }
        if !roles.isEmpty { groups.append(roles.map { FilterTokens.role($0.string) }.sorted()) }
        if timestamps != .min ... .max { groups.append(FilterTokens.times(timestamps)) }
        return groups.map { tokens in
            "(" + tokens.map { "\"\($0)\"" }.joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
    }
}
