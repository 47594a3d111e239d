import Foundation
import GRDB
import RecollectCore

extension SearchIndex {
    /// Finds messages, best first. In a read transaction; what is not indexed yet is not found.
    ///
    /// The order is total, and later messages do not change it: a page's cursor remembers how far the history went.
    /// 1. Messages that have every word whole come before those that have only the beginning of one.
    /// 2. Of either, the newest 2,000 come by score (`SearchScore`), the newer first where scores are equal; older ones follow
    ///    by age alone. So a word that half of all messages hold costs no more than a rare one.
    ///
    /// Copies of a message that forks made are shown once, unless the query names a session, and what several agents of a
    /// conversation hold as one message is shown once.
    static func search(_ db: Database, _ query: SearchQuery) throws -> Page<SearchHit, SearchCursor> {
        try SearchScore.install(on: db)
        let words = SearchWords(query.text)
        guard let filter = try SearchFilter(db, query) else { return Page(elements: [], next: nil) }
        let through = try query.cursor?.through?.sequence ?? indexedThrough(db)
        var collector = try HitCollector(db, query, words, filter, through: through)
        for (place, tier) in words.tiers.enumerated() {
            let candidates = Candidates(db: db, tier: tier, filter: filter)
            var bound = through
            var isRanked = true
            while true {
                let wanted = isRanked ? rankedCount : max(100, collector.missing)
                let found = try candidates.newest(wanted, through: bound)
                let ordered =
                    isRanked ? found.sorted { ($0.score, $0.sequence) > ($1.score, $1.sequence) } : found
                for candidate in ordered {
                    // Scores fall from tier to tier and from the ranked ones to the others, as the order does.
                    let base = Double(2 * (2 - place))
                    let score = isRanked ? base + candidate.score : base - 1
                    if let next = try collector.add(candidate.sequence, score: score) {
                        return Page(elements: collector.hits, next: next)
                    }
                }
                guard found.count == wanted, let last = found.last else { break }
                bound = last.sequence - 1
                isRanked = false
            }
        }
        return Page(elements: collector.hits, next: nil)
    }

    /// How many of the newest matches are ranked by score.
    private static let rankedCount = 2000
}

/// The messages that match an expression and pass a filter, newest first.
private struct Candidates {
    /// That many are not worth a check of each; those that the page shows are checked there.
    private static let few = 1000

    let db: Database
    let tier: SearchWords.Tier
    let filter: SearchFilter

    /// The newest matches up to a sequence, at most `count`; if they are few, those that do not pass are among them.
    ///
    /// Rows are checked one by one as they come. If most of them are turned away, the rest is looked for with the filter
    /// inside the index, which jumps from match to match.
    func newest(_ count: Int, through bound: Int64) throws -> [(sequence: Int64, score: Double)] {
        var found: [(sequence: Int64, score: Double)] = []
        var next: Int64? = bound
        // What a beginning finds is collected before the first match is given, so it is looked for only once.
        if try !tier.isBeginning || !filter.isNarrow(db) {
            next = nil
            let few = min(count, Self.few)
            var looked = 0
            try forEach(tier.match, through: bound) { sequence, score in
                looked += 1
                if try looked <= few || filter.admits(sequence) { found.append((sequence, score)) }
                if looked == few { found = try found.filter { try filter.admits($0.sequence) } }
                if found.count == count || looked < few { return found.count < count }
                if found.count < looked / 4 { next = sequence - 1 }
                return next == nil
            }
        }
        guard let next else { return found }
        try forEach("(\(tier.match)) AND \(filter.match)", through: next) { sequence, score in
            if try filter.admits(sequence) { found.append((sequence, score)) }
            return found.count < count
        }
        return found
    }

