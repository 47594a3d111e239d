import Foundation

/// A full-text search in a user's messages.
///
/// ```swift
/// let query = SearchQuery(userId: "ana", text: "ferry timetable", roles: [.assistant], limit: 10)
/// for hit in try await history.search(query).elements {
///     print(hit.session.sessionId, hit.snippet.marked())  // trip The «ferry» «timetable» …
/// }
/// ```
///
/// Any text is a valid query, also a whole question. Messages with all words come first: with the words in full, then
/// with other forms of English words (`running` and `ran` for `run`) or beginnings of words, except for words of a
/// single letter. In a query of several words, a word in more than 500 of the user's messages is no beginning; in one
/// of more than six words, only the last word may be, and not before a question mark. Messages with only some of the
/// words follow (``SearchHit/missingWords``): those with more and rarer words first. If no message has all words, their
/// neighbors in the session are found, too. Articles, pronouns and other function words of seven languages count only
/// in short queries, and among messages with some of the words only if there are no others. Messages of an author named
/// in the query come before others: by the `name` in their metadata, or by how the user and the assistant address each
/// other.
///
/// In a query of at most four words besides function words, a misspelled word is corrected to one of the user's own
/// messages that differs by one letter (``SearchHit/correctedWords``), after messages with the word as typed.
///
/// A date or a time in the query counts as found in messages of that time, also without its words: "yesterday", "last
/// week", "on Monday", "3 days ago", "in May", "May 3rd, 2026", in English, German, French, Spanish and Chinese. After
/// messages with all words, those of that time with all other words come first. Among messages with some of the words,
/// those of that time come before others, and recent ones a little.
///
/// Messages that quote the history come after others: replies of an agent that used `HistoryTools` or quotes messages.
/// The calls and results of these tools are not searched. For a query with a question mark, other short questions come
/// after their answers. A short question asked several times in the same words is found once, unless ``sessionId`` is set
/// or the order is by date: otherwise a topic asked about often would be found in questions alone.
///
/// A part of an identifier matches (`socket` finds `WebSocketTask`). Accents and case are ignored. Chinese and Japanese
/// text matches by any adjacent characters. Words joined only by punctuation of identifiers and paths (`save_messages`)
/// must be adjacent and in order.
///
/// | In the query | A message |
/// |---|---|
/// | `"a phrase"` | must have these words, adjacent and in order |
/// | `+word` | must have the word |
/// | `-word`, `-"a phrase"` | must not have it |
/// | `session:trip` | is in this session: its ID, or the beginning of its ID if no other begins so |
/// | `agent:travel` | is in this agent's scope |
/// | `role:user` | has this role; several are alternatives |
/// | `after:2026-05-03` | is of this day or later; also a month, a year, or a time (ISO 8601) |
/// | `before:2026-05-03` | is from before this day |
///
/// The signs count after white space or at the beginning, but not before one or two Latin letters, or one with a number:
/// `rm -rf` and `make -j16` are words to find. Of a phrase, or of text without spaces, the first 256 words or pairs of
/// characters count.
///
/// The fields add to the filters of the query. Days begin at midnight in the current time zone. Quotation marks allow a
/// space in a value (`session:"my trip"`). A field with an unknown value is text to find, as in `agent:none` without such
/// an agent.
public struct SearchQuery: Hashable, Sendable {
    /// The owner of the searched messages.
    public var userId: String
    /// The text of the query.
    public var text: String
    /// Only this session.
    public var sessionId: String?
    /// Only this agent.
    public var agentId: String?
    /// Only these roles; empty means all.
    public var roles: [Role]
    /// Only messages created on or after this date.
    public var from: Date?
    /// Only messages created before this date.
    public var until: Date?
    /// The order of the hits.
    public var order: SearchOrder
    /// The maximum number of hits in each session, at least 1: the first ones in the order. With 1, the hits are a list of
    /// sessions. `nil` means any number.
    public var maxHitsPerSession: Int?
    /// The maximum number of hits on a page, at least 1.
    public var limit: Int {
        didSet { limit = max(1, limit) }
    }
    /// The cursor from the previous page; `nil` for the first page.
    public var cursor: SearchCursor?

