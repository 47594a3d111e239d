import Foundation
import GRDB
import RecollectCore

extension SearchIndex {
    /// Finds messages, best first. In a read transaction. Finds only indexed messages.
    ///
    /// The order is total, and later messages do not change it: a page's cursor contains the end of the searched
    /// feed.
    /// 1. Messages with every word in full come before messages with another form or the beginning of a word.
    /// 2. In each of these groups, the newest 2,000 are ordered by score (`SearchScore`), and by age if scores are
    ///    equal, the newer first. Older ones follow by age alone. So a word in half of all messages costs no more than
    ///    a rare one.
    /// 3. If words are misspelled, messages with the corrected words are in the same two groups (`SpellingCorrector`).
    /// 4. Messages with some of the words are last (`WordRanking`). If no message has all words, or for a whole
    ///    question, their neighbors in the session are hits, too, even without any of the words. A message that repeats
    ///    others (`MessageEcho`) is in this group even if it has all words.
    ///
    /// Forked copies of a message are shown once, unless the query names a session. Messages of several agents of a
    /// session are shown once if their ID, role and content are the same, and so is a short question asked again in the
    /// same words, unless the query names a session.
    static func search(_ db: Database, _ query: SearchQuery) throws -> Page<SearchHit, SearchCursor> {
        try SearchScore.install(on: db)
        guard let query = try QueryFields.applied(to: query, db) else { return Page(elements: [], next: nil) }
        let stemmer = try Stemmer(db)
        let typed = ParsedQuery(query.text, stemmer: stemmer)
        let words = typed.withoutFunctionWordsIfLong
        guard let filter = try SearchFilter(db, query) else { return Page(elements: [], next: nil) }
        let through = try query.cursor?.through.map { SequenceNumber(rawValue: $0.sequence) } ?? indexedThrough(db)
        var collector = try HitCollector(db, query, words, stemmer, filter, through: through)
        if try add(words, bases: [9, 7], to: &collector, filter, db) { return collector.page }
        let corrected = try SpellingCorrector(db, userId: query.userId, through: through, stemmer).corrected(words)
        if let corrected {
            collector.search(for: corrected, stemmer)
            if try add(corrected, bases: [5, 3], to: &collector, filter, db) { return collector.page }
        }
        let content = (corrected ?? words).content
        let hasComplete = collector.count > 0 && words.units.count == typed.units.count
        collector.search(for: content, stemmer, isAnyEnough: true)
        if words.units.count > 1 || !collector.late.isEmpty {
            let ranking = WordRanking(db, content, filter, through: through, stemmer: stemmer)
            for ranked in try ranking.best() where !collector.hasSeen(ranked.sequence) {
                guard ranked.hasWord || !hasComplete else { continue }
                if try collector.add(ranked.sequence, score: ranked.score) { return collector.page }
            }
        }
        for sequence in collector.late where !collector.hasSeen(sequence) {
            if try collector.add(sequence, score: 0) { break }
        }
        return collector.page
    }

    /// Adds the messages with all words. Returns whether the page is complete.
    /// - Parameter bases: Added to the scores: for messages with the words in full, and for the others.
    private static func add(
        _ words: ParsedQuery, bases: [Double], to collector: inout HitCollector, _ filter: SearchFilter, _ db: Database
    ) throws -> Bool {
        if let any = words.anyTier {
            // Of any user: only speed depends on it.
            let match = try db.integer(
                "SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid <= ? LIMIT 1", any,
                collector.through)
            guard match != nil else { return false }
        }
        for (tier, base) in zip(words.tiers, bases) {
            let candidates = Candidates(db: db, tier: tier, filter: filter)
            var bound = collector.through
            var isRanked = true
            while true {
                let wanted = isRanked ? rankedCount : max(100, collector.missing)
                let found = try candidates.newest(wanted, through: bound)
                let ordered = isRanked ? try ranked(found, db) : found
                for candidate in ordered where !collector.hasSeen(candidate.sequence) {
                    // Scores decrease from group to group and from ranked to unranked matches, as in the order.
                    let score = isRanked ? base + candidate.score : base - 1
                    if try collector.add(candidate.sequence, score: score) { return true }
                }
                guard found.count == wanted, let last = found.last else { break }
                bound = last.sequence.previous
                isRanked = false
            }
        }
        return false
    }

    /// Returns candidates by score. Of the best ones, results of tools come after the other messages.
    private static func ranked(
        _ found: [(sequence: SequenceNumber, score: Double)], _ db: Database
    ) throws -> [(sequence: SequenceNumber, score: Double)] {
        var ordered = found.sorted { ($0.score, $0.sequence) > ($1.score, $1.sequence) }
        let best = ordered.prefix(checkedCount)
        let least = best.last?.score ?? 0
        let row = try db.sql("SELECT 1 FROM message WHERE sequence = ? AND role = ?")
        for (index, candidate) in best.enumerated() {
            try row.bind(candidate.sequence, at: 1)
            try row.bind(Role.tool.rawValue, at: 2)
            defer { row.reset() }
            // Scores are at most 1.
            if try row.step() { ordered[index].score = least * candidate.score }
        }
        return ordered.sorted { ($0.score, $0.sequence) > ($1.score, $1.sequence) }
    }