    /// Calls `body` with the matches, newest first, until it returns false.
    private func forEach(
        _ match: String, through bound: Int64, _ body: (_ sequence: Int64, _ score: Double) throws -> Bool
    ) throws {
        let rows = try db.sql(
            """
            SELECT rowid, recollect_score(message_search, ?) FROM message_search
            WHERE message_search MATCH ? AND rowid <= ? ORDER BY rowid DESC
            """
        ).bind(tier.phraseCount, match, bound)
        defer { rows.reset() }
        while try rows.step(), try body(rows.integer(0), rows.double(1)) {}
    }
}

/// Takes candidates in their order and makes hits of those that the page shows.
private struct HitCollector {
    let query: SearchQuery
    let filter: SearchFilter
    let through: Int64
    private(set) var hits: [SearchHit] = []
    private var snippets: SnippetMaker
    private var count = 0
    private let offset: Int
    private let limit: Int
    /// The numbers of the messages that were seen and may be one with others.
    private var seen: [Likeness: [Int64]] = [:]

    /// What messages share that are shown once as long as role and content are the same.
    private enum Likeness: Hashable {
        /// Copies that forks made, and their original.
        case copies(of: Int64)
        /// What several agents of a conversation hold under one id.
        case shared(id: ByteString, in: Int64)
    }

    private let db: Database
    private let row: SQL

    init(
        _ db: Database, _ query: SearchQuery, _ words: SearchWords, _ filter: SearchFilter, through: Int64
    ) throws {
        // The user is asked for once more where the text is read, whatever the filters did.
        row = try db.sql(
            """
            SELECT m.message_id, m.role, m.timestamp, m.text, m.parts, c.session_id, s.agent_id,
              ifnull(m.copied_from, m.sequence), m.conversation_id, \(SearchFilter.columns)
            FROM message m JOIN conversation c ON c.id = m.conversation_id JOIN scope s ON s.id = m.scope_id
            WHERE m.sequence = ? AND c.user_id = ?
            """)
        self.db = db
        self.query = query
        self.filter = filter
        self.through = through
        // A caller may ask for all there is; these are more than that, and can still be added up.
        offset = min(max(0, query.cursor?.offset ?? 0), .max / 4)
        limit = min(query.limit, .max / 4)
        snippets = SnippetMaker(words: words)
    }

    /// How many candidates are still needed to fill the page and to know whether another follows.
    var missing: Int { max(0, offset - count) + limit - hits.count + 1 }

    /// Takes a candidate; once the page is full and there is a hit for the next one, returns where that goes on.
    mutating func add(_ sequence: Int64, score: Double) throws -> SearchCursor? {
        try row.bind(sequence, at: 1)
        try row.bind(query.userId, at: 2)
        defer { row.reset() }
        guard try row.step(), try filter.admits(row, columnsFrom: 9),
            try query.sessionId != nil || !isShown(sequence, as: .copies(of: row.integer(7))),
            try !isShown(sequence, as: .shared(id: ByteString(row.text(0)), in: row.integer(8)))
        else { return nil }
        count += 1
        if count <= offset { return nil }
        if hits.count == limit {
            return SearchCursor(offset: count - 1, through: ChangeCursor(sequence: through))
        }
        hits.append(
            SearchHit(
                conversation: ConversationID(userId: query.userId, sessionId: row.text(5)), agentId: row.text(6),
                messageId: row.text(0), role: Role(rawValue: row.text(1)),
                timestamp: Date(millisecondsSince1970: row.integer(2)),
                snippet: SearchableText.withBytes(of: row, textColumn: 3, partsColumn: 4) { snippets.snippet(of: $0) },
                score: score))
        return nil
    }

    /// Whether a message like it was seen that has the same role and content: either may have been edited since.
    private mutating func isShown(_ sequence: Int64, as likeness: Likeness) throws -> Bool {
        for other in seen[likeness, default: []] {
            let isSame = try db.integer(
                """
                SELECT 1 FROM message JOIN message AS other USING (role)
                WHERE message.sequence = ? AND other.sequence = ?
                AND message.text IS other.text AND message.parts IS other.parts
                """, sequence, other)
            if isSame != nil { return true }
        }
        seen[likeness, default: []].append(sequence)
        return false
    }
}
