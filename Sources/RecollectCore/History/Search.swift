import Foundation

/// What to look for in a user's messages.
///
/// Any text is a valid query. All its words must be in a message; the last letters of a word may be missing, but for a word
/// of a single letter; a part of an identifier finds it (`socket` finds `WebSocketTask`); accents and case do not matter, and
/// Chinese and Japanese are found by any characters that stand together. Words between quotation marks, or joined by nothing
/// but the marks of identifiers and paths (`save_messages`), must follow one another.
public struct SearchQuery: Hashable, Sendable {
    /// The user whose messages are searched.
    public var userId: String
    /// What was typed.
    public var text: String
    /// Only this session.
    public var sessionId: String?
    /// Only this agent.
    public var agentId: String?
    /// Only these roles; empty means all.
    public var roles: [Role]
    /// Only messages made at this moment or later.
    public var from: Date?
    /// Only messages made before this moment.
    public var until: Date?
    /// The most hits on a page, at least 1.
    public var limit: Int {
        didSet { limit = max(1, limit) }
    }
    /// Where to go on, from the page before.
    public var cursor: SearchCursor?

    /// Makes a query.
    public init(
        userId: String, text: String, sessionId: String? = nil, agentId: String? = nil, roles: [Role] = [],
        from: Date? = nil, until: Date? = nil, limit: Int = 20, cursor: SearchCursor? = nil
    ) {
        self.userId = userId
        self.text = text
        self.sessionId = sessionId
        self.agentId = agentId
        self.roles = roles
        self.from = from
        self.until = until
        self.limit = max(1, limit)
        self.cursor = cursor
    }
}

/// A message that a search found.
public struct SearchHit: Hashable, Sendable {
    /// The conversation that holds it.
    public var conversation: ConversationID
    /// The agent whose scope holds it.
    public var agentId: String
    /// The message's id.
    public var messageId: String
    /// Who spoke.
    public var role: Role
    /// When it was said.
    public var timestamp: Date
    /// The place in the message where the words are.
    public var snippet: Snippet
    /// How well it fits: larger is better; only comparable within one search.
    public var score: Double

    /// Makes a hit.
    public init(
        conversation: ConversationID, agentId: String, messageId: String, role: Role, timestamp: Date, snippet: Snippet,
        score: Double
    ) {
        self.conversation = conversation
        self.agentId = agentId
        self.messageId = messageId
        self.role = role
        self.timestamp = timestamp
        self.snippet = snippet
        self.score = score
    }
}

/// A piece of a message with the words that were found marked in it.
public struct Snippet: Hashable, Sendable {
    /// A run of the snippet's text.
    public struct Run: Hashable, Sendable {
        /// The text.
        public var text: String
        /// Whether it is one of the words that were looked for.
        public var isMatch: Bool

        /// Makes a run.
        public init(text: String, isMatch: Bool) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    /// The snippet in order.
    public var runs: [Run]

    /// Makes a snippet.
    public init(runs: [Run]) {
        self.runs = runs
    }

    /// The snippet without marks.
    public var text: String {
        runs.map(\.text).joined()
    }

    /// The snippet with every match between two marks.
    public func marked(open: String = "«", close: String = "»") -> String {
        runs.map { $0.isMatch ? open + $0.text + close : $0.text }.joined()
    }
}

/// Where the next page of a search goes on.
public struct SearchCursor: Hashable, Sendable, Codable {
    /// How many hits came before.
    public let offset: Int
    /// How far the history went when the search began, so that what is said meanwhile shifts no page; `nil` for all of it.
    public let through: ChangeCursor?

    /// Makes a cursor.
    public init(offset: Int, through: ChangeCursor? = nil) {
        self.offset = offset
        self.through = through
    }
}