    /// The number of best matches whose role is read.
    private static let checkedCount = 100
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
    /// The words of the snippets.
    private var searched: ParsedQuery
    /// Whether a message may lack some of the words.
    private var isAnyEnough = false
    /// The words as typed, for messages without the corrected ones.
    private let typed: ParsedQuery
    private let typedSnippets: SnippetMaker
    /// The cursor of the next page, once a further hit is found.
    private var next: SearchCursor?
    /// Messages with all words that come after those with some, and their maximum number. Each one is read for every
    /// page.
    private static let maxLate = 2000
    private(set) var late: [SequenceNumber] = []
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
        /// Short questions in the same words.
        case question(ByteString)
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
              ifnull(m.copied_from, m.sequence), m.session_row_id, \(MessageEcho.column), \(SearchFilter.columns)
            FROM message m JOIN session c ON c.id = m.session_row_id JOIN scope s ON s.id = m.scope_row_id
            WHERE m.sequence = ? AND c.user_id = ?
            """)
        self.db = db
        self.query = query
        searched = words
        self.filter = filter
        self.through = through
        // A caller may ask for everything. These limits are beyond that, and their sum does not overflow.
        offset = min(max(0, query.cursor?.offset ?? 0), .max / 4)
        limit = min(query.limit, .max / 4)
        snippets = SnippetMaker(words: words, stemmer: stemmer)
        (typed, typedSnippets) = (words, snippets)
    }

    /// The number of candidates still needed to fill the page and to find whether another page follows.
    var missing: Int { max(0, offset - count) + limit - hits.count + 1 }

    /// The page of hits.
    var page: Page<SearchHit, SearchCursor> { Page(elements: hits, next: next) }

    /// Changes the words of further candidates.
    /// - Parameter isAnyEnough: Whether a message may lack some of them.
    mutating func search(for words: ParsedQuery, _ stemmer: Stemmer, isAnyEnough: Bool = false) {
        searched = words
        snippets = SnippetMaker(words: words, stemmer: stemmer)
        self.isAnyEnough = isAnyEnough
    }

    /// Whether a message was added before.
    func hasSeen(_ sequence: SequenceNumber) -> Bool { added.contains(sequence) }

    /// Adds a candidate. Returns whether the page is complete: it is full, and a further hit was found.
    mutating func add(_ sequence: SequenceNumber, score: Double) throws -> Bool {
        try row.bind(sequence, at: 1)
        try row.bind(query.userId, at: 2)
        defer { row.reset() }
        guard try row.step(), try filter.matches(row, columnsFrom: 10) else { return false }
        let echo = MessageEcho(row, column: 9, textColumn: 3)
        if !isAnyEnough, late.count < Self.maxLate, echo.isLate(in: searched) {
            late.append(sequence)
            return false
        }
        added.insert(sequence)
        if query.sessionId == nil {
            if try isShown(sequence, as: .copies(of: row.value(7))) { return false }
            if try echo.isShortQuestion && isShown(sequence, as: .question(ByteString(row.text(3)))) { return false }
        }
        if try isShown(sequence, as: .shared(id: ByteString(row.text(0)), in: row.value(8))) { return false }
        count += 1
        if count <= offset { return false }
        if hits.count == limit {
            next = SearchCursor(offset: count - 1, through: ChangeCursor(sequence: through.rawValue))
            return true
        }
        let isCorrected = isAnyEnough && searched.units.contains { $0.correction != nil }
        let (passage, typedUnits) = MessageText.withBytes(of: row, textColumn: 3, partsColumn: 4) { text in
            (snippets.passage(of: text), isCorrected ? typedSnippets.passage(of: text).units : [])
        }
        let typedWords = typedUnits.map { typed.units[$0].text }
        var (missing, corrected): ([String], [String: String]) = ([], [:])
        for (index, unit) in searched.units.enumerated() {
            if passage.units.contains(index) {
                corrected[unit.text] = unit.correction
            } else if isAnyEnough, !typedWords.contains(unit.text) {
                missing.append(unit.text)
            }
        }
        hits.append(
            SearchHit(
                session: SessionKey(userId: query.userId, sessionId: row.text(5)), agentId: row.text(6),
                messageId: row.text(0), role: Role(rawValue: row.text(1)),
                timestamp: Date(millisecondsSince1970: row.integer(2)),
                snippet: passage.snippet, score: score, missingWords: missing, correctedWords: corrected))
        return false
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
