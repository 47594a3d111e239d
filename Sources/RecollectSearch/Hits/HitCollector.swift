import Foundation
import RecollectCore

/// Collects the hits of a page from candidates in order.
struct HitCollector {
    let query: SearchQuery
    private var filter: SearchFilter
    let through: SequenceNumber
    private(set) var hits: [SearchHit] = []
    private var snippets: SnippetMaker
    /// The words of the snippets.
    private var searched: ParsedQuery
    /// Whether a message may lack some of the words.
    private var isAnyEnough = false
    /// A time named in the query. It counts as a word.
    private var time: (name: String, timestamps: ClosedRange<Int64>)?
    /// The words as typed, for messages without the corrected ones.
    private let typed: ParsedQuery
    private let typedSnippets: SnippetMaker
    /// The last hit of the page.
    private var last: (score: Double, sequence: SequenceNumber)?
    /// The cursor of the next page, once a further hit is found.
    private var next: SearchCursor?
    /// Messages with all words that come after those with some, and their maximum number. Each one is read for every
    /// page.
    private static let maxLate = 2000
    private(set) var late: [SequenceNumber] = []
    /// The number of hits so far, with those of earlier pages.
    private(set) var count = 0
    private let limit: Int
    /// The number of hits so far in each session.
    private var sessionCounts: [SessionRowID: Int] = [:]
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

    private let source: any SearchSource

    init(
        _ query: SearchQuery, _ words: ParsedQuery, _ stemmer: Stemmer, in source: any SearchSource,
        _ filter: SearchFilter, through: SequenceNumber
    ) {
        self.source = source
        self.query = query
        searched = words
        self.filter = filter
        self.through = through
        // A caller may ask for everything. This limit is beyond that, and a sum with it does not overflow.
        limit = min(query.limit, .max / 4)
        snippets = SnippetMaker(words: words, stemmer: stemmer)
        (typed, typedSnippets) = (words, snippets)
    }

    /// The number of candidates still needed to fill the page and to find whether another page follows.
    var missing: Int { limit - hits.count + 1 }

    /// The page of hits.
    var page: Page<SearchHit, SearchCursor> { Page(elements: hits, next: next) }

    /// Changes the words of further candidates, and their filter.
    /// - Parameters:
    ///   - isAnyEnough: Whether a message may lack some of the words.
    ///   - time: A time named beside the words.
    mutating func search(
        for words: ParsedQuery, _ stemmer: Stemmer, _ filter: SearchFilter, isAnyEnough: Bool = false,
        time: (name: String, timestamps: ClosedRange<Int64>)? = nil
    ) {
        searched = words
        self.time = time
        self.filter = filter
        snippets = SnippetMaker(words: words, stemmer: stemmer)
        self.isAnyEnough = isAnyEnough
    }

    /// Whether a message was added before.
    func hasSeen(_ sequence: SequenceNumber) -> Bool { added.contains(sequence) }

    /// Adds a candidate. Returns whether the page is complete: it is full, and a further hit was found.
    mutating func add(_ sequence: SequenceNumber, score: Double) throws -> Bool {
        guard let message = try source.message(sequence, passing: filter) else { return false }
        let echo = message.echo
        let isRanked = query.order == .relevance
        if isRanked, !isAnyEnough, late.count < Self.maxLate, echo.isLate(in: searched) {
            late.append(sequence)
            return false
        }
        added.insert(sequence)
        if query.sessionId == nil {
            if try isShown(sequence, as: .copies(of: message.original)) { return false }
            if isRanked, let question = echo.shortQuestion,
                try isShown(sequence, as: .question(ByteString(question)))
            {
                return false
            }
        }
        let session = message.session
        if try isShown(sequence, as: .shared(id: ByteString(message.messageId), in: session)) { return false }
        if let most = query.maxHitsPerSession {
            guard sessionCounts[session, default: 0] < max(1, most) else { return false }
            sessionCounts[session, default: 0] += 1
        }
        count += 1
        guard follows(score, sequence) else { return false }
        if hits.count == limit {
            next = last.map {
                SearchCursor(
                    score: $0.score, position: ChangeCursor(sequence: $0.sequence.rawValue),
                    through: ChangeCursor(sequence: through.rawValue))
            }
            return true
        }
        last = (score, sequence)
        let isCorrected = isAnyEnough && searched.units.contains { $0.correction != nil }
        let passages = try source.withText(of: sequence) { text in
            (snippets.passage(of: text), isCorrected ? typedSnippets.passage(of: text).units : [])
        }
        guard let (passage, typedUnits) = passages else { return false }
        let typedWords = typedUnits.map { typed.units[$0].text }
        var (matched, missing, corrected): ([String], [String], [String: String]) = ([], [], [:])
        for (index, unit) in searched.units.enumerated() {
            if passage.units.contains(index) {
                matched.append(unit.text)
                corrected[unit.text] = unit.correction
            } else if isAnyEnough, !typedWords.contains(unit.text) {
                missing.append(unit.text)
            }
        }
        if let time, !time.timestamps.contains(message.timestamp) { missing.append(time.name) }
        hits.append(
            SearchHit(
                session: SessionKey(userId: query.userId, sessionId: message.sessionId), agentId: message.agentId,
                messageId: message.messageId, role: Role(rawValue: message.role.string),
                timestamp: Date(millisecondsSince1970: message.timestamp),
                snippet: passage.snippet, score: score, matchedWords: matched, missingWords: missing,
                correctedWords: corrected))
        return false
    }

    /// Whether a candidate is behind the cursor of the query.
    private func follows(_ score: Double, _ sequence: SequenceNumber) -> Bool {
        guard let cursor = query.cursor else { return true }
        let (own, other) = (sequence.rawValue, cursor.position.sequence)
        return query.order == .oldestFirst ? (score, own) > (cursor.score, other) : (score, own) < (cursor.score, other)
    }

    /// Whether a message with the same key, role and content was seen. Either one may have been edited since.
    private mutating func isShown(_ sequence: SequenceNumber, as likeness: Likeness) throws -> Bool {
        for other in seen[likeness, default: []] {
            if try source.haveSameContent(sequence, other) { return true }
        }
        seen[likeness, default: []].append(sequence)
        return false
    }
}
