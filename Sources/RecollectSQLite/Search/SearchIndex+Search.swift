import Foundation
import GRDB
import RecollectCore

extension SearchIndex {
    /// Finds messages, best first. In a read transaction. Finds only indexed messages.
    ///
    /// The order is total, and later messages do not change it: a page's cursor contains the end of the searched
    /// feed.
    /// 1. Messages with every word in full come before messages with another form or the beginning of a word.
    /// 2. In each of these groups, the newest 2,000 are ordered by score (`SearchScore`), and by age if scores are equal,
    ///    the newer first. Older ones follow by age alone. So a word in half of all messages costs no more than a rare
    ///    one.
    /// 3. Messages with some of the words are last (`WordRanking`). If no message has all words, their neighbors in the
    ///    session are hits, too, even without any of the words.
    ///
    /// Forked copies of a message are shown once, unless the query names a session. Messages of several agents of a
    /// session are shown once if their ID, role and content are the same.
    static func search(_ db: Database, _ query: SearchQuery) throws -> Page<SearchHit, SearchCursor> {
        try SearchScore.install(on: db)
        let stemmer = try Stemmer(db)
        let words = ParsedQuery(query.text, stemmer: stemmer).withoutFunctionWordsIfLong
        guard let filter = try SearchFilter(db, query) else { return Page(elements: [], next: nil) }
        let through = try query.cursor?.through.map { SequenceNumber(rawValue: $0.sequence) } ?? indexedThrough(db)
        var collector = try HitCollector(db, query, words, stemmer, filter, through: through)
        for (position, tier) in words.tiers.enumerated() {
            let candidates = Candidates(db: db, tier: tier, filter: filter)
            var bound = through
            var isRanked = true
            while true {
                let wanted = isRanked ? rankedCount : max(100, collector.missing)
                let found = try candidates.newest(wanted, through: bound)
                let ordered =
                    isRanked ? found.sorted { ($0.score, $0.sequence) > ($1.score, $1.sequence) } : found
                for candidate in ordered {
                    // Scores decrease from tier to tier and from ranked to unranked matches, as in the order.
                    let base = Double(2 * (2 - position) + 1)
                    let score = isRanked ? base + candidate.score : base - 1
                    if let next = try collector.add(candidate.sequence, score: score) {
                        return Page(elements: collector.hits, next: next)
                    }
                }
                guard found.count == wanted, let last = found.last else { break }
                bound = last.sequence.previous
                isRanked = false
            }
        }
        guard words.units.count > 1 else { return Page(elements: collector.hits, next: nil) }
        let content = words.content
        let hasComplete = collector.count > 0
        collector.acceptAnyWord(of: content, stemmer)
        let ranking = WordRanking(db, content, filter, through: through, stemmer: stemmer)
        for ranked in try ranking.best() where !collector.hasSeen(ranked.sequence) && (ranked.hasWord || !hasComplete) {
            if let next = try collector.add(ranked.sequence, score: ranked.score) {
                return Page(elements: collector.hits, next: next)
            }
        }
        return Page(elements: collector.hits, next: nil)
    }

    /// The number of newest matches ranked by score.
    private static let rankedCount = 2000
}

/// The messages that match an expression and pass a filter, newest first.
private struct Candidates {
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
        if try !tier.isBeginning || !filter.isNarrow(db) {
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
        ).bind(tier.phraseCount, match, bound)
        defer { rows.reset() }
        while try rows.step(), try body(rows.value(0), rows.double(1)) {}
    }
}

/// Collects the hits of a page from candidates in order.
private struct HitCollector {
    let query: SearchQuery
    let filter: SearchFilter
    let through: SequenceNumber
    private(set) var hits: [SearchHit] = []
    private var snippets: SnippetMaker
    /// The words to report if a message lacks them; `nil` while all messages have all words.
    private var reportedWords: [String]?
    /// The number of hits so far, with those of earlier pages.
    private(set) var count = 0
    private let offset: Int
    private let limit: Int
    /// The sequence numbers of seen messages, by their possible duplicates.
    private var seen: [Likeness: [SequenceNumber]] = [:]

    /// A key shared by messages that are shown once if role and content are the same.
    private enum Likeness: Hashable {
        /// Forked copies and their original.
        case copies(of: SequenceNumber)
        /// Messages of several agents of a session with one ID.
        case shared(id: ByteString, in: SessionRowID)
    }

    /// The messages added so far.
    private var added: Set<SequenceNumber> = []

    private let db: Database
    private let row: SQL

    init(
        _ db: Database, _ query: SearchQuery, _ words: ParsedQuery, _ stemmer: Stemmer, _ filter: SearchFilter,
        through: SequenceNumber
    ) throws {
        // The user is checked again with the read of the text, independently of the filters.
        row = try db.sql(
            """
            SELECT m.message_id, m.role, m.timestamp, m.text, m.parts, c.session_id, s.agent_id,
              ifnull(m.copied_from, m.sequence), m.session_row_id, \(SearchFilter.columns)
            FROM message m JOIN session c ON c.id = m.session_row_id JOIN scope s ON s.id = m.scope_row_id
            WHERE m.sequence = ? AND c.user_id = ?
            """)
        self.db = db
        self.query = query
        self.filter = filter
        self.through = through
        // A caller may ask for everything. These limits are beyond that, and their sum does not overflow.
        offset = min(max(0, query.cursor?.offset ?? 0), .max / 4)
        limit = min(query.limit, .max / 4)
        snippets = SnippetMaker(words: words, stemmer: stemmer)
    }

    /// The number of candidates still needed to fill the page and to find whether another page follows.
    var missing: Int { max(0, offset - count) + limit - hits.count + 1 }

    /// Accepts messages without some of the words, and reports these.
    mutating func acceptAnyWord(of content: ParsedQuery, _ stemmer: Stemmer) {
        snippets = SnippetMaker(words: content, stemmer: stemmer)
        reportedWords = content.units.map(\.text)
    }

    /// Whether a message was added before.
    func hasSeen(_ sequence: SequenceNumber) -> Bool { added.contains(sequence) }

    /// Adds a candidate. Returns the cursor of the next page once the page is full and a further hit is found.
    mutating func add(_ sequence: SequenceNumber, score: Double) throws -> SearchCursor? {
        added.insert(sequence)
        try row.bind(sequence, at: 1)
        try row.bind(query.userId, at: 2)
        defer { row.reset() }
        guard try row.step(), try filter.matches(row, columnsFrom: 9),
            try query.sessionId != nil || !isShown(sequence, as: .copies(of: row.value(7))),
            try !isShown(sequence, as: .shared(id: ByteString(row.text(0)), in: row.value(8)))
        else { return nil }
        count += 1
        if count <= offset { return nil }
        if hits.count == limit {
            return SearchCursor(offset: count - 1, through: ChangeCursor(sequence: through.rawValue))
        }
        let passage = MessageText.withBytes(of: row, textColumn: 3, partsColumn: 4) { snippets.passage(of: $0) }
        hits.append(
            SearchHit(
                session: SessionKey(userId: query.userId, sessionId: row.text(5)), agentId: row.text(6),
                messageId: row.text(0), role: Role(rawValue: row.text(1)),
                timestamp: Date(millisecondsSince1970: row.integer(2)),
                snippet: passage.snippet, score: score,
                missingWords: (reportedWords ?? []).enumerated().filter { !passage.units.contains($0.offset) }.map(
                    \.element)
            ))
        return nil
    }

    /// Whether a message with the same key, role and content was seen. Either one may have been edited since.
    private mutating func isShown(_ sequence: SequenceNumber, as likeness: Likeness) throws -> Bool {
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