    /// Creates a query.
    public init(
        userId: String, text: String, sessionId: String? = nil, agentId: String? = nil, roles: [Role] = [],
        from: Date? = nil, until: Date? = nil, order: SearchOrder = .relevance, maxHitsPerSession: Int? = nil,
        limit: Int = 20, cursor: SearchCursor? = nil
    ) {
        self.userId = userId
        self.text = text
        self.sessionId = sessionId
        self.agentId = agentId
        self.roles = roles
        self.from = from
        self.until = until
        self.order = order
        self.maxHitsPerSession = maxHitsPerSession
        self.limit = max(1, limit)
        self.cursor = cursor
    }
}

/// The order of the hits of a search.
///
/// By date, only messages with all words are hits, in full or with other forms or beginnings of them. If there are none,
/// they are the messages with the corrected words, otherwise all messages with some of the words. Quotations and repeated
/// questions are at their dates. Messages of one date are in the order of saving.
public enum SearchOrder: Hashable, Sendable, CaseIterable {
    /// The best matches first.
    case relevance
    /// The latest date first.
    case newestFirst
    /// The earliest date first.
    case oldestFirst
}

/// A message found by a search.
public struct SearchHit: Hashable, Sendable {
    /// The session of the message.
    public var session: SessionKey
    /// The agent of the message's scope.
    public var agentId: String
    /// The message's ID.
    public var messageId: String
    /// The author's role.
    public var role: Role
    /// The date of the message.
    public var timestamp: Date
    /// The matching passage of the message.
    public var snippet: Snippet
    /// The quality of the match. Larger is better; scores are only comparable within one search. In an order by date, the
    /// date in milliseconds since 1970.
    public var score: Double
    /// The words and phrases of the query in the message, as typed.
    public var matchedWords: [String]
    /// The words and phrases of the query that the message lacks, as typed; empty if it has all. A time named in the query
    /// is among them for a message of another time. Articles, pronouns and other function words are not reported.
    public var missingWords: [String]
    /// The misspelled words of the query, as typed, each with the word of the message that was found instead.
    public var correctedWords: [String: String]

    /// Creates a hit.
    public init(
        session: SessionKey, agentId: String, messageId: String, role: Role, timestamp: Date, snippet: Snippet,
        score: Double, matchedWords: [String] = [], missingWords: [String] = [], correctedWords: [String: String] = [:]
    ) {
        self.session = session
        self.agentId = agentId
        self.messageId = messageId
        self.role = role
        self.timestamp = timestamp
        self.snippet = snippet
        self.score = score
        self.matchedWords = matchedWords
        self.missingWords = missingWords
        self.correctedWords = correctedWords
    }
}

/// A passage of a message with marked matches.
public struct Snippet: Hashable, Sendable {
    /// A run of the snippet's text.
    public struct Run: Hashable, Sendable {
        /// The text.
        public var text: String
        /// Whether the text matches a word of the query.
        public var isMatch: Bool

        /// Creates a run.
        public init(text: String, isMatch: Bool) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    /// The runs in order.
    public var runs: [Run]

    /// Creates a snippet.
    public init(runs: [Run]) {
        self.runs = runs
    }

    /// The snippet's text without marks.
    public var text: String {
        runs.map(\.text).joined()
    }

    /// Returns the snippet's text with every match between two marks.
    public func marked(open: String = "«", close: String = "»") -> String {
        runs.map { $0.isMatch ? open + $0.text + close : $0.text }.joined()
    }
}

/// The position of the next page of a search: its last hit before the page. The page is complete even if that hit was
/// deleted since.
public struct SearchCursor: Hashable, Sendable, Codable {
    /// The score of the hit.
    public let score: Double
    /// The hit's position in the history, for the order of hits with equal scores.
    public let position: ChangeCursor
    /// The end of the history at the beginning of the search, so that later messages do not shift pages; `nil` for
    /// the whole history.
    public let through: ChangeCursor?

    /// Creates a cursor.
    public init(score: Double, position: ChangeCursor, through: ChangeCursor? = nil) {
        self.score = score
        self.position = position
        self.through = through
    }
}
